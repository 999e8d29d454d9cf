import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, it } from 'mocha';
import type { EventLog, LogRecord } from '../../../src/ports/event-log.ts';
import { systemClock, toTimestamp } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { isCheckpointKey, parseCheckpoint } from '../../../src/lending-format/checkpoint.ts';
import { writeEndOfDay } from '../../../src/lending-format/command-format.ts';
import { accountsTopic } from '../../../src/lending-format/lending-topics.ts';
import { endOfDayHoldMilliseconds } from '../../../src/worker/partition-loop.ts';
import {
  type Json,
  type TestCommand,
  type WorkerOptions,
  allEvents,
  commandRecord,
  deadLetters,
  decided,
  eventsOfType,
  outcomesOf,
  recordsOf,
  send,
  storedLoan,
  untilDone,
  workerForEachTest,
} from '../../support/lending/lending-log.ts';
import { richProduct } from '../../support/lending/lending-script.ts';
import { type WorkerStep, withSteps } from '../../support/stepping-log.ts';

/** The end of a day takes several commits, and commands that come meanwhile pass it. */

const product = richProduct('P', 'DYNAMIC_TERM_LOAN');
const ids = Array.from({ length: 9 }, (_, number) => `L${number}`);
const passing: WorkerOptions = { commandsPerCommitMaximum: 4, endOfDayHoldMilliseconds: 0 };

function endOfDay(businessDate: string): LogRecord {
  const receivedAt = Date.UTC(2026, 0, 31, 12);
  const { eid, occurredAt, fieldsText } = writeEndOfDay(0, businessDate, receivedAt);
  const metadata = { eid, occurred_at: occurredAt, received_at: toTimestamp(receivedAt), flow_id: eid };
  return { key: '0', value: Buffer.from(`{"metadata":${JSON.stringify(metadata)},${fieldsText}}`) };
}

function activeLoan(id: string, valueDate = '2025-09-12'): TestCommand[] {
  return [
    { type: 'CREATE_LOAN', id, payload: { productTypeKey: 'P', loanAmount: 1000 } },
    { type: 'CHANGE_STATE', id, payload: { action: 'APPROVE' } },
    { type: 'DISBURSE', id, payload: { valueDate } },
  ];
}

type Named = TestCommand & { readonly commandId: string };

function repay(id: string, amount: number): Named {
  return { type: 'REPAY', id, payload: { amount, valueDate: '2025-10-13' }, commandId: randomUUID() };
}

/** The ids of the commands that each commit decided. */
async function decidedByCommit(log: EventLog): Promise<(string | null)[][]> {
  return (await recordsOf(log, accountsTopic)).flatMap(({ key, text }) =>
    isCheckpointKey(key ?? '') ? [parseCheckpoint(text ?? '').outcomes.map(({ commandId }) => commandId)] : [],
  );
}

