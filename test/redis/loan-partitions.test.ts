import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import type { RedisCoordination } from '../../src/redis/coordination.ts';
import { PartitionSharing, loanPartitionsId, type LoopEnd } from '../../src/worker/partition-ownership.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { eventually } from '../support/eventually.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

const partitionCount = 4;

describe('loan partitions while Redis fails', () => {
  let redis: RedisServer;
  let harness: RedisHarness;
  let coordination: RedisCoordination;
  let sharing: PartitionSharing;

  before(async () => {
    redis = await startRedisServer('--appendonly', 'yes', '--appendfsync', 'always');
    harness = await openRedisHarness(redis.url);
    coordination = await harness.open();
    await coordination.renewLease('worker', 600_000);
    sharing = new PartitionSharing({
      coordination,
      nodeId: 'worker',
      partitionCount,
      clock: systemClock,
      logger: silentLogger,
      runPartition: async (_partition, signal, onOwned) => {
        onOwned();
        return new Promise<LoopEnd>((resolve) => signal.addEventListener('abort', () => resolve('stopped')));
      },
    });
    await sharing.start();
  });

  after(async () => {
    await sharing.stop();
    await harness.close();
    await redis.stop();
  });

  const sessions = async (): Promise<string[]> =>
    (await coordination.topology(loanPartitionsId)).sessions.map(({ streamId }) => streamId);

  it('are never held by a session that the worker has lost before Redis started again', async () => {
    const [lost] = await sessions();
    // Another process finds this one's lease expired, as after a pause, and the worker requests its partitions again.
    await harness.elapse(600_000);
    const other = await harness.open();
    await other.renewLease('other', 600_000);
    await eventually(async () => {
      await other.reapSessions(loanPartitionsId);
      return !(await sessions()).includes(lost ?? '');
    });
    await coordination.renewLease('worker', 600_000);
    await eventually(
      async () => (await sessions()).length === 1 && sharing.partitions.length === partitionCount,
      20_000,
    );

    await redis.kill();
    await redis.restart();
    await eventually(async () => {
      const found = await sessions().catch(() => []);
      return found.length > 0;
    });
    // Mostly long enough for this process to restore what it knows of sessions.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await eventually(async () => {
      const { partitions } = await coordination.topology(loanPartitionsId);
      const [own, ...others] = await sessions();
      const isOwner = partitions.length === partitionCount && partitions.every(({ streamId }) => streamId === own);
      return own !== undefined && others.length === 0 && isOwner && sharing.partitions.length === partitionCount;
    });
    expect(await sessions()).to.not.include(lost);
  }).timeout(60_000);
});
