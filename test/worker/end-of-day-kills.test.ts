import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'mocha';
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
import type { Registry } from '../../src/broker/definitions/registry.ts';
import { systemClock, toTimestamp } from '../../src/clock.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { writeEndOfDay } from '../../src/lending-format/command-format.ts';
import { changeOrganization } from '../../src/lending-format/stored-organization.ts';
import { silentLogger } from '../../src/logger.ts';
import {
  type TestCommand,
  commandRecord,
  commandTime,
  eventsOfType,
  openLendingLog,
  recordsOf,
  send,
  startWorker,
  untilDone,
} from '../support/lending/lending-log.ts';
import { type LendingStory, storyOf } from '../support/lending/lending-story.ts';
import { isClusterUnderTest, openCoordinationUnderTest, openLogOfProcesses } from '../support/backend-under-test.ts';
import { acceptingFuturePayments, richProduct } from '../support/lending/lending-script.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { dyingWorkerProgram } from '../support/processes/service-program.ts';
import { partOrWhole } from '../support/values/extent.ts';
import { type WorkerStep, withSteps } from '../support/stepping-log.ts';

/** Closed on these days alone. */
function closeOn(registry: Registry, ...dates: readonly string[]): Promise<void> {
  const holidays = dates.map((date, index) => ({ id: index + 1, name: 'Closed', date, isAnnuallyRecurring: false }));
  return changeOrganization(registry, () => ({ nonWorkingDays: [], holidays }), commandTime);
}

/**
 * A worker is lost at each commit of the end of a day, by kill -9 or by a successor that takes over while it is
 * suspended. Afterwards the log must have what one undisturbed worker writes: what falls due once, and each day closed
 * once. The calendar was changed before, so an installment of each loan moves, once.
 */
/** As in the program. */
const commandsPerCommitMaximum = 4;

const loanIds = ['L1', 'L2', 'L3', 'L4', 'L5'];

const rich = acceptingFuturePayments(richProduct('P', 'DYNAMIC_TERM_LOAN'));
const scheduleSettings = {
  ...(rich.payload?.['scheduleSettings'] as object),
  repaymentReschedulingMethod: 'NEXT_WORKING_DAY',
};
/** Its accounts are locked on their first day in arrears, and their installments move to working days. */
const product = {
  ...rich,
  payload: { ...rich.payload, scheduleSettings, internalControls: { lockSettings: { lockPeriodDays: 0 } } },
};

/**
 * Five loans of which an installment is due on 12 October, with that day and the one before it not closed yet. Two
 * repayments of that day wait on each, and the second of the last loan is of more than it owes.
 */
const beginning: readonly LogRecord[] = [
  commandRecord(product),
  ...loanIds.flatMap(activeLoan).map(commandRecord),
  ...[50, 60].flatMap((amount) => loanIds.map((id) => paymentAhead(id, amount))),
  paymentAhead('L5', 5_000),
  endOfDay('2025-10-10'),
];
const ending = endOfDay('2025-10-13');

function activeLoan(id: string): TestCommand[] {
  return [
    { type: 'CREATE_LOAN', id, payload: { productTypeKey: 'P', loanAmount: 1000 } },
    { type: 'CHANGE_STATE', id, payload: { action: 'APPROVE' } },
    { type: 'DISBURSE', id, payload: { valueDate: '2025-09-12' } },
  ];
}

function paymentAhead(id: string, amount: number): LogRecord {
  const payload = { amount, valueDate: '2025-10-12' };
  return commandRecord({ type: 'REPAY', id, payload, receivedAt: Date.UTC(2025, 9, 11) });
}

function endOfDay(businessDate: string): LogRecord {
  const { eid, occurredAt, fieldsText } = writeEndOfDay(0, businessDate, commandTime);
  const metadata = { eid, occurred_at: occurredAt, received_at: toTimestamp(commandTime), flow_id: eid };
  return { key: '0', value: Buffer.from(`{"metadata":${JSON.stringify(metadata)},${fieldsText}}`) };
}

