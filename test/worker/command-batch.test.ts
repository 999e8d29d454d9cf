import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'mocha';
import { type LogRecord, recordBytesMaximum } from '../../src/ports/event-log.ts';
import type { Registry } from '../../src/broker/definitions/registry.ts';
import { type CommandOutcome, checkpointKey } from '../../src/lending-format/checkpoint.ts';
import { accountRecordOf } from '../../src/lending-format/account-record-keys.ts';
import { idempotencyRecordKey, parseIdempotencyRecord } from '../../src/lending-format/idempotency-record.ts';
import { accountsTopic, deadLettersTopic, partitionOfAccount } from '../../src/lending-format/lending-topics.ts';
import { refusalCodes } from '../../src/lending/refusals.ts';
import { allTogglesOff } from '../../src/lending/toggle-names.ts';
import { silentLogger } from '../../src/logger.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { CommandBatch } from '../../src/worker/command-batch.ts';
import { accountBytesEstimate } from '../../src/worker/loan-draft.ts';
import { LoanStore } from '../../src/worker/loan-store.ts';
import { Decimal } from '../../src/lending/money.ts';
import { applyFee, disbursed, loanOf, when } from '../lending/loan-fixtures.ts';
import { type TestCommand, commandRecord, commandTime } from '../support/lending/lending-log.ts';
import { productPatch, richProduct } from '../support/lending/lending-script.ts';
import { overriding } from '../support/stepping-log.ts';
import { type WorkerParts, openWorkerParts } from './worker-parts.ts';

const idempotencyMilliseconds = 86_400_000;
const never = new AbortController().signal;

