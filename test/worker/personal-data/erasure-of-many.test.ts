import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import { EmbeddedCoordination } from '../../../src/embedded/coordination.ts';
import { accountsTopic } from '../../../src/lending-format/lending-topics.ts';
import { listErasures } from '../../../src/lending-format/personal-data/erasures.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog, LogRecord } from '../../../src/ports/event-log.ts';
import { openCoordinationUnderTest, openLogOfProcesses } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type RunningWorker,
  commandRecord,
  openLendingLog,
  outcomesOf,
  recordsOf,
  send,
  startWorker,
  untilDone,
} from '../../support/lending/lending-log.ts';
import { richProduct } from '../../support/lending/lending-script.ts';
import { type LendingStory, storyOf } from '../../support/lending/lending-story.ts';
import { dyingWorkerProgram } from '../../support/processes/service-program.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type WorkerStep, withSteps } from '../../support/stepping-log.ts';

/** As of the program that dies: an erasure of all these repayments takes several commits. */
const commandsPerCommitMaximum = 4;
const repayments = 15;

const secret = 'Zebedee';
const erase = commandRecord({
  type: 'ERASE_PERSONAL_DATA',
  id: 'loan',
  commandId: '8c5c1f0e-2d7b-4c0e-9d58-0d7d7d2f4c11',
});

/** A loan with notes on every transaction, its erasure, one more with a note, and the same erasure once more. */
function script(): LogRecord[] {
  const repay = (day: number, notes: string): LogRecord =>
    commandRecord({ type: 'REPAY', id: 'loan', payload: { amount: 1, valueDate: `2012-01-${day}`, notes } });
  const life = Array.from({ length: repayments }, (_, index) => repay(10 + index, secret));
  return [
    commandRecord(richProduct('product', 'FIXED_TERM_LOAN')),
    commandRecord({
      type: 'CREATE_LOAN',
      id: 'loan',
      payload: { productTypeKey: 'product', loanAmount: 1000, notes: secret },
    }),
    commandRecord({ type: 'CHANGE_STATE', id: 'loan', payload: { action: 'APPROVE' } }),
    commandRecord({ type: 'DISBURSE', id: 'loan', payload: { valueDate: '2012-01-02', notes: secret } }),
    ...life,
    erase,
    repay(28, 'kept'),
    erase,
    commandRecord({ type: 'ERASE_PERSONAL_DATA', id: 'nobody' }),
  ];
}

describe('the erasure of an account with many transactions', function () {
  this.timeout(60_000);
  const records = script();
  const folders: string[] = [];
  let expected: LendingStory;

  const newFolder = async (): Promise<string> => {
    const folder = await temporaryFolder();
    folders.push(folder);
    return folder;
  };

  /** The changelog as it is once it is compacted. */
  async function compacted(log: EventLog): Promise<string> {
    const last = new Map<string | null, string | null>();
    for (const { key, text } of await recordsOf(log, accountsTopic)) last.set(key, text);
    return [...last.values()].join('\n');
  }

  async function expectErased(log: EventLog, running: RunningWorker): Promise<void> {
    const story = await storyOf(log);
    expect(story.outcomes.map(({ outcome }) => outcome)).to.deep.equal([
      ...Array.from({ length: repayments + 6 }, () => 'committed'),
      'repeated',
      'refused',
    ]);
    const text = await compacted(log);
    expect(text).not.to.contain(secret);
    expect(text).to.contain('kept');
    const [erasure, ...others] = listErasures(running.registry);
    expect(others).to.deep.equal([]);
    expect(erasure).to.include({ loanAccountId: 'loan', commandOffset: repayments + 4 });
    if (expected !== undefined) expect(story).to.deep.equal(expected);
  }

  before(async () => {
    const log = await openLendingLog(await newFolder());
    let commits = 0;
    const counting = withSteps(log, (step) => {
      if (step === 'committed') commits += 1;
    });
    const running = await startWorker(counting, { commandsPerCommitMaximum });
    const first = await send(log, records);
    await untilDone(log, first + records.length - 1);
    await expectErased(log, running);
    expected = await storyOf(log);
    expect(commits).to.be.at.least(Math.ceil((records.length + repayments) / commandsPerCommitMaximum));
    await running.stop();
    await log.close();
  });

  after(() => Promise.all(folders.map(removeFolder)));

  it('takes several commits, lets nothing in between, and keeps what came after it', () => {
    expect(expected.events.filter((event) => 'personalDataErased' in event)).to.have.length(1);
  });

  const deaths: readonly (readonly [step: WorkerStep, occurrence: number])[] = [
    ['appending', 6],
    ['commit sent', 6],
    ['committed', 6],
    ['committed', 8],
  ];
  for (const [step, occurrence] of deaths) {
    it(`is completed by another worker after kill -9 at "${step}", time ${occurrence}`, async () => {
      const folder = await newFolder();
      let log = await openLendingLog(folder, 1, openLogOfProcesses);
      const first = await send(log, records);
      await log.close();
      const dying = spawn(process.execPath, [dyingWorkerProgram, folder, 'dying', step, String(occurrence), '0'], {
        stdio: 'inherit',
      });
      const [, signal] = (await once(dying, 'exit')) as [number | null, string | null];
      expect(signal).to.equal('SIGKILL');
      log = await openLendingLog(folder, 1, openLogOfProcesses);
      const done = (await outcomesOf(log, 0, false)).length;
      expect(done, 'before the end of the erasure').to.be.lessThan(repayments + 5);
      const coordination = await openCoordinationUnderTest(folder, log);
      await coordination.renewLease('dying', 0);
      const running = await startWorker(log, { commandsPerCommitMaximum, coordination });
      await untilDone(log, first + records.length - 1);
      await expectErased(log, running);
      await running.stop();
      await coordination.close();
      await log.close();
    });
  }

  for (const step of ['appended', 'commit sent', 'committed'] as const) {
    it(`is completed by a successor while its worker is held up at "${step}"`, async () => {
      const log = await openLendingLog(await newFolder());
      const first = await send(log, records);
      let resume = (): void => {};
      const stopped = new Promise<void>((resolve) => (resume = resolve));
      let reached = (): void => {};
      const paused = new Promise<void>((resolve) => (reached = resolve));
      let times = 0;
      const stalling = withSteps(log, async (passed) => {
        if (passed === step) times += 1;
        if (passed !== step || times !== 7) return;
        reached();
        await stopped;
      });
      const coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
      const shared = { commandsPerCommitMaximum, coordination };
      const stalled = await startWorker(stalling, { ...shared, nodeId: 'stalled' });
      await paused;
      await coordination.renewLease('stalled', 0);
      const successor = await startWorker(log, { ...shared, nodeId: 'successor' });
      await untilDone(log, first + records.length - 1);
      resume();
      await eventually(() => stalled.worker.partitions.length === 0);
      await expectErased(log, successor);
      await Promise.all([stalled.stop(), successor.stop()]);
      await coordination.close();
      await log.close();
    });
  }
});
