import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { systemClock } from '../../src/clock.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import {
  type Json,
  type RunningWorker,
  type WorkerOptions,
  allEvents,
  commandRecord,
  idInPartition,
  openLendingLog,
  outcomesOf,
  send,
  startWorker,
  untilDone,
} from '../support/lending/lending-log.ts';
import { lifeOf, richProduct } from '../support/lending/lending-script.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';
import { eventually, soonEnough } from '../support/eventually.ts';

const partitionCount = 3;
const partitions = [0, 1, 2];
/** How many commands of each partition are sent at a time. */
const portion = 4;

/** Every worker here is one process of several: one log, one coordination, and its own node id. */
describe('lending workers together', function () {
  this.timeout(60_000);

  it('do every command once, in order, while workers join, leave, die and resume', async () => {
    const folder = await temporaryFolder();
    const log = await openLendingLog(folder, partitionCount);
    const coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
    const registry = new Registry(log, silentLogger);
    await registry.start();
    const common: WorkerOptions = { coordination, registry, partitionCount, commandsPerCommitMaximum: 2 };
    const running: RunningWorker[] = [];
    const start = async (nodeId: string, options: WorkerOptions = {}): Promise<RunningWorker> => {
      const worker = await startWorker(log, { ...common, nodeId, ...options });
      running.push(worker);
      return worker;
    };
    // The second one does not reach the coordination for a while and continues as if nothing had happened.
    let isCutOff = false;
    const cuttable = overriding(coordination, {
      reapSessions: async (id: string) => {
        if (isCutOff) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Out of reach.');
        return coordination.reapSessions(id);
      },
    });
    const changes: (() => Promise<unknown>)[] = [
      () => start('first'),
      () => start('second', { coordination: cuttable }),
      () => start('third'),
      () => start('fourth'),
      async () => {
        isCutOff = true;
        await coordination.renewLease('second', 0);
      },
      async () => running[0]?.stop(),
      async () => {
        isCutOff = false;
        await coordination.renewLease('second', 3_600_000);
      },
      async () => running[2]?.stop(),
    ];

    const product = richProduct(idInPartition(0, partitionCount, 'product'), 'FIXED_TERM_LOAN');
    const lives = partitions.map((partition) =>
      lifeOf(idInPartition(partition, partitionCount, 'loan'), product.id, 'FIXED_TERM_LOAN').map(commandRecord),
    );
    await send(log, [commandRecord(product)]);
    const last = [0, -1, -1];
    for (let round = 0; lives.some((life) => life.length > 0) || round < changes.length; round += 1) {
      await changes[round]?.();
      if (round === 0) await untilDone(log, 0);
      for (const partition of partitions) {
        const records = lives[partition]?.splice(0, portion) ?? [];
        if (records.length === 0) continue;
        last[partition] = (await send(log, records, partition)) + records.length - 1;
      }
      // One partition is awaited, so that the changes happen during the work on the others.
      const waited = round % partitionCount;
      if ((last[waited] ?? -1) >= 0) await untilDone(log, last[waited] ?? -1, waited);
    }
    for (const partition of partitions) await untilDone(log, last[partition] ?? -1, partition);

    for (const partition of partitions) {
      const outcomes = await outcomesOf(log, partition);
      expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(outcomes.map(() => 'committed'));
      expect(outcomes).to.have.length((last[partition] ?? -1) + 1);
      const events = await allEvents(log, partition);
      const identities = events.map((event) => (event['metadata'] as Json)['eid']);
      expect(new Set(identities).size).to.equal(identities.length);
      const sequences = events.map((event) => event['sequence'] as number).sort((left, right) => left - right);
      expect(sequences).to.deep.equal(sequences.map((_, index) => index + 1));
    }
    const held = (): number[] => running.flatMap(({ worker }) => worker.partitions);
    await eventually(() => held().length === partitionCount && new Set(held()).size === partitionCount);

    await Promise.all(running.map((worker) => worker.stop()));
    expect(held()).to.deep.equal([]);
    await registry.stop();
    await coordination.close();
    await log.close();
    await removeFolder(folder);
  });

  it('hand a partition over immediately when one of them stops', async () => {
    // By the notification, not by checking every few seconds.
    await soonEnough(1_000, async () => {
      const folder = await temporaryFolder();
      const log = await openLendingLog(folder);
      const coordination = await EmbeddedCoordination.open({ log, clock: systemClock, logger: silentLogger });
      const leaving = await startWorker(log, { coordination, nodeId: 'leaving' });
      const waiting = await startWorker(log, { coordination, nodeId: 'waiting' });
      expect(waiting.worker.partitions).to.deep.equal([]);
      const startedAt = performance.now();
      await leaving.worker.stop();
      await untilDone(log, await send(log, [commandRecord(richProduct('P', 'FIXED_TERM_LOAN'))]));
      const took = performance.now() - startedAt;
      expect(waiting.worker.partitions).to.deep.equal([0]);
      await Promise.all([leaving.stop(), waiting.stop()]);
      await coordination.close();
      await log.close();
      await removeFolder(folder);
      return took;
    });
  });
});