describe('a batch of commands', () => {
  let parts: WorkerParts;
  let registry: Registry;
  let accounts: AccountsCopy;
  let batch: CommandBatch;

  before(async () => {
    parts = await openWorkerParts();
    ({ registry, accounts } = parts);
  });

  beforeEach(async () => {
    batch = await newBatch(registry);
  });

  after(() => parts.close());

  async function newBatch(
    products: Registry,
    known: Partial<LoanStore> = {},
    partitionCount = 1,
  ): Promise<CommandBatch> {
    const store = overriding(await LoanStore.open(accounts, 0, never), known);
    const times = { idempotencyMilliseconds, retentionMilliseconds: 0 };
    const options = { partition: 0, partitionCount, store, logger: silentLogger, ...times };
    return new CommandBatch({ ...options, registry: products, now: commandTime });
  }

  /** @returns the outcome */
  function decide(command: TestCommand | Buffer | null, appendedAt = commandTime): CommandOutcome {
    const value = command === null || Buffer.isBuffer(command) ? command : commandRecord(command).value;
    batch.decide({ partition: 0, offset: batch.size, appendedAt, value }, allTogglesOff);
    return batch.checkpoint.outcomes.at(-1) ?? expect.fail();
  }

  function recordsOf(topic: string): readonly LogRecord[] {
    return batch.write().records.find((records) => records.topic === topic)?.records ?? [];
  }

  /** When the changelog says that a command was decided; null where its record is deleted. */
  function decidedAt(commandId: string): number | null {
    const record = recordsOf(accountsTopic).find(({ key }) => key === idempotencyRecordKey(commandId)) ?? expect.fail();
    return record.value === null ? null : parseIdempotencyRecord(record.value.toString()).decidedAt;
  }

  /**
   * What the records of the batch take: all values, the keys in the changelog, and the outcomes of the checkpoint
   * record. An account and its pages count as their estimate.
   */
  function recordBytes(): number {
    const outcomes = batch.checkpoint.outcomes.map((outcome) => Buffer.byteLength(JSON.stringify(outcome)));
    const records = batch.write().records.flatMap(({ topic, records: ofTopic }) =>
      ofTopic.map(({ key, value }) => {
        if (topic === accountsTopic && key === checkpointKey(0)) return 0;
        const account = key === null || topic !== accountsTopic ? undefined : accountRecordOf(key);
        if (account?.page !== undefined) return 0;
        if (account !== undefined && account.transactionKey === undefined) return accountBytesEstimate;
        return (value?.length ?? 0) + (topic === accountsTopic ? (key?.length ?? 0) : 0);
      }),
    );
    return [...outcomes, ...records].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** The command as a producer sends it whose flow id has that many characters. */
  function withFlowId(command: TestCommand, characters: number): Buffer {
    const text = String(commandRecord(command).value);
    return Buffer.from(text.replace(/"flow_id":"[^"]*"/, `"flow_id":"${'f'.repeat(characters)}"`));
  }

  const rich = richProduct('P', 'FIXED_TERM_LOAN');
  const open: TestCommand = { type: 'CREATE_LOAN', id: 'L1', payload: { productTypeKey: 'P', loanAmount: 1000 } };
  const change = (action: string): TestCommand => ({ type: 'CHANGE_STATE', id: 'L1', payload: { action } });

  it('counts the bytes of its records after each command', () => {
    const refused = { ...open, payload: { productTypeKey: 'none', loanAmount: 1000 }, commandId: randomUUID() };
    const steps: [string, TestCommand | Buffer | null][] = [
      ['a product', { ...rich, payload: { ...rich.payload, name: 'Häuser' } }],
      ['a new loan', open],
      ['a refused command', refused],
      ['the same again', refused],
      ['a command that cannot be read', Buffer.from('{"Öl":')],
      ['a command without a value', null],
    ];
    for (const [what, command] of steps) {
      decide(command);
      expect(batch.bytes, what).to.equal(recordBytes());
    }
    expect(batch.write().records.find(({ topic }) => topic === deadLettersTopic)?.records).to.have.length(2);
  });

  it('has the id of the loan or product, where it is known, as the key of a dead letter', async () => {
    const get = (): never => {
      throw new Error('The product cannot be read');
    };
    batch = await newBatch(overriding(registry, { get }));
    for (const command of [open, rich, Buffer.from('no command')]) decide(command);
    expect(recordsOf(deadLettersTopic).map(({ key }) => key)).to.deep.equal(['L1', 'P', null]);
    expect(batch.bytes).to.equal(recordBytes());
  });

  it('has the id of the loan or product as the key of a refusal', () => {
    for (const command of [open, { ...rich, payload: {} }]) expect(decide(command).outcome).to.equal('refused');
    expect(recordsOf('command_rejected').map(({ key }) => key)).to.deep.equal(['L1', 'P']);
  });

  it('keeps the first 500 characters of the reason of a dead letter', async () => {
    const get = (): never => {
      throw new Error('x'.repeat(500));
    };
    batch = await newBatch(overriding(registry, { get }));
    const begins = 'The command could not be decided: ';
    expect(decide(open).reason).to.equal(begins + 'x'.repeat(500 - begins.length));
  });

  it('has a dead letter instead of events that would not fit the log', () => {
    decide(rich);
    expect(decide(withFlowId(open, recordBytesMaximum)).reason).to.match(
      /^The command could not be decided: An event would have 8\d{6} bytes/,
    );
    expect(batch.write().state.loans.size).to.equal(0);
    expect(decide(open).outcome, 'the same command with less').to.equal('committed');
  });

  it('refuses a repayment that pays more fees than the log can keep in one record, and takes one that pays fewer', async () => {
    const cent = { expected: new Decimal('0.01'), paid: new Decimal(0) };
    const start = loanOf(when(disbursed(), applyFee('0.01', { installmentNumber: 1 })));
    const { installments } = start.position;
    const [charge = expect.fail(), row = expect.fail()] = [start.position.charges[0], installments[0]];
    const count = 24_000;
    const amount = { ...cent, expected: cent.expected.times(count) };
    const position = {
      ...start.position,
      installments: [{ ...row, fee: { ...row.fee, amount } }, ...installments.slice(1)],
      charges: Array.from({ length: count }, (_, index) => ({ ...charge, number: index + 1 })),
      chargeCount: count,
    };
    batch = await newBatch(registry, { loanOf: () => ({ ...start, position }) });
    const repay = (fees: number): TestCommand => ({ type: 'REPAY', id: 'L1', payload: { amount: fees / 100 } });
    const refused = decide(repay(count));
    expect(refused.outcome).to.equal('refused');
    expect(refused.errors).to.have.length(1);
    expect(refused.errors?.[0]).to.include({ errorReason: 'INVALID_PARAMETERS', errorSource: 'loanAccountId' });
    expect(refused.errors?.[0]?.errorMessage).to.match(
      /^The transaction would have \d+ bytes, more than the log accepts \(8388608\)\. Pay fewer fees at once\.$/,
    );
    expect(batch.write().state.loans.size).to.equal(0);
    expect(decide(repay(count / 2)).outcome).to.equal('committed');
    expect(batch.write().state.loans.get('L1')?.loan.position.charges).to.have.length(count / 2);
  });

  it('has a dead letter instead of a rejection that would not fit the log, also of a repeated command', () => {
    const first = decide(open);
    const repeated = { ...change('APPROVE'), commandId: first.commandId ?? '' };
    for (const command of [change('APPROVE'), repeated]) {
      decide(withFlowId(command, 0));
      const [rejection] = recordsOf('command_rejected').slice(-1);
      const charactersMaximum = recordBytesMaximum - 'L1'.length - (rejection?.value?.length ?? 0);
      const another = { ...command, commandId: command.commandId ?? randomUUID() };
      const { outcome } = decide(withFlowId(another, charactersMaximum));
      expect(outcome, 'one that fits').to.be.oneOf(['refused', 'repeated']);
      const before = recordsOf('command_rejected').length;
      const tooLong = { ...another, commandId: command.commandId ?? randomUUID() };
      const { reason } = decide(withFlowId(tooLong, charactersMaximum + 1));
      expect(reason).to.match(/^The command could not be decided: The rejection would have 8\d{6} bytes/);
      expect(recordsOf('command_rejected')).to.have.length(before);
    }
  });

  it('forgets the commands that its latest command is too late to repeat, unless it decides them again', async () => {
    const times: number[] = [];
    const [decidedAgain, old] = [randomUUID(), randomUUID()];
    batch = await newBatch(registry, {
      commandsDecidedUpTo: (time) => {
        times.push(time);
        return [decidedAgain, old];
      },
    });
    decide({ ...open, commandId: decidedAgain }, commandTime + 2);
    decide(open, commandTime + 1);
    expect([decidedAt(decidedAgain), decidedAt(old)]).to.deep.equal([commandTime + 2, null]);
    expect(new Set(times)).to.deep.equal(new Set([commandTime + 2 - idempotencyMilliseconds]));
  });

  it('dates a decision no earlier than its command', () => {
    const [early, late] = [randomUUID(), randomUUID()];
    decide({ ...open, commandId: early }, commandTime - 1);
    decide({ ...open, commandId: late }, commandTime + 1);
    expect([decidedAt(early), decidedAt(late)]).to.deep.equal([commandTime, commandTime + 1]);
  });

  it('decides a command again that comes when the first one with its id is forgotten', () => {
    const command = { ...open, commandId: randomUUID() };
    const first = decide(command);
    expect(first.outcome).to.equal('refused');
    expect(decide(command, commandTime + idempotencyMilliseconds - 1)).to.deep.equal({ ...first, outcome: 'repeated' });
    expect(decide(command, commandTime + idempotencyMilliseconds)).to.deep.equal(first);
  });

  it('opens a loan under one of its products, by id or by key, and changes the one that is named', () => {
    const keys = ['P', 'Q'].map((id) => ({ id, encodedKey: randomUUID().replaceAll('-', '') }));
    const product = (id: string, encodedKey = ''): TestCommand => {
      const command = richProduct(id, 'FIXED_TERM_LOAN');
      return { ...command, payload: { ...command.payload, encodedKey } };
    };
    for (const { id, encodedKey } of keys) decide(product(id, encodedKey));
    const errors = decide(product('R', keys[1]?.encodedKey)).errors?.map(({ errorSource }) => errorSource);
    expect(errors, 'the key of another product').to.deep.equal(['encodedKey']);
    for (const [index, productTypeKey] of keys.flatMap(({ id, encodedKey }) => [id, encodedKey]).entries()) {
      decide({ type: 'CREATE_LOAN', id: `L${index}`, payload: { productTypeKey, loanAmount: 1000 } });
    }
    expect([...batch.write().state.loans.values()].map((changed) => changed?.loan.product.id)).to.deep.equal([
      'P',
      'P',
      'Q',
      'Q',
    ]);
    decide({ type: 'PATCH_PRODUCT', id: 'Q', payload: productPatch({ name: 'first' }) });
    decide({ type: 'PATCH_PRODUCT', id: 'Q', payload: productPatch({ notes: 'second' }) });
    expect(batch.products.get('Q')?.product).to.include({ name: 'first', notes: 'second' });
    expect(batch.products.get('P')?.product).not.to.include({ name: 'first' });
    expect(decide({ type: 'PATCH_PRODUCT', id: 'R', payload: productPatch({ name: 'none' }) }).outcome).to.equal(
      'refused',
    );
  });

  it('reports a command with the id of another one as rejected, and the same one again as repeated only', () => {
    decide(rich);
    decide(open);
    const approval = { ...change('APPROVE'), commandId: randomUUID() };
    const first = decide(approval);
    expect(decide(approval)).to.deep.equal({ ...first, outcome: 'repeated' });
    expect(recordsOf('command_rejected')).to.deep.equal([]);
    expect(decide({ ...change('REJECT'), commandId: approval.commandId })).to.deep.equal({
      ...first,
      outcome: 'repeated',
    });
    const [rejected, ...others] = recordsOf('command_rejected');
    expect(others).to.deep.equal([]);
    expect(String(rejected?.value)).to.include('"errorSource":"commandId"');
  });

  it('recognises a command by the transaction that it posted, also with a wrong payload', () => {
    const disburse: TestCommand = { ...change(''), type: 'DISBURSE', payload: {}, commandId: randomUUID() };
    for (const command of [rich, open, change('APPROVE')]) decide(command);
    const first = decide(disburse);
    expect(first.transactionKey).to.match(/^[0-9a-f]{32}$/);
    expect(decide(disburse)).to.deep.equal({ ...first, outcome: 'repeated' });
    expect(decide({ ...disburse, payload: { valueDat: 'wrong' } })).to.deep.equal({ ...first, outcome: 'repeated' });
    expect(recordsOf('command_rejected')).to.have.length(1);
    expect(decide({ ...disburse, commandId: randomUUID(), payload: { valueDat: 'wrong' } }).outcome).to.equal(
      'refused',
    );
  });

  it('creates a product once, and refuses another one with its id', () => {
    const command = { ...rich, commandId: randomUUID() };
    const outcomes = [command, command, { ...rich, commandId: randomUUID() }].map((each) => decide(each).outcome);
    expect(outcomes).to.deep.equal(['committed', 'repeated', 'refused']);
  });

  it('knows the products of the registry', async () => {
    const command = { ...rich, commandId: randomUUID() };
    decide(command);
    const stored = batch.products.get('P');
    const get = <Value>(kind: string, name: string): Value | undefined =>
      kind === 'product' && name === 'P' ? (stored as Value) : undefined;
    batch = await newBatch(overriding(registry, { get }));
    const outcomes = [command, rich, open].map((each) => decide(each).outcome);
    expect(outcomes).to.deep.equal(['repeated', 'refused', 'committed']);
    decide({ type: 'PATCH_PRODUCT', id: 'P', payload: productPatch({ name: 'other' }) });
    expect(batch.products.get('P')?.product).to.include({ name: 'other' });
  });

  it('counts a loan once, however many of its commands changed it', () => {
    decide(rich);
    decide(open);
    for (const action of ['APPROVE', 'UNDO_APPROVE', 'REJECT', 'UNDO_REJECT', 'APPROVE']) {
      decide(change(action));
      expect(batch.bytes, action).to.equal(recordBytes());
    }
  });

  it('refuses a command that lies in another partition than its loan or product, and does not read the loan', async () => {
    const ids = (right: number): string[] =>
      Array.from({ length: 20 }, (_, number) => `L${number}`).filter((id) => partitionOfAccount(id, 2) === right);
    const [here = '', there = ''] = [0, 1].map((right) => ids(right)[0]);
    const loanOf = (id: string): null => {
      if (id === there) throw new Error('It may be of any age here.');
      return null;
    };
    batch = await newBatch(registry, { loanOf }, 2);
    for (const command of [change('APPROVE'), { ...rich, payload: {} }, open]) {
      const outcome = decide({ ...command, id: there });
      expect(outcome.errors).to.deep.equal([
        {
          errorCode: refusalCodes.INVALID_PARAMETERS,
          errorReason: 'INVALID_PARAMETERS',
          errorSource: 'metadata.partition',
          errorMessage: 'The command was put into partition 0, not into its own, 1.',
        },
      ]);
    }
    expect(recordsOf('command_rejected')).to.have.length(3);
    expect(batch.products.size).to.equal(0);
    expect(decide({ ...change('APPROVE'), id: here }).errors?.[0]?.errorReason).to.equal('INVALID_LOAN_ACCOUNT_ID');
  });

  it('gives an externalId to the first of two loans that name it, in one commit, until its transaction is adjusted', () => {
    const paid = (id: string): CommandOutcome => {
      const payload = { amount: 1, valueDate: '2025-10-02', externalId: 'bank-1' };
      return decide({ type: 'REPAY', id, payload });
    };
    const isTaken = ({ errors }: CommandOutcome): boolean => errors?.[0]?.errorReason === 'EXTERNAL_ID_ALREADY_EXISTS';
    decide(rich);
    for (const id of ['one', 'other']) {
      decide({ ...open, id, payload: { ...open.payload } });
      decide({ ...change('APPROVE'), id });
      decide({ type: 'DISBURSE', id, payload: { valueDate: '2025-10-01' } });
    }
    const first = paid('one');
    expect(first.outcome, JSON.stringify(first.errors)).to.equal('committed');
    expect([paid('one'), paid('other')].map(isTaken)).to.deep.equal([true, true]);
    decide({ type: 'ADJUST_TRANSACTION', id: 'one', payload: { transactionId: first.transactionKey } });
    expect(paid('other').outcome).to.equal('committed');
    expect(isTaken(paid('one'))).to.equal(true);
  });

  it('knows an externalId that is committed', async () => {
    batch = await newBatch(registry, { hasExternalId: (externalId) => externalId === 'committed' });
    decide(rich);
    decide(open);
    decide(change('APPROVE'));
    const disburse = (externalId: string): CommandOutcome =>
      decide({ type: 'DISBURSE', id: 'L1', payload: { valueDate: '2025-10-01', externalId } });
    expect(disburse('committed').errors?.map(({ errorSource }) => errorSource)).to.deep.equal(['externalId']);
    expect(disburse('new').outcome).to.equal('committed');
  });

  it('gives an encodedKey to the first of two products that choose it, in one commit', () => {
    const encodedKey = 'c'.repeat(32);
    const products = ['first', 'second'].map((id) => ({ ...rich, id, payload: { ...rich.payload, id, encodedKey } }));
    const [first, second] = products.map((command) => decide(command));
    expect(first?.outcome).to.equal('committed');
    expect(second?.errors?.map(({ errorSource }) => errorSource)).to.deep.equal(['encodedKey']);
  });
});
