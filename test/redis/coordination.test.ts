import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import type { CommittedOffset } from '../../src/ports/coordination.ts';
import type { RedisCoordination } from '../../src/redis/coordination.ts';
import { KeySpace } from '../../src/redis/keys.ts';
import { describeCoordination } from '../contracts/coordination.contract.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openRedisHarness, withoutPublishing, type RedisHarness } from './harness.ts';

describeCoordination('Redis', async () => {
  const server = await startRedisServer();
  const harness = await openRedisHarness(server.url);
  return {
    coordination: await harness.open(),
    unheard: await harness.open({ scriptSource: withoutPublishing }),
    elapse: (milliseconds) => harness.elapse(milliseconds),
    eventually,
    close: async () => {
      await harness.close();
      await server.stop();
    },
  };
});

const dayMilliseconds = 86_400_000;

describe('a process that coordinates through Redis', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let harness: RedisHarness;
  let keys: KeySpace;
  let clock: SimulatedClock;
  let coordination: RedisCoordination;
  const subscription = 'subscription';

  before(async () => {
    server = await startRedisServer();
  });

  after(() => server.stop());

  beforeEach(async () => {
    proxy = await openTcpProxy({ host: '127.0.0.1', port: server.port });
    harness = await openRedisHarness(server.url);
    keys = new KeySpace(harness.keyPrefix);
    clock = new SimulatedClock();
    coordination = await harness.open({ clock, redisUrl: `redis://127.0.0.1:${proxy.port}` });
    await coordination.initialise(subscription, [at(0, -1)]);
  });

  afterEach(async () => {
    await harness.close();
    await proxy.close();
  });

  const at = (partition: number, offset: number): CommittedOffset => ({ eventType: 'loans', partition, offset });

  const join = async (streamId: string): Promise<void> => {
    await coordination.renewLease('node', 60_000);
    const session = { streamId, nodeId: 'node', requestedPartitions: [], openedAt: 1, commitTimeoutMilliseconds: 0 };
    expect(await coordination.openSession(subscription, session)).to.deep.equal({ outcome: 'opened' });
  };

  const assign = async (...partitions: number[]): Promise<string> => {
    const { generation } = await coordination.topology(subscription);
    const assigned = { state: 'assigned', streamId: 'stream', nextStreamId: null } as const;
    const changes = partitions.map((partition) => ({ eventType: 'loans', partition, ...assigned }));
    return coordination.applyOwnership(subscription, generation, changes);
  };

  const redisMilliseconds = async (): Promise<number> => {
    const [seconds, microseconds] = await harness.client.time();
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  };

  it('counts a reset as over after two minutes', async () => {
    const earliest = await redisMilliseconds();
    await coordination.beginReset(subscription);
    const end = Number(await harness.client.hget(keys.key(subscription, 'meta'), 'resetUntil'));
    expect(end).to.be.within(earliest + 120_000, (await redisMilliseconds()) + 120_000);
  });

  it('remembers a removal for ten minutes', async () => {
    await coordination.remove(subscription);
    expect(await harness.client.pttl(keys.key(subscription, 'removed'))).to.be.within(500_000, 600_000);
  });

  it('keeps the history of a subscription for 30 days', async () => {
    await coordination.recordHistory(subscription, {
      lastCommits: [{ eventType: 'loans', partition: 0, offset: '5', committedAt: 77 }],
      endedStreams: [{ streamId: 'stream', reason: 'Over', endedAt: 78 }],
    });
    for (const kind of ['commits', 'ends'] as const) {
      const left = await harness.client.pttl(keys.key(subscription, kind));
      expect(left / dayMilliseconds, kind).to.be.within(29.99, 30);
    }
    await harness.client.hset(keys.key(subscription, 'shard'), 'remembersSince', '1');
    const earliest = await redisMilliseconds();
    const { since } = await coordination.history(subscription);
    const [from, to] = [earliest, await redisMilliseconds()].map((now) => now - 30 * dayMilliseconds);
    expect(since).to.be.within(from ?? Infinity, to ?? 0);
  });

  it('notifies its own watchers of what it changes, and of nothing else', async () => {
    let told: string[] = [];
    const toldBy = async (action: () => Promise<unknown>): Promise<string[]> => {
      told = [];
      await action();
      return told;
    };
    coordination.watch(subscription, (change) => told.push(change));
    await harness.untilWatching(subscription, told);
    const initialise = (...partitions: number[]): Promise<void> =>
      coordination.initialise(
        subscription,
        partitions.map((partition) => at(partition, -1)),
      );
    expect(await toldBy(() => initialise(0))).to.deep.equal([]);
    expect(await toldBy(() => initialise(0, 1))).to.deep.equal(['topology']);
    expect(await toldBy(() => join('stream'))).to.deep.equal(['topology']);
    expect(await toldBy(() => join('stream')), 'it is open').to.deep.equal([]);
    expect(await toldBy(() => assign())).to.deep.equal([]);
    expect(await toldBy(() => assign(0))).to.deep.equal(['topology']);
    const commit = (offset: number) => coordination.commit(subscription, 'stream', [at(0, offset)]);
    expect(await toldBy(() => commit(3))).to.deep.equal(['offsets']);
    expect(await toldBy(() => commit(3))).to.deep.equal([]);
    expect(await toldBy(() => coordination.reapSessions(subscription))).to.deep.equal([]);
    expect(await toldBy(() => coordination.beginReset(subscription))).to.deep.equal(['reset']);
    expect(await toldBy(() => coordination.beginReset(subscription))).to.deep.equal([]);
    expect(await toldBy(() => coordination.finishReset(subscription, [at(0, 1)]))).to.deep.equal([
      'offsets',
      'topology',
    ]);
    expect(await toldBy(() => coordination.closeSession(subscription, 'stream'))).to.deep.equal(['topology']);
    expect(await toldBy(() => coordination.closeSession(subscription, 'stream'))).to.deep.equal([]);
    await join('other');
    await harness.elapse(60_000);
    expect(await toldBy(() => coordination.reapSessions(subscription))).to.deep.equal(['topology']);
    expect(await toldBy(() => coordination.remove(subscription))).to.deep.equal(['removed']);
  });

  it('listens to a channel while its subscription is watched, and looks again after the connection was lost', async () => {
    const channels = async (): Promise<string[]> =>
      (await harness.client.call('PUBSUB', 'CHANNELS', keys.channel('*'))) as string[];
    const told: string[] = [];
    const stops = ['first', 'second'].map((name) =>
      coordination.watch(subscription, (change) => told.push(`${name} ${change}`)),
    );
    await harness.untilWatching(subscription, told);
    expect(await channels()).to.deep.equal([keys.channel(subscription)]);
    const before = told.length;
    await harness.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(() => told.length > before);
    expect(told.slice(before)).to.deep.equal(['first topology', 'second topology', 'first offsets', 'second offsets']);
    stops[0]?.();
    stops[0]?.();
    coordination.watch('another', () => {});
    await eventually(async () => (await channels()).length === 2);
    expect(await channels()).to.include(keys.channel(subscription));
    stops[1]?.();
    await eventually(async () => (await channels()).length === 1);
    expect(await channels()).to.deep.equal([keys.channel('another')]);
  });

  it('closes a session that could not be closed once Redis is back', async () => {
    await join('stream');
    proxy.setMode({ kind: 'cut' });
    const failure: unknown = await coordination.closeSession(subscription, 'stream').catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    proxy.setMode({ kind: 'pass' });
    const sessions = async (): Promise<number | undefined> =>
      (await coordination.topology(subscription).catch(() => undefined))?.sessions.length;
    await eventually(async () => (await sessions()) === 1);
    await clock.turn(1_000);
    await eventually(async () => (await sessions()) === 0);
  });

  it('renews its own leases before it closes the sessions of dead nodes', async () => {
    await join('stream');
    await clock.turn(50_000);
    proxy.setMode({ kind: 'cut' });
    const failure: unknown = await coordination.renewLease('node', 60_000).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    proxy.setMode({ kind: 'pass' });
    await eventually(async () => (await coordination.topology(subscription).catch(() => undefined)) !== undefined);
    await harness.elapse(60_000);
    // By this clock, the lease that Redis has confirmed has ended, and the one that was requested has not.
    await clock.turn(10_000);
    expect(await coordination.reapSessions(subscription)).to.equal(0);
    const { sessions } = await coordination.topology(subscription);
    expect(sessions.map(({ streamId }) => streamId)).to.deep.equal(['stream']);
  });
});
