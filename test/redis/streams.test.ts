import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { Coordination } from '../../src/ports/coordination.ts';
import { parseOffset } from '../../src/broker/cursors/cursor-text.ts';
import type { RedisCoordination } from '../../src/redis/coordination.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { overriding } from '../support/stepping-log.ts';
import { eventually } from '../support/eventually.ts';
import { startStreamServer, type StreamClient, type StreamServer } from '../support/http/stream-server.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

describe('open streams while Redis fails', () => {
  let redis: RedisServer;
  let harness: RedisHarness;
  let coordination: RedisCoordination;
  let server: StreamServer;

  before(async () => {
    redis = await startRedisServer('--appendonly', 'yes', '--appendfsync', 'always');
    harness = await openRedisHarness(redis.url);
    coordination = await harness.open();
    // The process of the streams renews its lease elsewhere.
    const leased = overriding<Coordination>(coordination, {
      openSession: async (id, session) => {
        await coordination.renewLease(session.nodeId, 60_000);
        return coordination.openSession(id, session);
      },
    });
    server = await startStreamServer(() => leased);
  });

  after(async () => {
    await server.stop();
    await harness.close();
    await redis.stop();
  });

  const commitAll = async (id: string, stream: StreamClient): Promise<void> => {
    const cursor = stream.batches.findLast(({ events }) => (events ?? []).length > 0)?.cursor;
    if (cursor === undefined) throw new Error('Nothing was delivered');
    const { event_type: eventType, partition, offset } = cursor;
    const position = { eventType, partition: Number(partition), offset: parseOffset(offset) };
    const result = await coordination.commit(id, stream.streamId, [position]);
    expect(result).to.deep.equal({ outcome: 'committed', advanced: [true] });
  };

  const faults: { title: string; fault: () => Promise<void> }[] = [
    {
      title: 'everything was deleted',
      fault: async () => {
        await harness.client.flushall();
      },
    },
    {
      title: 'Redis was killed and started again',
      fault: async () => {
        await redis.kill();
        await redis.restart();
      },
    },
  ];
  for (const { title, fault } of faults) {
    it(`continue after ${title}: nothing is missing, and the same stream commits`, async () => {
      const type = await server.defineEventType(1);
      const id = await server.subscribe([type]);
      const stream = await server.open(id, { query: '?batch_flush_timeout=1&max_uncommitted_events=100' });
      await server.publish(type, 0, [1, 2, 3]);
      await eventually(() => stream.numbers.includes(3));
      await commitAll(id, stream);
      await server.publish(type, 0, [4, 5]);
      await eventually(() => stream.numbers.includes(5));
      await fault();
      await server.publish(type, 0, [6, 7, 8]);
      await eventually(() => stream.numbers.includes(8), 10_000);
      await eventually(async () => (await coordination.topology(id).catch(() => undefined)) !== undefined);
      await commitAll(id, stream);
      expect([...new Set(stream.numbers)]).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
      const { sessions, partitions } = await coordination.topology(id);
      expect(sessions.map(({ streamId }) => streamId)).to.deep.equal([stream.streamId]);
      expect(partitions.map(({ streamId }) => streamId)).to.deep.equal([stream.streamId]);
      // Only what was delivered and not committed may be delivered twice.
      expect(stream.numbers.filter((number) => number <= 3)).to.deep.equal([1, 2, 3]);
    });
  }
});
