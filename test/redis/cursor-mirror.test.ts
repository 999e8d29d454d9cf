import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { createCursorsTopic, readMirror } from '../../src/broker/log/cursors-topic.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { RedisConnection } from '../../src/redis/connection.ts';
import { KeySpace, shardCount, shardOf } from '../../src/redis/keys.ts';
import { CursorMirror, type MirrorEntry } from '../../src/redis/cursor-mirror.ts';
import { loadScripts } from '../../src/redis/script-loading.ts';
import { ScriptCalls } from '../../src/redis/script-calls.ts';
import { encodeOffset, type StoredOffset } from '../../src/redis/stored-offset.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock, settled } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

/** Two subscriptions of one shard, and one of another. */
const [one, mate, distant] = ((): [string, string, string] => {
  const ids = Array.from({ length: 100 }, (_, number) => `subscription-${number}`);
  const [first = ''] = ids;
  const find = (isSame: boolean): string =>
    ids.find((id) => id !== first && (shardOf(id) === shardOf(first)) === isSame) ?? '';
  return [first, find(true), find(false)];
})();

function entry(subscriptionId: string, partition: number, stored: StoredOffset | null): MirrorEntry {
  return { subscriptionId, partitionKey: `loans:${partition}`, stored };
}

const at = (offset: number, epoch = 1): StoredOffset => ({ offset, epoch });

