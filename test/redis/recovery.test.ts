import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { createCursorsTopic, mirrorRecord, writeMirror } from '../../src/broker/log/cursors-topic.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger, type Logger } from '../../src/logger.ts';
import type { Coordination } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { RedisConnection } from '../../src/redis/connection.ts';
import { KeySpace, allShards, shardCount, shardOf } from '../../src/redis/keys.ts';
import { LastSeenState } from '../../src/redis/last-seen-state.ts';
import type { MirrorEntry, CursorMirror } from '../../src/redis/cursor-mirror.ts';
import { Recovery, subscriptionsPerMerge } from '../../src/redis/recovery.ts';
import { loadScripts } from '../../src/redis/script-loading.ts';
import { ScriptCalls } from '../../src/redis/script-calls.ts';
import { eventually } from '../support/eventually.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

const subscription = 'subscription';

describe('the recovery of what Redis has lost', () => {
  let server: RedisServer;
  let harness: RedisHarness;
  let keys: KeySpace;
  let logged: string[];
  let logger: Logger;

  before(async () => {
    server = await startRedisServer();
  });

  after(() => server.stop());

  beforeEach(async () => {
    harness = await openRedisHarness(server.url);
    keys = new KeySpace(harness.keyPrefix);
    logged = [];
    logger = checkedLogger({
      info: (_, message) => void logged.push(`info: ${message}`),
      warn: (_, message) => void logged.push(`warn: ${message}`),
    });
  });

  afterEach(() => harness.close());

  const redisMilliseconds = async (): Promise<number> => {
    const [seconds, microseconds] = await harness.client.time();
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  };

  const initialise = (process: Coordination): Promise<void> =>
    process.initialise(subscription, [{ eventType: 'loans', partition: 0, offset: -1 }]);

  const join = async (process: Coordination, nodeId: string): Promise<void> => {
    await process.renewLease(nodeId, 60_000);
    await process.openSession(subscription, {
      streamId: nodeId,
      nodeId,
      requestedPartitions: [{ eventType: nodeId, partition: 0 }],
      openedAt: 1,
      commitTimeoutMilliseconds: 0,
    });
  };

  /** The log, which a process that refills Redis can be made to wait for. */
  const pausingLog = () => {
    let isPaused = false;
    let goOn: (() => void) | undefined;
    const log = overriding<EventLog>(harness.log, {
      bounds: async (partitions) => {
        if (isPaused) await new Promise<void>((resolve) => (goOn = resolve));
        return harness.log.bounds(partitions);
      },
    });
    return {
      log,
      pause: () => (isPaused = true),
      isWaiting: () => goOn !== undefined,
      resume: () => {
        isPaused = false;
        goOn?.();
      },
    };
  };

  const streams = async (process: Coordination): Promise<string[]> =>
    (await process.topology(subscription)).sessions.map(({ streamId }) => streamId);

  it('is logged as a loss, unless it is the first time that a process finds Redis empty', async () => {
    const first = await harness.open({ logger });
    expect(logged).to.deep.equal(['info: Redis is filled from the log']);
    await harness.open({ logger });
    expect(logged, 'it was filled').to.have.length(1);
    await initialise(first);
    await harness.client.flushall();
    await first.topology(subscription);
    await eventually(() => logged.length > 1);
    expect(logged[1]).to.equal('warn: Redis may have lost its data and is refilled from the log');
  });

  it('is done by every process without a call, and leaves the others half a second more than it took', async () => {
    const first = await harness.open();
    const second = await harness.open({ clock: new SimulatedClock() });
    await initialise(first);
    await join(first, 'first');
    await join(second, 'second');
    const start = await redisMilliseconds();
    await harness.client.flushall();
    await eventually(async () => (await streams(first)).length === 2);
    const until = Number(await harness.client.hget(keys.key(subscription, 'shard'), 'recoverUntil'));
    const end = await redisMilliseconds();
    expect(until).to.be.within(start + 500, end + 500 + (end - start));
  });

  it('notifies watchers when it is done, and again when the others have had their time', async () => {
    const clock = new SimulatedClock();
    const process = await harness.open({ clock });
    await initialise(process);
    // The end of the first recovery, which filled Redis.
    await clock.turn(1_000);
    const told: string[] = [];
    process.watch(subscription, (change) => told.push(change));
    await harness.untilWatching(subscription, told);
    // The rounds of checks never notify of offsets.
    const notifications = (): number => told.filter((change) => change === 'offsets').length;
    const before = notifications();
    await harness.client.flushall();
    await process.topology(subscription);
    expect(notifications()).to.equal(before + 1);
    await clock.turn(999);
    expect(notifications()).to.equal(before + 1);
    await clock.turn(1);
    expect(notifications()).to.equal(before + 2);
  });

  it('is done once by one of two processes, also when it takes several times as long as a claim', async () => {
    const refillLeaseMilliseconds = 200;
    let isSlow = false;
    const log = overriding<EventLog>(harness.log, {
      bounds: async (partitions) => {
        if (isSlow) await systemClock.sleep(4 * refillLeaseMilliseconds);
        return harness.log.bounds(partitions);
      },
    });
    const options = { log, logger, refillLeaseMilliseconds };
    const processes = [await harness.open(options), await harness.open(options)];
    for (const process of processes) await initialise(process);
    logged = [];
    isSlow = true;
    await harness.client.flushall();
    for (const topology of await Promise.all(processes.map((process) => process.topology(subscription)))) {
      expect(topology.partitions).to.have.length(1);
    }
    expect(logged).to.deep.equal(['warn: Redis may have lost its data and is refilled from the log']);
  });

  it('is done by another process once the one that began it has been silent for its claim', async () => {
    const pausing = pausingLog();
    // Its clock stands still, so it renews nothing.
    const silent = await harness.open({ clock: new SimulatedClock(), log: pausing.log });
    await initialise(silent);
    pausing.pause();
    await harness.client.flushall();
    const waiting = silent.topology(subscription);
    await eventually(() => pausing.isWaiting());
    await harness.elapse(19_000);
    expect(await harness.client.exists(keys.claim('refill'))).to.equal(1);
    await harness.elapse(1_000);
    const second = await harness.open();
    expect((await second.topology(subscription)).partitions).to.have.length(1);
    pausing.resume();
    expect((await waiting).partitions).to.have.length(1);
  });

  it('is left to the process that began it while that renews its claim, and a call waits for it for five seconds', async () => {
    const clock = new SimulatedClock();
    const pausing = pausingLog();
    const process = await harness.open({ clock, log: pausing.log });
    await initialise(process);
    pausing.pause();
    await harness.client.flushall();
    let failure: unknown;
    const reading = process.topology(subscription).catch((error: unknown) => (failure = error));
    await eventually(() => pausing.isWaiting());
    const claimLeft = (): Promise<number> => harness.client.pttl(keys.claim('refill'));
    expect(await claimLeft()).to.be.within(11_000, 20_000);
    await harness.client.pexpire(keys.claim('refill'), 10_000);
    await clock.turn(4_999);
    expect(failure).to.equal(undefined);
    expect(await claimLeft()).to.be.at.most(10_000);
    await clock.turn(1);
    await reading;
    await eventually(async () => (await claimLeft()) > 11_000);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(String(failure)).to.contain('is being refilled');
    const resumedAt = await redisMilliseconds();
    pausing.resume();
    expect((await process.topology(subscription)).partitions).to.have.length(1);
    const until = Number(await harness.client.hget(keys.key(subscription, 'shard'), 'recoverUntil'));
    expect(until - resumedAt, 'the others get the time that it took').to.be.at.least(5_500);
    await eventually(async () => (await harness.client.exists(keys.claim('refill'))) === 0);
  });

  it('makes a process that starts wait until Redis is refilled, however long that takes', async () => {
    const first = await harness.open();
    await initialise(first);
    await first.close();
    await harness.client.flushall();
    let resume: (() => void) | undefined;
    const log = overriding<EventLog>(harness.log, {
      bounds: async (partitions) => {
        if (resume === undefined) await new Promise<void>((resolve) => (resume = resolve));
        return harness.log.bounds(partitions);
      },
    });
    const clock = new SimulatedClock();
    const starting = harness.open({ clock, log });
    await eventually(() => resume !== undefined);
    await clock.turn(19_000);
    resume?.();
    expect(await (await starting).committedOffsets(subscription)).to.have.length(1);
  });

  it('brings back all of more subscriptions than one call takes, on every shard', async () => {
    const process = await harness.open();
    const ids = Array.from({ length: shardCount * (subscriptionsPerMerge + 10) }, (_, number) => `many-${number}`);
    const perShard = new Map<number, number>();
    for (const id of ids) perShard.set(shardOf(id), (perShard.get(shardOf(id)) ?? 0) + 1);
    expect(Math.max(...perShard.values()), 'so that a shard needs two').to.be.above(subscriptionsPerMerge);
    await writeMirror(
      harness.log,
      ids.map((id, number) => mirrorRecord(id, { eventType: 'loans', partition: 0 }, number, 7)),
    );
    await harness.client.flushall();
    await process.topology(subscription);
    const found = await Promise.all(ids.map((id) => process.committedOffsets(id)));
    expect(found.map((offsets) => offsets.map(({ offset }) => offset))).to.deep.equal(ids.map((_, number) => [number]));
    const dirty = await Promise.all(allShards.map((shard) => harness.client.hlen(keys.shardKey(shard, 'dirty'))));
    expect(dirty, 'the mirror has all of them').to.deep.equal(allShards.map(() => 0));
    expect((await process.topology('many-5')).partitions.map(({ state }) => state)).to.deep.equal(['unassigned']);
  });

  it('brings back the lease of a node on every shard, so that a subscription made next keeps its stream', async () => {
    const process = await harness.open();
    await process.renewLease('node', 60_000);
    await harness.client.flushall();
    await initialise(process);
    const streamId = 'stream';
    const session = { streamId, nodeId: 'node', requestedPartitions: [], openedAt: 1, commitTimeoutMilliseconds: 0 };
    await process.openSession(subscription, session);
    expect(await process.reapSessions(subscription)).to.equal(0);
    const leases = await Promise.all(allShards.map((shard) => harness.client.hkeys(keys.shardKey(shard, 'nodes'))));
    expect(leases).to.deep.equal(allShards.map(() => ['node']));
  });

  it('brings back no stream that was refused', async () => {
    const process = await harness.open();
    await initialise(process);
    await process.renewLease('node', 60_000);
    const session = { nodeId: 'node', requestedPartitions: [], openedAt: 1, commitTimeoutMilliseconds: 0 };
    await process.openSession(subscription, { ...session, streamId: 'first' });
    const refusal = await process.openSession(subscription, { ...session, streamId: 'second' });
    expect(refusal).to.deep.equal({ outcome: 'no_free_slots', totalSlots: 1 });
    await harness.client.flushall();
    expect(await streams(process)).to.deep.equal(['first']);
  });

  it('brings back the streams of a process that has heard of changes by others', async () => {
    const [first, second] = [await harness.open(), await harness.open({ clock: new SimulatedClock() })];
    await initialise(first);
    await join(first, 'first');
    const told: string[] = [];
    first.watch(subscription, (change) => told.push(change));
    await harness.untilWatching(subscription, told);
    const before = told.length;
    await join(second, 'second');
    await eventually(() => told.length > before);
    await second.close();
    await harness.client.flushall();
    expect(await streams(first)).to.deep.equal(['first']);
  });

  it('brings back nothing of a subscription that another process has removed', async () => {
    const [first, second] = [await harness.open(), await harness.open()];
    await initialise(first);
    await join(first, 'first');
    const told: string[] = [];
    first.watch(subscription, (change) => told.push(change));
    await harness.untilWatching(subscription, told);
    // One process hears of the removal, and the other only remembers the subscription.
    const third = await harness.open();
    await third.topology(subscription);
    await second.remove(subscription);
    await eventually(() => told.includes('removed'));
    await second.close();
    await harness.client.flushall();
    const nothing = { generation: 0, resetting: false, sessions: [], partitions: [], committed: [] };
    expect(await third.topology(subscription)).to.deep.equal(nothing);
    expect(await first.topology(subscription)).to.deep.equal(nothing);
  });

  describe('of a process', () => {
    let connection: RedisConnection;
    let store: ScriptCalls;
    let entries: MirrorEntry[];
    let onMerge: (() => void) | undefined;
    let onReadMirror: () => void;
    let recovery: Recovery;

    beforeEach(async () => {
      await createCursorsTopic(harness.log, systemClock);
      const nobody = { serverChanged: () => {}, resubscribed: () => {}, message: () => {} };
      connection = await RedisConnection.open({ redisUrl: server.url }, silentLogger, nobody, systemClock);
      store = new ScriptCalls(connection, keys, 'origin', loadScripts());
      [entries, onMerge, onReadMirror] = [[], undefined, () => {}];
      const lastSeen = new LastSeenState();
      const session = { nodeId: 'n', requestedPartitions: [], openedAt: 1, commitTimeoutMilliseconds: 0 };
      lastSeen.recordSession(subscription, { ...session, streamId: 's' });
      recovery = new Recovery({
        store: overriding(store, {
          callShard: async (name, ...rest) => {
            const reply = await store.callShard(name, ...rest);
            if (name === 'refill/merge') onMerge?.();
            return reply;
          },
        }),
        log: overriding<EventLog>(harness.log, {
          bounds: async (partitions) => {
            const bounds = await harness.log.bounds(partitions);
            onReadMirror();
            return bounds;
          },
        }),
        clock: systemClock,
        logger: silentLogger,
        lastSeen,
        mirror: { entries: () => entries } as unknown as CursorMirror,
        leases: () => [['n', 60_000]],
        onRecovered: () => {},
        onWindowOver: () => {},
        claims: {
          claim: () => Promise.resolve(true),
          renewClaim: () => Promise.resolve(true),
          releaseClaim: () => Promise.resolve(),
        },
      });
    });

    afterEach(() => connection.close());

    const inRedis = (): Promise<(string | null)[]> =>
      Promise.all(allShards.map((shard) => harness.client.hget(keys.shardKey(shard, 'shard'), 'incarnation')));

    const setInRedis = async (incarnation: string): Promise<void> => {
      for (const shard of allShards) await harness.client.hset(keys.shardKey(shard, 'shard'), { incarnation });
    };

    const known = (): (string | undefined)[] => allShards.map((shard) => store.incarnations.get(shard));

    const know = (incarnation: string): void => {
      for (const shard of allShards) store.incarnations.set(shard, incarnation);
    };

    it('merges at a start only what the mirror has newer than Redis', async () => {
      await writeMirror(harness.log, [
        mirrorRecord('older', { eventType: 'loans', partition: 0 }, 4, 2),
        mirrorRecord('equal', { eventType: 'loans', partition: 0 }, 4, 2),
        mirrorRecord('newer', { eventType: 'loans', partition: 0 }, 4, 2),
        mirrorRecord('missing', { eventType: 'loans', partition: 0 }, 4, 2),
      ]);
      know('4');
      await setInRedis('4');
      for (const [id, stored] of [
        ['older', '5@2'],
        ['equal', '4@2'],
        ['newer', '3@2'],
      ] as const) {
        await harness.client.hset(keys.key(id, 'offsets'), { 'loans:0': stored });
      }
      await recovery.start();
      const inRedis = async (id: string): Promise<string | null> =>
        harness.client.hget(keys.key(id, 'offsets'), 'loans:0');
      expect(await Promise.all(['older', 'equal', 'newer', 'missing'].map(inRedis))).to.deep.equal([
        '5@2',
        '4@2',
        '4@2',
        '4@2',
      ]);
      const touched = await Promise.all(
        ['older', 'equal', 'newer', 'missing'].map((id) => harness.client.exists(keys.key(id, 'meta'))),
      );
      expect(touched).to.deep.equal([0, 0, 1, 1]);
      const unwritten = await Promise.all(
        allShards.map((shard) => harness.client.hkeys(keys.shardKey(shard, 'dirty'))),
      );
      expect(unwritten.flat(), 'what came from the mirror is not written to it again').to.deep.equal([]);
    });

    it('takes over the incarnation that another process began, after it has merged what it knows', async () => {
      know('4');
      await setInRedis('5');
      let merges = 0;
      onMerge = () => {
        merges += 1;
        expect(known()).to.deep.equal(allShards.map(() => '4'));
      };
      await recovery.recover();
      expect(merges, 'one for each shard').to.equal(shardCount);
      expect(known()).to.deep.equal(allShards.map(() => '5'));
      expect(await harness.client.hkeys(keys.key(subscription, 'sessions'))).to.deep.equal(['s']);
      await recovery.recover();
      expect(merges, 'nothing is left to do').to.equal(shardCount);
      expect(await inRedis()).to.deep.equal(allShards.map(() => '5'));
    });

    it('refills a Redis that went back to an earlier incarnation', async () => {
      know('5');
      await setInRedis('4');
      await recovery.recover();
      const found = await inRedis();
      expect(found.every((incarnation) => Number(incarnation) > 5)).to.equal(true);
      expect(known()).to.deep.equal(found);
    });

    it('refills the data of the known incarnation only when it is suspected to be older', async () => {
      know('5');
      await setInRedis('5');
      await recovery.recover();
      expect(await inRedis()).to.deep.equal(allShards.map(() => '5'));
      recovery.suspectDataLoss();
      recovery.suspectDataLoss();
      expect(known().some((incarnation) => incarnation === '5')).to.equal(false);
      await recovery.recover();
      const found = await inRedis();
      expect(found.every((incarnation) => Number(incarnation) > 5)).to.equal(true);
      expect(known()).to.deep.equal(found);
    });

    it('begins again when the data becomes suspect in the meantime', async () => {
      know('4');
      await setInRedis('5');
      onMerge = () => {
        onMerge = undefined;
        know('5');
        recovery.suspectDataLoss();
      };
      await recovery.recover();
      const found = await inRedis();
      expect(found.every((incarnation) => Number(incarnation) > 5)).to.equal(true);
      expect(known()).to.deep.equal(found);
    });

    it('restores a commit that reaches the mirror while that is being read', async () => {
      entries = [{ subscriptionId: subscription, partitionKey: 'loans:0', stored: { offset: 8, epoch: 3 } }];
      onReadMirror = () => (entries = []);
      await recovery.recover();
      expect(await harness.client.hgetall(keys.key(subscription, 'offsets'))).to.deep.equal({ 'loans:0': '8@3' });
    });
  });
});
