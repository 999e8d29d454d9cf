import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'mocha';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { systemClock } from '../../src/clock.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { silentLogger } from '../../src/logger.ts';
import {
  type Json,
  allEvents,
  commandRecord,
  openLendingLog,
  outcomesOf,
  send,
  startWorker,
  untilDone,
} from '../support/lending/lending-log.ts';
import { openCoordinationUnderTest, openLogOfProcesses } from '../support/backend-under-test.ts';
import { lifeOf, richProduct } from '../support/lending/lending-script.ts';
import { type LendingStory, storyOf } from '../support/lending/lending-story.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { dyingWorkerProgram } from '../support/processes/service-program.ts';
import { eventually } from '../support/eventually.ts';
import { SteppingRegistry, type WorkerStep, withSteps, workerSteps } from '../support/stepping-log.ts';

/**
 * A worker is lost at each step of its loop, by kill -9 or by a successor that takes over while it is suspended.
 * Afterwards the log must have what one undisturbed worker writes: the events of every command once, and nothing else.
 */
const commandsPerCommitMaximum = 4;

/** Two loans, with a command that is sent twice, one that is refused and one that cannot be read. */
function script(): LogRecord[] {
  const lives = (['FIXED_TERM_LOAN', 'DYNAMIC_TERM_LOAN'] as const).map((type) => [
    commandRecord(richProduct(type, type)),
    ...lifeOf(`loan-${type}`, type, type).map(commandRecord),
  ]);
  const [first = [], second = []] = lives;
  const excess = commandRecord({ type: 'REPAY', id: 'loan-FIXED_TERM_LOAN', payload: { amount: 1_000_000 } });
  const mixed = first.flatMap((record, index) => [record, ...second.slice(index, index + 1)]);
  return [
    ...mixed,
    ...second.slice(first.length),
    first.at(-3) as LogRecord,
    excess,
    { key: 'x', value: Buffer.from('no command') },
  ];
}