describe('a worker that is lost at the end of a day', function () {
  this.timeout(120_000);
  const folders: string[] = [];
  let expected: LendingStory;
  let commits = 0;

  /** A log in which the loans are active and the end of the day waits. @returns the offset of its command */
  const begin = async (
    folder: string,
    open?: typeof openLogOfProcesses,
  ): Promise<{ log: EventLog; offset: number }> => {
    const log = await openLendingLog(folder, 1, open);
    const coordination = await openCoordinationUnderTest(folder, log);
    const worker = await startWorker(log, { coordination, nodeId: 'first', commandsPerCommitMaximum });
    await closeOn(worker.registry);
    await untilDone(log, (await send(log, beginning)) + beginning.length - 1);
    await closeOn(worker.registry, '2025-11-12');
    await worker.stop();
    await coordination.close();
    return { log, offset: await send(log, [ending]) };
  };
  const newFolder = async (): Promise<string> => {
    const folder = await temporaryFolder();
    folders.push(folder);
    return folder;
  };
  const closedDays = async (log: EventLog): Promise<string[]> =>
    (await eventsOfType(log, 'business_day_closed')).map(({ businessDate }) => businessDate);

  before(async () => {
    const { log, offset } = await begin(await newFolder());
    const counting = withSteps(log, (step) => void (commits += Number(step === 'committed')));
    const running = await startWorker(counting, { commandsPerCommitMaximum });
    await untilDone(log, offset);
    expected = await storyOf(log);
    expect(await closedDays(log)).to.deep.equal(['2025-10-10', '2025-10-11', '2025-10-12', '2025-10-13']);
    const types = (await eventsOfType(log, 'loan_transaction_posted')).map(({ transactionType }) => transactionType);
    expect(types.filter((type) => type === 'INTEREST_APPLIED')).to.have.length(loanIds.length);
    expect(types.filter((type) => type === 'INTEREST_LOCKED')).to.have.length(loanIds.length);
    expect(types.filter((type) => type === 'REPAYMENT')).to.have.length(2 * loanIds.length);
    const rejected = await eventsOfType(log, 'command_rejected');
    expect(rejected.map(({ loanAccountId, errors }) => [loanAccountId, errors[0]?.errorReason])).to.deep.equal([
      ['L5', 'EXCESS_REPAYMENT_ERROR'],
    ]);
    expect(types.filter((type) => type === 'DUE_DATE_CHANGED')).to.have.length(loanIds.length);
    await running.stop();
    await log.close();
  });

  after(async () => {
    await Promise.all(folders.map(removeFolder));
  });

  it('takes several commits for the accounts of one day', () => {
    expect(commits).to.be.greaterThan(5);
  });

  it('is replaced after each commit, and nothing is lost or repeated', async () => {
    // The embedded store tries each commit; the fence of a cluster is the same after all of them.
    const step = isClusterUnderTest() ? partOrWhole(3, 1) : 1;
    for (let last = 1; last < commits; last += step) {
      const { log, offset } = await begin(await newFolder());
      let [resume, reached] = [(): void => {}, (): void => {}];
      const stopped = new Promise<void>((resolve) => (resume = resolve));
      const paused = new Promise<void>((resolve) => (reached = resolve));
      let done = 0;
      const stalling = withSteps(log, async (step) => {
        done += Number(step === 'committed');
        if (step !== 'committed' || done !== last) return;
        reached();
        await stopped;
      });
      const coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
      const shared = { commandsPerCommitMaximum, coordination };
      const stalled = await startWorker(stalling, { ...shared, nodeId: 'stalled' });
      await paused;
      await coordination.renewLease('stalled', 0);
      const successor = await startWorker(log, { ...shared, nodeId: 'successor' });
      await untilDone(log, offset);
      resume();
      await eventually(() => stalled.worker.partitions.length === 0);
      expect(await storyOf(log), `after commit ${last} of ${commits}`).to.deep.equal(expected);
      await Promise.all([stalled.stop(), successor.stop()]);
      await coordination.close();
      await log.close();
    }
  });

  // The last day has only the calendar to follow: two commits move installments, and a third one closes it.
  const deaths: { step: WorkerStep; where: string; occurrenceOf: (commits: number) => number; closedBefore: number }[] =
    [
      { step: 'committed', where: 'between two commits of the accounts', occurrenceOf: () => 2, closedBefore: 1 },
      {
        step: 'committed',
        where: 'between two commits that move installments',
        occurrenceOf: (count) => count - 2,
        closedBefore: 3,
      },
      {
        step: 'appended',
        where: 'before the rest of the installments is moved',
        occurrenceOf: (count) => count - 1,
        closedBefore: 3,
      },
      { step: 'appended', where: 'before the last commit', occurrenceOf: (count) => count, closedBefore: 3 },
      {
        step: 'committed',
        where: 'before the last day is closed',
        occurrenceOf: (count) => count - 1,
        closedBefore: 3,
      },
    ];
  for (const { step, where, occurrenceOf, closedBefore } of deaths) {
    it(`by kill -9 ${where}, at "${step}", is replaced without losing or repeating anything`, async () => {
      const folder = await newFolder();
      const { log: prepared, offset } = await begin(folder, openLogOfProcesses);
      await prepared.close();
      const occurrence = String(occurrenceOf(commits));
      const dying = spawn(process.execPath, [dyingWorkerProgram, folder, 'dying', step, occurrence, '0'], {
        stdio: 'inherit',
      });
      const [, signal] = (await once(dying, 'exit')) as [number | null, string | null];
      expect(signal).to.equal('SIGKILL');

      const log = await openLendingLog(folder, 1, openLogOfProcesses);
      const coordination = await openCoordinationUnderTest(folder, log);
      // As when its lease has ended.
      await coordination.renewLease('dying', 0);
      // Its transaction stays open until the successor comes.
      const closed = await recordsOf(log, 'business_day_closed', 0, false);
      expect(closed, 'it died in the middle').to.have.length(closedBefore);
      const running = await startWorker(log, { commandsPerCommitMaximum, coordination });
      await untilDone(log, offset);
      expect(await storyOf(log)).to.deep.equal(expected);
      await running.stop();
      await coordination.close();
      await log.close();
    });
  }
});