describe('the writer of the mirror', () => {
  let server: RedisServer;
  let harness: RedisHarness;
  let keys: KeySpace;
  let connection: RedisConnection;
  let store: ScriptCalls;
  let clock: SimulatedClock;
  let writer: CursorMirror;
  /** How many records each append had. */
  let appends: number[];
  /** Called when an append begins. */
  let onAppend: () => void;
  let isFailing: boolean;
  let isUnreachable: boolean;
  /** How many records each call had that marks them as written, and how many of these calls have a response. */
  let calls: number[];
  let responses: number;
  let reads: number;
  let written: MirrorEntry[];
  let warnings: number;

  before(async () => {
    server = await startRedisServer();
  });

  after(() => server.stop());

  beforeEach(async () => {
    harness = await openRedisHarness(server.url);
    await createCursorsTopic(harness.log, systemClock);
    keys = new KeySpace(harness.keyPrefix);
    const nobody = { serverChanged: () => {}, resubscribed: () => {}, message: () => {} };
    connection = await RedisConnection.open({ redisUrl: server.url }, silentLogger, nobody, systemClock);
    store = new ScriptCalls(connection, keys, 'origin', loadScripts());
    for (let shard = 0; shard < shardCount; shard += 1) {
      store.incarnations.set(shard, '7');
      await harness.client.hset(keys.shardKey(shard, 'shard'), 'incarnation', '7');
    }
    [appends, isFailing, calls, responses, reads, written, warnings] = [[], false, [], 0, 0, [], 0];
    isUnreachable = false;
    onAppend = () => {};
    clock = new SimulatedClock();
    writer = new CursorMirror({
      clock,
      log: overriding<EventLog>(harness.log, {
        append: (batches) => {
          onAppend();
          if (isFailing) return Promise.reject(new Error('The disk is full'));
          appends.push(batches[0]?.records.length ?? 0);
          return harness.log.append(batches);
        },
      }),
      logger: checkedLogger({ warn: () => (warnings += 1) }),
      store: overriding(store, {
        readHashes: async (hashes) => {
          const found = await store.readHashes(hashes);
          reads += hashes.length;
          return found;
        },
        callShard: async (name, shard, values, furtherKeys) => {
          calls.push(values.length / 4);
          if (isUnreachable) throw new Error('Redis is out of reach');
          const reply = await store.callShard(name, shard, values, furtherKeys);
          responses += 1;
          return reply;
        },
      }),
      onWritten: (each) => written.push(each),
    });
  });

  afterEach(async () => {
    isFailing = false;
    await writer.close();
    connection.close();
    await harness.close();
  });

  /** What Redis has after a commit: the offset, and that it is not written yet. */
  const storeInRedis = async (...entries: MirrorEntry[]): Promise<void> => {
    const pipeline = harness.client.pipeline();
    for (const { subscriptionId, partitionKey, stored } of entries) {
      if (stored === null) continue;
      const encoded = encodeOffset(stored);
      pipeline.hset(keys.key(subscriptionId, 'offsets'), partitionKey, encoded);
      pipeline.hset(keys.key(subscriptionId, 'dirty'), `${subscriptionId}/${partitionKey}`, encoded);
    }
    await pipeline.exec();
  };

  const dirtyCount = async (...subscriptions: string[]): Promise<number> => {
    const counts = await Promise.all(subscriptions.map((id) => harness.client.hlen(keys.key(id, 'dirty'))));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  const mirrored = async (subscriptionId: string): Promise<[number, number][]> =>
    ((await readMirror(harness.log)).get(subscriptionId) ?? []).map(({ partition, offset }) => [partition, offset]);

  const allAnswered = (): Promise<void> => eventually(() => responses === calls.length).then(settled);

  it('knows what it wrote until Redis has heard of it, and tells it again at the next check', async () => {
    const own = entry(one, 0, at(5));
    await storeInRedis(own);
    isUnreachable = true;
    writer.enqueue(own);
    await clock.turn(200);
    await eventually(() => calls.length === 1);
    expect([writer.entries(), written, appends]).to.deep.equal([[own], [own], [1]]);
    isUnreachable = false;
    await clock.turn(1_799);
    expect(calls).to.deep.equal([1]);
    await clock.turn(1);
    await eventually(() => writer.entries().length === 0);
    expect([await dirtyCount(one), calls, appends]).to.deep.equal([0, [1, 1], [1]]);
  });

  it('writes after 200 milliseconds, in one append, the newest offset of each partition', async () => {
    const entries = [entry(one, 0, at(5)), entry(one, 1, at(7)), entry(one, 0, at(6))];
    await storeInRedis(...entries);
    for (const each of entries) writer.enqueue(each);
    writer.enqueue(entry(one, 0, at(4)));
    writer.enqueue(entry(one, 1, at(9, 0)));
    expect(writer.entries()).to.have.deep.members([entry(one, 0, at(6)), entry(one, 1, at(7))]);
    await clock.turn(199);
    expect(appends).to.deep.equal([]);
    await clock.turn(1);
    await writer.flush();
    expect(appends).to.deep.equal([2]);
    expect(await mirrored(one)).to.have.deep.members([
      [0, 6],
      [1, 7],
    ]);
    expect(written).to.have.deep.members([entry(one, 0, at(6)), entry(one, 1, at(7))]);
    await allAnswered();
    expect(await dirtyCount(one)).to.equal(0);
    expect(writer.entries()).to.deep.equal([]);
    await clock.turn(1_000);
    expect(appends, 'nothing is left to write').to.deep.equal([2]);
  });

  it('takes the later one of a removal and an offset', async () => {
    writer.enqueue(entry(one, 0, at(5)));
    writer.enqueue(entry(one, 0, null));
    writer.enqueue(entry(one, 1, null));
    writer.enqueue(entry(one, 1, at(2)));
    expect(writer.entries()).to.deep.equal([entry(one, 0, null), entry(one, 1, at(2))]);
    await writer.flush();
    expect(await mirrored(one)).to.deep.equal([[1, 2]]);
  });

  it('appends 4,000 records at a time, and marks 500 of one shard with one call', async () => {
    const entries = Array.from({ length: 4_001 }, (_, partition) => entry(one, partition, at(partition)));
    entries.push(entry(mate, 0, at(1)), entry(distant, 0, at(2)), entry(mate, 1, at(3)));
    await storeInRedis(...entries);
    expect(await dirtyCount(one, distant)).to.equal(4_004);
    for (const each of entries) writer.enqueue(each);
    await writer.flush();
    expect(appends).to.deep.equal([4_000, 4]);
    expect(calls).to.deep.equal([...Array.from({ length: 8 }, () => 500), 3, 1]);
    await allAnswered();
    expect(await dirtyCount(one, distant)).to.equal(0);
    expect(writer.entries()).to.deep.equal([]);
  });

  it('has marked everything as written when it is closed, and does nothing later', async () => {
    await storeInRedis(entry(one, 0, at(5)));
    writer.enqueue(entry(one, 0, at(5)));
    await writer.close();
    expect([appends, calls, responses]).to.deep.equal([[1], [1], 1]);
    expect(await dirtyCount(one)).to.equal(0);
    writer.enqueue(entry(one, 0, at(6)));
    expect(clock.nextDeadline()).to.equal(Infinity);
  });

  it('writes again where Redis has a newer offset, and removes what Redis has removed', async () => {
    await storeInRedis(entry(one, 0, at(9)), entry(mate, 10, at(8)));
    for (const each of [entry(one, 0, at(5)), entry(one, 1, at(3)), entry(mate, 10, null)]) writer.enqueue(each);
    await writer.flush();
    await allAnswered();
    const again = [entry(one, 0, at(9)), entry(one, 1, null), entry(mate, 10, at(8))];
    expect(writer.entries()).to.have.deep.members(again);
    await clock.turn(200);
    await writer.flush();
    await allAnswered();
    expect(await mirrored(one)).to.deep.equal([[0, 9]]);
    expect(await mirrored(mate)).to.deep.equal([[10, 8]]);
    expect(writer.entries()).to.deep.equal([]);
    expect(appends).to.deep.equal([3, 3]);
  });

  it('keeps what it has written to a Redis that has lost its data, unless something newer waits', async () => {
    await harness.client.del(keys.shardKey(shardOf(one), 'shard'));
    writer.enqueue(entry(one, 0, at(5)));
    writer.enqueue(entry(one, 1, at(6)));
    const writing = writer.flush();
    await eventually(() => appends.length === 1);
    writer.enqueue(entry(one, 1, null));
    await writing;
    await allAnswered();
    expect(writer.entries()).to.have.deep.members([entry(one, 0, at(5)), entry(one, 1, null)]);
  });

  it('tries again after 200 milliseconds what could not be written, unless something newer waits, and logs that once', async () => {
    isFailing = true;
    onAppend = () => {
      onAppend = () => {};
      // What is being written counts as not written yet.
      expect(writer.entries()).to.have.deep.members([entry(one, 0, at(5)), entry(one, 1, at(6))]);
      writer.enqueue(entry(one, 1, null));
    };
    writer.enqueue(entry(one, 0, at(5)));
    writer.enqueue(entry(one, 1, at(6)));
    await clock.turn(200);
    await eventually(() => warnings === 1);
    const left = [entry(one, 0, at(5)), entry(one, 1, null)];
    expect(writer.entries()).to.have.deep.members(left);
    const failure: unknown = await writer.flush().catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(writer.entries()).to.have.deep.members(left);
    await clock.turn(200);
    await settled();
    expect(warnings).to.equal(1);
    isFailing = false;
    await clock.turn(200);
    await eventually(() => written.length === 2);
    expect(await mirrored(one)).to.deep.equal([[0, 5]]);
    isFailing = true;
    writer.enqueue(entry(one, 0, at(7)));
    await clock.turn(200);
    await eventually(() => warnings === 2);
  });

  it('takes over what no process has written for two seconds', async () => {
    await storeInRedis(entry(one, 0, at(33)), entry(one, 1, at(1)));
    await harness.client.hset(keys.key(distant, 'dirty'), `${distant}/a:b:2`, '-');
    await clock.turn(1_999);
    expect(reads).to.equal(0);
    await clock.turn(1);
    await eventually(() => reads === shardCount).then(settled);
    expect(writer.entries(), 'a living process may be about to write them').to.deep.equal([]);
    await storeInRedis(entry(one, 1, at(2)));
    await clock.turn(2_000);
    await eventually(() => reads === 2 * shardCount).then(settled);
    const removal = { subscriptionId: distant, partitionKey: 'a:b:2', stored: null };
    expect(writer.entries()).to.have.deep.members([entry(one, 0, at(33)), removal]);
  });
});