describe('commands during the end of a day', () => {
  const fixture = workerForEachTest();

  beforeEach(async () => {
    await decided(fixture.log, [product, ...ids.flatMap((id) => activeLoan(id))]);
    await fixture.stop();
  });

  /** The ids of the commands that were decided, in the order of the decisions. */
  const order = async (): Promise<unknown[]> => (await outcomesOf(fixture.log)).map(({ commandId }) => commandId);

  it('wait for it as long as it may hold them, and then pass it', async () => {
    const commands = [repay('L8', 10), repay('L0', 100_000), repay('L8', 20)];
    const commandIds = commands.map(({ commandId }) => commandId);

    await fixture.start({ ...passing, endOfDayHoldMilliseconds: Infinity });
    await decided(fixture.log, [endOfDay('2025-10-12'), ...commands]);
    expect((await order()).slice(-3)).to.deep.equal(commandIds);
    await fixture.stop();

    await fixture.start(passing);
    const later = [repay('L8', 30), repay('L0', 100_000), repay('L8', 40)];
    const laterIds = later.map(({ commandId }) => commandId);
    await decided(fixture.log, [endOfDay('2025-11-12'), ...later]);
    expect((await order()).slice(-4, -1)).to.deep.equal(laterIds);
    const outcomes = (await outcomesOf(fixture.log)).slice(-4).map(({ outcome }) => outcome);
    expect(outcomes).to.deep.equal(['committed', 'refused', 'committed', 'committed']);
    for (const id of ids) expect((await storedLoan(fixture.log, id))?.businessDate).to.equal('2025-11-13');
  });

  it('are read while it is under way, and not only those that were sent before', async () => {
    let sent: Named | undefined;
    const stepping = withSteps(fixture.log, async (step) => {
      if (step !== 'committed' || sent !== undefined) return;
      sent = repay('L8', 10);
      await send(fixture.log, [commandRecord(sent)]);
    });
    await fixture.start(passing, stepping);
    const day = await send(fixture.log, [endOfDay('2025-10-12')]);
    await untilDone(fixture.log, day + 1);
    expect((await order()).slice(-2)[0]).to.equal(sent?.commandId);
  });

  it('pass it in their order also where one changes products, in a commit without the day', async () => {
    await fixture.start(passing);
    const other = { ...richProduct('Q', 'DYNAMIC_TERM_LOAN'), commandId: randomUUID() };
    const ofProduct: Named = {
      type: 'CREATE_LOAN',
      id: 'M1',
      payload: { productTypeKey: 'Q', loanAmount: 1000 },
      commandId: randomUUID(),
    };
    const commands = [repay('L8', 10), other, ofProduct, repay('L8', 20)];
    const outcomes = await decided(fixture.log, [endOfDay('2025-10-12'), ...commands]);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(Array(5).fill('committed'));
    const commandIds = commands.map(({ commandId }) => commandId);
    expect(outcomes.slice(0, 4).map(({ commandId }) => commandId)).to.deep.equal(commandIds);
    const unpaid = ids.slice(0, 8);
    for (const id of unpaid) expect((await storedLoan(fixture.log, id))?.businessDate).to.equal('2025-10-13');
  });

  it('pass the ends of days that wait behind it, in the next commit', async () => {
    const [first, last] = [repay('L8', 10), repay('L8', 20)];
    const behind = [endOfDay('2025-10-12'), first, endOfDay('2025-11-12'), last];
    let commits = 0;
    const stepping = withSteps(fixture.log, async (step) => {
      if (step !== 'committed') return;
      commits += 1;
      if (commits === 2)
        await send(
          fixture.log,
          behind.map((command) => ('type' in command ? commandRecord(command) : command)),
        );
    });
    const commitsBefore = (await decidedByCommit(fixture.log)).length;
    await fixture.start(passing, stepping);
    const day = await send(fixture.log, [endOfDay('2025-10-12')]);
    await untilDone(fixture.log, day + behind.length);
    const decidedIds = (await decidedByCommit(fixture.log)).slice(commitsBefore);
    expect(decidedIds.slice(0, 3)).to.deep.equal([[], [], [first.commandId, last.commandId]]);
    expect(decidedIds.flat()).to.have.length(5);
    for (const id of ids) expect((await storedLoan(fixture.log, id))?.businessDate).to.equal('2025-11-13');
  });

  it('wait for half a second from the first of several ends of days on', async () => {
    let passed = 0;
    const begin = systemClock.monotonic();
    const clock = { ...systemClock, monotonic: () => begin + passed };
    const stepping = withSteps(fixture.log, (step) => {
      if (step === 'committed') passed += 100;
    });
    const commitsBefore = (await decidedByCommit(fixture.log)).length;
    // On the first of these days nothing is due.
    const ends = [endOfDay('2025-09-14'), endOfDay('2025-10-12')];
    const command = repay('L8', 10);
    const sent = await send(fixture.log, [...ends, commandRecord(command)]);
    await fixture.start({ ...passing, endOfDayHoldMilliseconds, clock }, stepping);
    await untilDone(fixture.log, sent + ends.length);
    const decidedIds = (await decidedByCommit(fixture.log)).slice(commitsBefore);
    expect(decidedIds.findIndex((commandIds) => commandIds.includes(command.commandId))).to.equal(5);
  });

  it('are done once, wherever the worker is interrupted', async () => {
    const interruptions: readonly (readonly [step: WorkerStep, time: number])[] = [
      ['appended', 2],
      ['commit sent', 1],
      ['commit sent', 3],
      ['committed', 2],
    ];
    for (const [index, [failingStep, failingTime]] of interruptions.entries()) {
      const day = 13 + index;
      const loans = ids.slice(0, 5).map((id) => `${id}-${day}`);
      await fixture.start();
      await decided(
        fixture.log,
        loans.flatMap((id) => activeLoan(id, `2025-09-${day}`)),
      );
      await fixture.stop();
      let times = 0;
      const unsteady = withSteps(fixture.log, (step) => {
        if (step !== failingStep) return;
        times += 1;
        if (times === failingTime) throw new LendstreamError('OUTCOME_UNKNOWN', 'The answer was lost.');
      });
      const commands = [repay('L8', 1), repay('L0', 100_000), repay('L3', 1), repay('L8', 2), repay('L1', 1)];
      const before = (await order()).length;
      const [one, two, ...others] = commands.map(commandRecord);
      const dayEnd = endOfDay(`2025-10-${day}`);
      const sent = [dayEnd, one, two, dayEnd, ...others].filter((record) => record !== undefined);
      const first = await send(fixture.log, sent);
      await fixture.start(passing, unsteady);
      await untilDone(fixture.log, first + sent.length - 1);
      await fixture.stop();
      const outcomes = (await outcomesOf(fixture.log)).slice(before);
      expect(times).to.be.at.least(failingTime);
      expect(outcomes.map(({ outcome }) => outcome === 'repeated')).to.deep.equal([...Array(6).fill(false), true]);
      const decidedIds = outcomes.map(({ commandId }) => commandId);
      expect(decidedIds).to.have.length(sent.length);
      expect(decidedIds.at(-1)).to.equal(decidedIds.at(-2));
      expect(decidedIds).to.include.members(commands.map(({ commandId }) => commandId));
    }
    const identities = (await allEvents(fixture.log)).map(({ metadata }) => (metadata as Json)['eid']);
    expect(new Set(identities).size).to.equal(identities.length);
    const rejected = await eventsOfType(fixture.log, 'command_rejected');
    expect(rejected).to.have.length(interruptions.length);
    expect(await deadLetters(fixture.log)).to.deep.equal([]);
  });
});