describe('a worker that is lost', function () {
  this.timeout(60_000);
  const records = script();
  let expected: LendingStory;
  const folders: string[] = [];

  const newFolder = async (): Promise<string> => {
    const folder = await temporaryFolder();
    folders.push(folder);
    return folder;
  };

  before(async () => {
    const log = await openLendingLog(await newFolder());
    const running = await startWorker(log, { commandsPerCommitMaximum });
    await untilDone(log, (await send(log, records)) + records.length - 1);
    expected = await storyOf(log);
    await running.stop();
    await log.close();
  });

  after(async () => {
    await Promise.all(folders.map(removeFolder));
  });

  it('produces every kind of outcome', () => {
    const kinds = expected.outcomes.map(({ outcome }) => outcome);
    expect(new Set(kinds)).to.deep.equal(new Set(['committed', 'repeated', 'refused', 'dead_letter']));
    expect(kinds).to.have.length(records.length);
    expect(expected.deadLetters).to.have.length(1);
    const identities = expected.events.map((event) => (event['metadata'] as Json)['eid']);
    expect(new Set(identities).size).to.equal(identities.length);
    for (const loan of ['loan-FIXED_TERM_LOAN', 'loan-DYNAMIC_TERM_LOAN']) {
      const sequences = expected.events
        .filter((event) => event['loanAccountId'] === loan && event['sequence'] !== undefined)
        .map((event) => event['sequence'] as number)
        .sort((a, b) => a - b);
      expect(sequences).to.deep.equal(sequences.map((_, index) => index + 1));
    }
  });

  const deaths: { step: WorkerStep; occurrence: number; delayMilliseconds: number }[] = [
    { step: 'fetched', occurrence: 1, delayMilliseconds: 0 },
    { step: 'deciding', occurrence: 31, delayMilliseconds: 0 },
    { step: 'appending', occurrence: 2, delayMilliseconds: 0 },
    { step: 'appended', occurrence: 1, delayMilliseconds: 0 },
    { step: 'commit sent', occurrence: 2, delayMilliseconds: 0 },
    { step: 'commit sent', occurrence: 3, delayMilliseconds: 1 },
    { step: 'commit sent', occurrence: 4, delayMilliseconds: 50 },
    { step: 'committed', occurrence: 4, delayMilliseconds: 0 },
  ];
  for (const { step, occurrence, delayMilliseconds } of deaths) {
    const later = delayMilliseconds === 0 ? '' : `, ${delayMilliseconds} ms later`;
    it(`by kill -9 at "${step}", time ${occurrence}${later}, is replaced without losing or repeating anything`, async () => {
      const folder = await newFolder();
      let log = await openLendingLog(folder, 1, openLogOfProcesses);
      const first = await send(log, records);
      await log.close();

      const dying = spawn(
        process.execPath,
        [dyingWorkerProgram, folder, 'dying', step, String(occurrence), String(delayMilliseconds)],
        { stdio: 'inherit' },
      );
      const [, signal] = (await once(dying, 'exit')) as [number | null, string | null];
      expect(signal).to.equal('SIGKILL');

      log = await openLendingLog(folder, 1, openLogOfProcesses);
      // Its transaction stays open until the successor comes.
      const done = (await outcomesOf(log, 0, false)).length;
      expect(done, 'it died in the middle').to.be.lessThan(records.length);
      const coordination = await openCoordinationUnderTest(folder, log);
      // As when its lease has ended.
      await coordination.renewLease('dying', 0);
      const running = await startWorker(log, { commandsPerCommitMaximum, coordination });
      await untilDone(log, first + records.length - 1);
      expect(await storyOf(log)).to.deep.equal(expected);
      await running.stop();
      await coordination.close();
      await log.close();
    });
  }

  for (const step of workerSteps.filter((step) => step !== 'deciding')) {
    it(`to a successor at "${step}" stops automatically, and nothing is lost or repeated`, async () => {
      const log = await openLendingLog(await newFolder());
      const first = await send(log, records);
      let resume = (): void => {};
      const stopped = new Promise<void>((resolve) => (resume = resolve));
      let reached = (): void => {};
      const paused = new Promise<void>((resolve) => (reached = resolve));
      let times = 0;
      const stalling = withSteps(log, async (passed) => {
        if (passed !== step) return;
        times += 1;
        if (times !== (step === 'fetched' ? 1 : 2)) return;
        reached();
        await stopped;
      });
      const coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
      const shared = { commandsPerCommitMaximum, coordination };
      const stalled = await startWorker(stalling, { ...shared, nodeId: 'stalled' });
      await paused;
      await coordination.renewLease('stalled', 0);
      const successor = await startWorker(log, { ...shared, nodeId: 'successor' });
      expect(successor.worker.partitions).to.deep.equal([0]);
      await untilDone(log, first + records.length - 1);
      resume();
      await eventually(() => stalled.worker.partitions.length === 0);
      expect(await storyOf(log)).to.deep.equal(expected);

      // The successor is not affected.
      const next = await send(log, [
        commandRecord({ type: 'CHANGE_STATE', id: 'nobody', payload: { action: 'APPROVE' } }),
      ]);
      await untilDone(log, next);
      await Promise.all([stalled.stop(), successor.stop()]);
      await coordination.close();
      await log.close();
    });
  }

  it('to a successor in the middle of a thousand events of a loan leaves no gap in their numbers', async () => {
    const type = 'FIXED_TERM_LOAN';
    const log = await openLendingLog(await newFolder());
    const penalties = Array.from({ length: 500 }, () =>
      commandRecord({ type: 'APPLY_PENALTY', id: 'L1', payload: { amount: 0.01, valueDate: '2025-10-21' } }),
    );
    const sent = [richProduct(type, type), ...lifeOf('L1', type, type)].map(commandRecord).concat(penalties);
    for (let start = 0; start < sent.length; start += 500) await send(log, sent.slice(start, start + 500));
    let [decisions, resume, reached] = [0, (): void => {}, (): void => {}];
    const stopped = new Promise<void>((resolve) => (resume = resolve));
    const paused = new Promise<void>((resolve) => (reached = resolve));
    const stalling = withSteps(log, async (passed) => {
      if (passed !== 'commit sent') return;
      decisions += 1;
      if (decisions !== 4) return;
      reached();
      await stopped;
    });
    const coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
    const shared = { commandsPerCommitMaximum: 100, coordination };
    const stalled = await startWorker(stalling, { ...shared, nodeId: 'stalled' });
    await paused;
    await coordination.renewLease('stalled', 0);
    const successor = await startWorker(log, { ...shared, nodeId: 'successor' });
    await untilDone(log, sent.length - 1);
    resume();
    await eventually(() => stalled.worker.partitions.length === 0);
    const counts = (await allEvents(log)).map(({ sequence }) => Number(sequence)).sort((a, b) => a - b);
    expect(counts.length).to.be.greaterThan(1_000);
    expect(counts).to.deep.equal(counts.map((_, index) => index + 1));
    await Promise.all([stalled.stop(), successor.stop()]);
    await coordination.close();
    await log.close();
  });

  it('notifies a watching registry when it decides', async () => {
    const log = await openLendingLog(await newFolder());
    const registry = new SteppingRegistry(log, silentLogger);
    await registry.start();
    let decisions = 0;
    registry.onStep = () => void (decisions += 1);
    const running = await startWorker(log, { registry });
    await untilDone(log, await send(log, records.slice(0, 1)));
    expect(decisions).to.be.greaterThan(0);
    await running.stop();
    await registry.stop();
    await log.close();
  });
});
