import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, it } from 'mocha';
import { registryTopic } from '../../src/broker/definitions/registry.ts';
import { LendstreamError } from '../../src/errors.ts';
import type { Logger } from '../../src/logger.ts';
import { commandOutcomes } from '../../src/lending-format/checkpoint.ts';
import { commandTypes } from '../../src/lending-format/command-format.ts';
import { loanCommandsTopic } from '../../src/lending-format/lending-topics.ts';
import { setToggle } from '../../src/lending-format/stored-toggles.ts';
import { knownProduct } from '../../src/lending-format/stored-products.ts';
import { writeAccount } from '../../src/lending-format/response-bodies.ts';
import {
  type Json,
  type TestCommand,
  allEvents,
  commandRecord,
  commandTime,
  deadLetters,
  decided,
  eventsOfType,
  storedLoan,
  outcomesOf,
  recordsOf,
  send,
  untilDone,
  workerForEachTest,
} from '../support/lending/lending-log.ts';
import { lifeOf, richProduct } from '../support/lending/lending-script.ts';
import { eventually } from '../support/eventually.ts';
import { overriding, withSteps } from '../support/stepping-log.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

const product = richProduct('P', 'FIXED_TERM_LOAN');

describe('the lending worker', () => {
  const fixture = workerForEachTest();

  const command = (type: TestCommand['type'], payload: Json, id = 'L1'): TestCommand => ({ type, id, payload });
  const activeLoan = [
    product,
    command('CREATE_LOAN', { productTypeKey: 'P', loanAmount: 1000 }),
    command('CHANGE_STATE', { action: 'APPROVE' }),
    command('DISBURSE', { valueDate: '2025-09-12' }),
  ];

  it('has a count of each type and outcome of commands from its start', async () => {
    const { values } = await fixture.running.metrics.commands.get();
    const expected = [...commandTypes, 'unknown'].flatMap((type) =>
      commandOutcomes.map((outcome) => ({ labels: { type, outcome }, value: 0 })),
    );
    expect(values).to.deep.equal(expected);
  });

  it('turns the commands of a loan into its state and its events', async () => {
    const life = lifeOf('L1', 'P', 'FIXED_TERM_LOAN');
    const outcomes = await decided(fixture.log, [product, ...life]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(outcomes.map(() => 'committed'));
    const sequences = (await allEvents(fixture.log)).map((event) => event['sequence'] as number).sort((a, b) => a - b);
    expect(sequences).to.deep.equal(sequences.map((_, index) => index + 1));
    const account = JSON.parse(writeAccount((await storedLoan(fixture.log, 'L1')) ?? expect.fail())) as Json;
    expect(account).to.include({ accountState: 'ACTIVE', loanAmount: 1000 });
    const transactions = await eventsOfType(fixture.log, 'loan_transaction_posted');
    expect(outcomes.map(({ transactionKey }) => transactionKey).filter((key) => key !== undefined)).to.deep.equal(
      transactions.map((event) => event.transactionEncodedKey),
    );
  });

  it('writes a product to the registry in the same commit, and opens loans under it by id or key', async () => {
    const [created] = await decided(fixture.log, [product]);
    expect(created).to.deep.include({ outcome: 'committed', loanProductId: 'P' });
    // The registry follows its topic separately.
    await fixture.running.registry.catchUp();
    const stored = knownProduct(fixture.running.registry, 'P');
    expect(stored?.taxSettings.taxRate.toFixed()).to.equal('19');
    const outcomes = await decided(fixture.log, [
      command('CREATE_LOAN', { productTypeKey: stored?.encodedKey, loanAmount: 1000 }),
      command('CREATE_LOAN', { productTypeKey: 'Q', loanAmount: 1000 }, 'L2'),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['committed', 'refused']);
  });

  it('opens a loan under a product that the same batch creates', async () => {
    const outcomes = await decided(fixture.log, activeLoan);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['committed', 'committed', 'committed', 'committed']);
  });

  it('opens a loan under a product of the previous commit', async () => {
    await fixture.restart({ commandsPerCommitMaximum: 1 });
    const outcomes = await decided(fixture.log, activeLoan);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['committed', 'committed', 'committed', 'committed']);
  });

  it('creates a product once, and refuses another one with its id', async () => {
    const sent = commandRecord(product);
    const outcomes = await decided(fixture.log, [sent, sent, richProduct('P', 'DYNAMIC_TERM_LOAN')]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['committed', 'repeated', 'refused']);
    expect(await recordsOf(fixture.log, registryTopic)).to.have.length(1);
    expect(knownProduct(fixture.running.registry, 'P')?.type).to.equal('FIXED_TERM_LOAN');
  });

  it('explains what to change in a product with inconsistent settings', async () => {
    const payload = { ...product.payload, allowCustomRepaymentAllocation: false };
    const [outcome] = await decided(fixture.log, [{ ...product, payload }]);
    expect(outcome?.errors?.map(({ errorReason, errorSource }) => [errorReason, errorSource])).to.deep.equal([
      ['CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT', 'feesSettings.fees[0]'],
    ]);
    expect(outcome?.errors?.[0]?.errorMessage).to.contain('allowCustomRepaymentAllocation');
    const [event] = await eventsOfType(fixture.log, 'command_rejected');
    expect(event).to.deep.include({ loanProductId: 'P', errors: outcome?.errors });
  });

  it('publishes a refusal with its reasons and leaves the loan unchanged', async () => {
    await decided(fixture.log, activeLoan);
    const before = JSON.parse(writeAccount((await storedLoan(fixture.log, 'L1')) ?? expect.fail())) as Json;
    const errors = [{ errorCode: 110, errorReason: 'EXCESS_REPAYMENT_ERROR', errorSource: 'amount' }];
    const excess = { ...command('REPAY', { amount: 100_000 }), commandId: randomUUID() };
    const [outcome] = await decided(fixture.log, [excess]);
    const digest = outcome?.digest;
    expect(digest).to.match(/^[\w-]{22}$/);
    const { commandId } = excess;
    expect(outcome).to.deep.equal({ commandId, digest, loanAccountId: 'L1', outcome: 'refused', errors });
    const [event] = await eventsOfType(fixture.log, 'command_rejected');
    expect(event).to.deep.include({ errors, loanAccountId: 'L1', causationCommandId: excess.commandId });
    expect(JSON.parse(writeAccount((await storedLoan(fixture.log, 'L1')) ?? expect.fail()))).to.deep.equal(before);
  });

  it('refuses an invalid payload in the same way, naming the fields', async () => {
    const [outcome] = await decided(fixture.log, [command('REPAY', { amount: 'twelve', valueDat: '2026-01-12' })]);
    expect(outcome?.outcome).to.equal('refused');
    expect(outcome?.errors?.map(({ errorReason, errorSource }) => [errorReason, errorSource])).to.deep.equal([
      ['INVALID_PARAMETERS', 'amount'],
      ['INVALID_PARAMETERS', 'valueDat'],
    ]);
  });

  it('does a repeated command once and returns the first outcome, also after a restart', async () => {
    const repay = commandRecord(command('REPAY', { amount: 100 }));
    const excess = commandRecord(command('REPAY', { amount: 100_000 }));
    const first = await decided(fixture.log, [...activeLoan, repay, excess]);
    const events = await allEvents(fixture.log);
    const again = await decided(fixture.log, [repay, excess]);
    await fixture.restart();
    const restarted = await decided(fixture.log, [repay, excess]);
    for (const repeated of [again, restarted]) {
      expect(repeated).to.deep.equal(first.slice(-2).map((outcome) => ({ ...outcome, outcome: 'repeated' })));
    }
    expect(await allEvents(fixture.log)).to.deep.equal(events);
  });

  it('sends unreadable commands to the dead letters and continues', async () => {
    const garbage = [Buffer.from('hello'), Buffer.from([0xff, 0xfe]), Buffer.from('{"type":"REPAY"}')];
    const outcomes = await decided(fixture.log, [...garbage.map((value) => ({ key: 'x', value })), product]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal([
      'dead_letter',
      'dead_letter',
      'dead_letter',
      'committed',
    ]);
    const letters = await deadLetters(fixture.log);
    expect(letters.map(({ value }) => Buffer.from(String(value), 'base64'))).to.deep.equal(garbage);
    expect(letters.map(({ offset }) => offset)).to.deep.equal([0, 1, 2]);
    expect(letters.every(({ reason }) => typeof reason === 'string' && reason !== '')).to.equal(true);
    // Commands are counted just after their commit.
    const dead = async (): Promise<unknown[]> =>
      (await fixture.running.metrics.commands.get()).values
        .filter(({ labels, value }) => labels.outcome === 'dead_letter' && value > 0)
        .map(({ labels, value }) => [labels.type, value]);
    await eventually(async () => isDeepStrictEqual(await dead(), [['unknown', 3]]));
  });

  it('sends a command that cannot be decided to the dead letters and continues', async () => {
    await decided(fixture.log, [product]);
    await fixture.stop();
    // A product as no version of this program writes it: every decision on it throws.
    const [stored] = await recordsOf(fixture.log, registryTopic);
    const broken = (stored?.text ?? '').replace('"interestSettings":{', '"interestSettings":null,"was":{');
    await fixture.log.append([
      { topic: registryTopic, partition: 0, records: [{ key: 'product/P', value: Buffer.from(broken) }] },
    ]);
    await fixture.start();
    const outcomes = await decided(fixture.log, [
      command('CREATE_LOAN', { productTypeKey: 'P', loanAmount: 1000 }),
      command('CHANGE_STATE', { action: 'APPROVE' }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['dead_letter', 'refused']);
    const [letter] = await deadLetters(fixture.log);
    expect(letter?.['commandId']).to.equal(outcomes[0]?.commandId);
  });

  it('decides under the current toggles and leaves published events unchanged', async () => {
    await decided(fixture.log, activeLoan);
    const before = await eventsOfType(fixture.log, 'loan_balance_changed');
    await setToggle(fixture.running.registry, 'ALLOW_NON_SCHEDULED_FEES', true, commandTime);
    await decided(fixture.log, [command('REPAY', { amount: 10 })]);
    const after = await eventsOfType(fixture.log, 'loan_balance_changed');
    expect(after.slice(0, before.length)).to.deep.equal(before);
    expect(after.slice(before.length).map(({ balances }) => 'scheduledFeesDue' in balances)).to.deep.equal([true]);
    expect(before.every(({ balances }) => 'feesDue' in balances)).to.equal(true);
  });

  it('resumes after the last command done, with more commands than fit into one commit', async () => {
    await fixture.stop();
    const life = lifeOf('L1', 'P', 'FIXED_TERM_LOAN').map(commandRecord);
    const first = await send(fixture.log, [commandRecord(product), ...life.slice(0, 5)]);
    await fixture.start({ commandsPerCommitMaximum: 2 });
    await untilDone(fixture.log, first + 5);
    await fixture.stop();
    const rest = await send(fixture.log, life.slice(5));
    await fixture.start({ commandsPerCommitMaximum: 2 });
    await untilDone(fixture.log, rest + life.length - 6);
    const outcomes = await outcomesOf(fixture.log);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(['committed', ...life.map(() => 'committed')]);
  });

  it('restarts from the log when a commit fails, and loses and repeats nothing', async () => {
    await fixture.stop();
    let failures = 4;
    const unsteady = withSteps(fixture.log, (step) => {
      const fails = step === 'appended' || step === 'commit sent';
      if (!fails || failures === 0) return;
      failures -= 1;
      throw new LendstreamError('OUTCOME_UNKNOWN', 'The answer was lost.');
    });
    await fixture.start({ commandsPerCommitMaximum: 3 }, unsteady);
    const life = lifeOf('L1', 'P', 'FIXED_TERM_LOAN');
    const outcomes = await decided(fixture.log, [product, ...life]);
    expect(failures).to.equal(0);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(outcomes.map(() => 'committed'));
    const events = await allEvents(fixture.log);
    expect(new Set(events.map((event) => (event['metadata'] as Json)['eid'])).size).to.equal(events.length);
    const sequences = events.map((event) => event['sequence'] as number).sort((a, b) => a - b);
    expect(sequences).to.deep.equal(sequences.map((_, index) => index + 1));
  });

  it('continues with the first remaining command when undecided ones were deleted, and logs it', async () => {
    await decided(fixture.log, [product]);
    await fixture.stop();
    const messages: string[] = [];
    const logger: Logger = checkedLogger({ error: (_, message) => void messages.push(message) });
    await send(fixture.log, activeLoan.slice(1, 3).map(commandRecord));
    const bounds: typeof fixture.log.bounds = async (partitions) =>
      (await fixture.log.bounds(partitions)).map((found) =>
        found.topic === loanCommandsTopic ? { ...found, earliest: found.latest - 1 } : found,
      );
    await fixture.start({ logger }, overriding(fixture.log, { bounds }));
    await untilDone(fixture.log, 2);
    // The account was never opened: the approval is the remaining command.
    expect((await outcomesOf(fixture.log)).map(({ outcome }) => outcome)).to.deep.equal(['committed', 'refused']);
    expect(messages.filter((message) => message.includes('are lost'))).to.have.length(1);
  });

  it('reports the pending commands of its partitions, also while none can be decided', async () => {
    const lag = async (): Promise<unknown> => {
      await fixture.running.worker.measure();
      return (await fixture.running.metrics.workerLag.get()).values.map(({ labels, value }) => [
        labels.partition,
        value,
      ]);
    };
    await decided(fixture.log, activeLoan);
    await eventually(async () => isDeepStrictEqual(await lag(), [[0, 0]]));
    await fixture.stop();
    expect(await lag()).to.deep.equal([]);

    let healthy = false;
    const unsteady = withSteps(fixture.log, (step) => {
      if (step === 'appending' && !healthy) throw new LendstreamError('LOG_UNAVAILABLE', 'No transaction now.');
    });
    await fixture.start({}, unsteady);
    const waiting = activeLoan.slice(0, 3).map(commandRecord);
    for (const sent of [1, 2, 3]) {
      await send(fixture.log, waiting.slice(sent - 1, sent));
      // A worker that finds a store without its predecessor's session waits for it to come back before it begins.
      await eventually(async () => isDeepStrictEqual(await lag(), [[0, sent]]), 15_000);
    }
    healthy = true;
    await eventually(async () => isDeepStrictEqual(await lag(), [[0, 0]]));
  });
});
