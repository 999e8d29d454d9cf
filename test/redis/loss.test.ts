import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { CommittedOffset, Coordination, Topology } from '../../src/ports/coordination.ts';
import { partitionKey } from '../../src/ports/event-type-partition.ts';
import { readMirror } from '../../src/broker/log/cursors-topic.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { rebalance } from '../../src/broker/subscriptions/rebalance.ts';
import type { RedisCoordination } from '../../src/redis/coordination.ts';
import { KeySpace, shardOf } from '../../src/redis/keys.ts';
import { eventually, soonEnough } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { overriding } from '../support/stepping-log.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

const eventType = 'loss.loans';
const leaseMilliseconds = 60_000;

function at(partition: number, offset: number): CommittedOffset {
  return { eventType, partition, offset };
}

async function failure(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a Redis that loses its data', () => {
  let server: RedisServer;
  let harness: RedisHarness;
  let first: RedisCoordination;
  let second: RedisCoordination;
  let subscription: string;

  beforeEach(async () => {
    server = await startRedisServer('--appendonly', 'yes', '--appendfsync', 'always');
    harness = await openRedisHarness(server.url);
    first = await harness.open();
    second = await harness.open();
    await first.renewLease('first', leaseMilliseconds);
    await second.renewLease('second', leaseMilliseconds);
    subscription = randomUUID();
  });

  afterEach(async () => {
    await harness.close();
    await server.stop();
  });

  const join = async (coordination: Coordination, nodeId: string): Promise<string> => {
    const streamId = randomUUID();
    const session = {
      streamId,
      nodeId,
      requestedPartitions: [],
      openedAt: Date.now(),
      commitTimeoutMilliseconds: 60_000,
    };
    expect(await coordination.openSession(subscription, session)).to.deep.equal({ outcome: 'opened' });
    return streamId;
  };

  const applyRebalance = async (coordination: Coordination): Promise<Topology> => {
    const { generation, sessions, partitions } = await coordination.topology(subscription);
    await coordination.applyOwnership(subscription, generation, rebalance(sessions, partitions));
    return coordination.topology(subscription);
  };

  const offsets = async (coordination: Coordination): Promise<number[]> =>
    (await coordination.committedOffsets(subscription)).map(({ offset }) => offset);

  const mirrored = async (): Promise<number[]> =>
    ((await readMirror(harness.log)).get(subscription) ?? [])
      .sort((left, right) => left.partition - right.partition)
      .map(({ offset }) => offset);

  /** A stream of each process, each owning one of two partitions. */
  const sharing = async (): Promise<{ own: string; other: string; before: Topology }> => {
    await first.initialise(subscription, [at(0, -1), at(1, -1)]);
    const own = await join(first, 'first');
    const other = await join(second, 'second');
    const before = await applyRebalance(first);
    expect(before.partitions.map(({ streamId }) => streamId)).to.have.members([own, other]);
    await second.topology(subscription);
    return { own, other, before };
  };

  const partitionOwnedBy = (topology: Topology, streamId: string): number =>
    topology.partitions.find((partition) => partition.streamId === streamId)?.partition ?? -1;

  it('has committed offsets in the mirror within a second, the newest and all', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    let offset = -1;
    await soonEnough(1_000, async () => {
      for (let count = 0; count < 50; count += 1) {
        await first.commit(subscription, own, [at(partition, (offset += 1))]);
      }
      const begun = performance.now();
      await eventually(async () => (await mirrored())[partition] === offset);
      return performance.now() - begun;
    });
    const keys = new KeySpace(harness.keyPrefix);
    const dirty = keys.key(subscription, 'dirty');
    await eventually(async () => Object.keys(await harness.client.hgetall(dirty)).length === 0);
  });

  it('is refilled after everything was deleted: offsets, sessions and owners are as before, under higher fences', async () => {
    const { own, other, before } = await sharing();
    await first.commit(subscription, own, [at(partitionOwnedBy(before, own), 7)]);
    await second.commit(subscription, other, [at(partitionOwnedBy(before, other), 9)]);
    const committed = await offsets(first);
    await harness.client.flushall();
    expect(await offsets(first)).to.deep.equal(committed);
    await eventually(async () => (await first.topology(subscription)).sessions.length === 2);
    const after = await first.topology(subscription);
    for (const [index, partition] of after.partitions.entries()) {
      expect(partition.streamId).to.equal(before.partitions[index]?.streamId);
      expect(partition.fence).to.be.greaterThan(before.partitions[index]?.fence ?? Infinity);
    }
    expect(after.generation).to.be.greaterThan(before.generation);
    expect(await first.reapSessions(subscription)).to.equal(0);
    expect(await second.commit(subscription, other, [at(partitionOwnedBy(before, other), 10)])).to.deep.equal({
      outcome: 'committed',
      advanced: [true],
    });
  });

  it('is refilled with what strict sessions were sent, also when it went back to an older state', async () => {
    await first.initialise(subscription, [at(0, 5)]);
    const streamId = randomUUID();
    const strict = {
      streamId,
      nodeId: 'first',
      requestedPartitions: [],
      openedAt: Date.now(),
      commitTimeoutMilliseconds: 60_000,
      sentOffsets: [],
    };
    await first.openSession(subscription, strict);
    await applyRebalance(first);
    const keys = new KeySpace(harness.keyPrefix);
    const sessions = keys.key(subscription, 'sessions');
    const older = await harness.client.hgetall(sessions);
    const losses = [
      () => harness.client.flushall(),
      async () => {
        await harness.client.hset(sessions, older);
        await harness.client.hdel(keys.key(subscription, 'shard'), 'incarnation');
      },
    ];
    for (const [index, lose] of losses.entries()) {
      const sent = 8 + 10 * index;
      expect(await first.recordSent(subscription, streamId, [at(0, sent)])).to.equal(true);
      await lose();
      await first.topology(subscription);
      expect(await second.commit(subscription, streamId, [at(0, sent + 1)])).to.deep.equal({
        outcome: 'not_sent',
        cursor: at(0, sent + 1),
      });
      expect(await second.commit(subscription, streamId, [at(0, sent)])).to.deep.equal({
        outcome: 'committed',
        advanced: [true],
      });
    }
  });

  it('forgets the commit rights of a stream that has ended: its commit is refused, and its events are delivered again', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    await first.commit(subscription, own, [at(partition, 5)]);
    await first.closeSession(subscription, own);
    await harness.client.flushall();
    await eventually(async () => (await failure(first.commit(subscription, own, [at(partition, 6)]))) === undefined);
    expect(await first.commit(subscription, own, [at(partition, 7)])).to.deep.equal({ outcome: 'session_not_found' });
    expect((await offsets(second))[partition]).to.equal(5);
  });

  it('notifies watchers of both processes', async () => {
    await sharing();
    const told: string[] = [];
    first.watch(subscription, (change) => told.push(`first ${change}`));
    second.watch(subscription, (change) => told.push(`second ${change}`));
    await harness.client.flushall();
    await first.topology(subscription);
    const expected = ['first topology', 'first offsets', 'second topology', 'second offsets'];
    await eventually(async () => expected.every((change) => told.includes(change)));
  });

  it('refuses no commit permanently while others may still restore their state', async () => {
    const { own, other, before } = await sharing();
    await harness.client.flushall();
    await first.committedOffsets(subscription);
    // The stream of the second process commits through the first one: either it is restored, or it has to retry.
    const deadline = performance.now() + 20_000;
    for (;;) {
      const cursors = [at(partitionOwnedBy(before, other), 3)];
      const result: unknown = await first.commit(subscription, other, cursors).catch((error: unknown) => error);
      if (result instanceof Error) {
        expect(result).to.have.property('code', 'COORDINATION_UNAVAILABLE');
        expect(performance.now()).to.be.below(deadline);
        continue;
      }
      expect(result).to.deep.include({ outcome: 'committed' });
      break;
    }
    expect(await first.commit(subscription, own, [at(partitionOwnedBy(before, own), 3)])).to.deep.include({
      outcome: 'committed',
    });
  });

  it('returns to the offsets of the mirror, and no further, when the process that accepted the commits is gone too', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    await first.commit(subscription, own, [at(partition, 20)]);
    await eventually(async () => (await mirrored())[partition] === 20);
    await first.close();
    await second.close();
    await harness.client.flushall();
    const third = await harness.open();
    expect((await offsets(third))[partition]).to.equal(20);
    const { partitions } = await third.topology(subscription);
    for (const [index, { fence }] of partitions.entries()) {
      expect(fence).to.be.greaterThan(before.partitions[index]?.fence ?? Infinity);
    }
  });

  it('gets back a commit that was on its way to the mirror', async () => {
    let isSlow = false;
    let isPaused = false;
    let goOn = (): void => {};
    const slow = overriding<EventLog>(harness.log, {
      append: async (appends) => {
        if (isSlow) {
          isPaused = true;
          await new Promise<void>((resolve) => (goOn = resolve));
        }
        return harness.log.append(appends);
      },
    });
    const third = await harness.open({ log: slow });
    await third.renewLease('third', leaseMilliseconds);
    await third.initialise(subscription, [at(0, -1)]);
    const own = await join(third, 'third');
    await applyRebalance(third);
    isSlow = true;
    await third.commit(subscription, own, [at(0, 9)]);
    await eventually(() => isPaused);
    await harness.client.flushall();
    expect(await offsets(third)).to.deep.equal([9]);
    expect(await mirrored()).to.deep.equal([-1]);
    isSlow = false;
    goOn();
    await eventually(async () => (await mirrored())[0] === 9);
  });

  it('keeps a reset, backwards too, and what was removed stays removed', async () => {
    await first.initialise(subscription, [at(0, 50), at(1, 50)]);
    await first.beginReset(subscription);
    await first.finishReset(subscription, [at(0, 3)]);
    const removed = randomUUID();
    await first.initialise(removed, [at(0, 1)]);
    await first.remove(removed);
    await harness.client.flushall();
    expect(await offsets(second)).to.deep.equal([3, 50]);
    expect(await first.committedOffsets(removed)).to.deep.equal([]);
  });

  it('does not get back a stream that missed a reset, and gets the others', async () => {
    const { own, other, before } = await sharing();
    const moved = partitionOwnedBy(before, own);
    await first.commit(subscription, own, [at(moved, 50)]);
    // The lease of the first process has ended, and it is paused: its session is closed without its knowledge.
    await second.closeSession(subscription, own);
    await second.beginReset(subscription);
    await second.finishReset(subscription, [at(moved, 3)]);
    const next = await join(second, 'second');
    await second.closeSession(subscription, other);
    await applyRebalance(second);
    await harness.client.flushall();
    await first.committedOffsets(subscription);
    await second.committedOffsets(subscription);
    await eventually(async () => (await first.topology(subscription)).sessions.length > 0);
    const { sessions, partitions } = await first.topology(subscription);
    expect(sessions.map(({ streamId }) => streamId)).to.deep.equal([next]);
    expect(partitions.map(({ streamId }) => streamId)).to.deep.equal([next, next]);
    expect((await offsets(first))[moved]).to.equal(3);
  });

  it('changes nothing with a reset during which streams could open, because its mark was lost', async () => {
    await first.initialise(subscription, [at(0, 50)]);
    await first.beginReset(subscription);
    await harness.client.flushall();
    await join(second, 'second');
    const refusal = await failure(first.finishReset(subscription, [at(0, 3)]));
    expect(refusal).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(await offsets(second)).to.deep.equal([50]);
  });

  it('does not restore what was removed after a starting process had read the mirror', async () => {
    const removed = randomUUID();
    await first.initialise(removed, [at(0, 7)]);
    let onRead = (): void => {};
    let goOn = (): void => {};
    const hasRead = new Promise<void>((resolve) => (onRead = resolve));
    const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
    const slow = overriding<EventLog>(harness.log, {
      read: async (from, options) => {
        const result = await harness.log.read(from, options);
        onRead();
        await mayGoOn;
        return result;
      },
    });
    const opening = harness.open({ log: slow });
    await hasRead;
    await first.remove(removed);
    goOn();
    const third = await opening;
    expect(await third.committedOffsets(removed)).to.deep.equal([]);
    // After it is created again, it starts at the given position.
    await third.initialise(removed, [at(0, 2)]);
    await first.close();
    await harness.open();
    expect(await third.committedOffsets(removed)).to.deep.equal([at(0, 2)]);
  });

  it('takes what an older state lacks from the mirror when a process starts on it', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    const keys = new KeySpace(harness.keyPrefix);
    const partitionField = partitionKey(at(partition, 0));
    const old = (await harness.client.hget(keys.key(subscription, 'offsets'), partitionField)) ?? '';
    await first.commit(subscription, own, [at(partition, 20)]);
    await first.close();
    await second.close();
    await harness.client.hset(keys.key(subscription, 'offsets'), partitionField, old);
    const third = await harness.open();
    expect((await offsets(third))[partition]).to.equal(20);
  });

  it('is detected by lower fences when nothing else shows it', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    const keys = new KeySpace(harness.keyPrefix);
    const names = ['offsets', 'owners'] as const;
    const stored = await Promise.all(names.map((kind) => harness.client.hgetall(keys.key(subscription, kind))));
    await first.commit(subscription, own, [at(partition, 20)]);
    await first.closeSession(subscription, own);
    await applyRebalance(second);
    const fences = (await second.topology(subscription)).partitions.map(({ fence }) => fence);
    for (const [index, kind] of names.entries()) {
      await harness.client.hset(keys.key(subscription, kind), stored[index] ?? {});
    }
    const { partitions } = await second.topology(subscription);
    for (const [index, { fence }] of partitions.entries()) expect(fence).to.be.at.least(fences[index] ?? Infinity);
    await eventually(async () => (await offsets(first))[partition] === 20);
  });

  it('is not suspected when a requested offset is older than a commit acknowledged in the meantime', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    const shard = new KeySpace(harness.keyPrefix).shardKey(shardOf(subscription), 'shard');
    const incarnation = await harness.client.hget(shard, 'incarnation');
    expect(incarnation).to.be.a('string');
    const commits = Array.from({ length: 4_000 }, (_, offset) => at(partition, offset)).values();
    const questions = Array.from({ length: 4_000 }).values();
    const commitOn = async (): Promise<void> => {
      for (const cursor of commits) await first.commit(subscription, own, [cursor]);
    };
    const askOn = async (): Promise<void> => {
      for (const _ of questions) await first.committedOffsets(subscription);
    };
    const lanes = Array.from({ length: 16 }, () => [commitOn(), askOn()]);
    await Promise.all(lanes.flat());
    expect(await harness.client.hget(shard, 'incarnation')).to.equal(incarnation);
  });

  it('is refilled once however many calls find it empty, and keeps what is written right after', async () => {
    await sharing();
    const others = Array.from({ length: 30 }, () => randomUUID());
    await Promise.all(others.map((id) => first.initialise(id, [at(0, 5)])));
    await harness.client.flushall();
    const found = await Promise.all(others.flatMap((id) => [first.committedOffsets(id), second.committedOffsets(id)]));
    expect(found.every((list) => list[0]?.offset === 5)).to.equal(true);
    const shards = new Set(others.map(shardOf));
    expect(shards.size).to.be.greaterThan(1);
  });

  it('lets another process mirror the commits of a dead one', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    const keys = new KeySpace(harness.keyPrefix);
    // The state of Redis after a commit whose process dies before it writes the mirror.
    const partitionField = partitionKey(at(partition, 0));
    const stored = (await harness.client.hget(keys.key(subscription, 'offsets'), partitionField)) ?? '';
    const encoded = stored.replace('-1@', '33@');
    await harness.client.hset(keys.key(subscription, 'offsets'), partitionField, encoded);
    await harness.client.hset(keys.key(subscription, 'dirty'), `${subscription}/${partitionField}`, encoded);
    await eventually(async () => (await mirrored())[partition] === 33);
  });

  it('fails calls immediately while it is unreachable, and resumes when it is back', async () => {
    const { own, other, before } = await sharing();
    await first.commit(subscription, own, [at(partitionOwnedBy(before, own), 7)]);
    await server.kill();
    const begun = performance.now();
    const refusals = await Promise.all(
      Array.from({ length: 20 }, () =>
        failure(first.commit(subscription, own, [at(partitionOwnedBy(before, own), 8)])),
      ),
    );
    for (const refusal of refusals) expect(refusal).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(performance.now() - begun).to.be.below(2_500);
    expect(await failure(second.topology(subscription))).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    await server.restart();
    await eventually(async () => (await failure(first.topology(subscription))) === undefined);
    const after = await first.topology(subscription);
    expect(after.sessions.map(({ streamId }) => streamId)).to.have.members([own, other]);
    expect((await offsets(first))[partitionOwnedBy(before, own)]).to.equal(7);
    await eventually(async () => (await failure(second.topology(subscription))) === undefined);
    expect(await second.commit(subscription, other, [at(partitionOwnedBy(before, other), 8)])).to.deep.include({
      outcome: 'committed',
    });
  });

  it('closes the session of a stream that ended while it was unreachable', async () => {
    const { own, other } = await sharing();
    await server.kill();
    expect(await failure(first.closeSession(subscription, own))).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    await server.restart();
    await eventually(async () => {
      const topology = await second.topology(subscription).catch(() => undefined);
      return topology?.sessions.length === 1 && topology.sessions[0]?.streamId === other;
    });
  });

  it('shows the progress of a subscription to lag tools', async () => {
    const { own, before } = await sharing();
    const partition = partitionOwnedBy(before, own);
    await first.commit(subscription, own, [at(partition, 5)]);
    const exported = async (): Promise<number | undefined> =>
      (await harness.log.groupOffsets(subscription)).find((each) => each.partition === partition)?.offset;
    await eventually(async () => (await exported()) === 6);
  });
});
