import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { missedChangesMillisecondsMaximum, type Coordination } from '../../src/ports/coordination.ts';
import { ChangeListeners } from '../../src/redis/change-listeners.ts';
import { KeySpace, shardOf } from '../../src/redis/keys.ts';
import { NodeLeases } from '../../src/redis/node-leases.ts';
import type { RecoveringCalls, ShardState } from '../../src/redis/recovering-calls.ts';
import { MissedChanges } from '../../src/redis/missed-changes-and-dead-nodes.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

const leaseMilliseconds = 60_000;

describe('the checks of watched subscriptions', function () {
  this.timeout(30_000);
  let server: RedisServer;
  let proxy: TcpProxy;
  let harness: RedisHarness;
  let first: Coordination;
  let second: Coordination;
  let firstClock: SimulatedClock;
  let secondClock: SimulatedClock;
  const subscription = randomUUID();

  beforeEach(async () => {
    server = await startRedisServer();
    proxy = await openTcpProxy({ host: '127.0.0.1', port: server.port });
    harness = await openRedisHarness(server.url);
    [firstClock, secondClock] = [new SimulatedClock(), new SimulatedClock()];
    first = await harness.open({ redisUrl: `redis://127.0.0.1:${proxy.port}`, clock: firstClock });
    second = await harness.open({ clock: secondClock });
    await first.initialise(subscription, [{ eventType: 'rounds.loans', partition: 0, offset: -1 }]);
  });

  afterEach(async () => {
    await harness.close();
    await proxy.close();
    await server.stop();
  });

  const openSession = async (process: Coordination, nodeId: string): Promise<void> => {
    await process.renewLease(nodeId, leaseMilliseconds);
    const session = {
      streamId: randomUUID(),
      nodeId,
      requestedPartitions: [],
      openedAt: 1,
      commitTimeoutMilliseconds: 0,
    };
    expect(await process.openSession(subscription, session)).to.deep.equal({ outcome: 'opened' });
  };

  const nodesWithSessions = async (): Promise<string[]> =>
    (await second.topology(subscription)).sessions.map(({ nodeId }) => nodeId).sort();

  it('close sessions of other processes, and none of the own process, although Redis reports that the lease has ended', async () => {
    await first.initialise(subscription, [{ eventType: 'rounds.loans', partition: 1, offset: -1 }]);
    await openSession(first, 'own');
    await openSession(second, 'other');
    first.watch(subscription, () => {});
    await harness.elapse(leaseMilliseconds);
    expect(await nodesWithSessions()).to.deep.equal(['other', 'own']);
    await firstClock.turn(missedChangesMillisecondsMaximum);
    await eventually(async () => (await nodesWithSessions()).length < 2);
    expect(await nodesWithSessions()).to.deep.equal(['own']);
    second.watch(subscription, () => {});
    await secondClock.turn(missedChangesMillisecondsMaximum);
    await eventually(async () => (await nodesWithSessions()).length === 0);
  });

  it('notify watchers when Redis is unreachable, and report the outage to Redis afterwards', async () => {
    await openSession(first, 'own');
    let looks = 0;
    first.watch(subscription, () => (looks += 1));
    // The notification at the start.
    await eventually(() => looks > 0);
    looks = 0;
    const before = await harness.client.hgetall(nodesKey());
    proxy.setMode({ kind: 'cut' });
    await firstClock.turn(missedChangesMillisecondsMaximum);
    await eventually(() => looks > 0);
    proxy.setMode({ kind: 'pass' });
    await eventually(async () => {
      await firstClock.turn(missedChangesMillisecondsMaximum);
      return Number((await harness.client.hgetall(nodesKey()))['own']) > Number(before['own']);
    });
  });

  const nodesKey = (): string => `{${harness.keyPrefix}:0}:nodes`;
});

describe('the rounds of these checks', () => {
  let clock: SimulatedClock;
  /** How long the machine slept while the monotonic clock stood still. */
  let sleptMilliseconds: number;
  let told: string[];
  /** The values and keys of each check. */
  let checks: { shard: number; values: readonly string[]; keys: readonly string[] }[];
  let renewals: number;
  let isReachable: boolean;
  /** What Redis says of every shard; undefined for another count of changes each time. */
  let state: ShardState | undefined;
  let changes: number;
  let chance: number;
  let listeners: ChangeListeners;
  let leases: NodeLeases;
  let rounds: MissedChanges;
  const keys = new KeySpace('p');

  beforeEach(async () => {
    clock = new SimulatedClock();
    [sleptMilliseconds, told, checks, renewals, isReachable, chance] = [0, [], [], 0, true, 0.5];
    [state, changes] = [undefined, 0];
    listeners = new ChangeListeners(silentLogger);
    leases = new NodeLeases(clock, () => {
      renewals += 1;
      return isReachable ? Promise.resolve() : Promise.reject(new Error('Out of reach'));
    });
    const calls = {
      shardStates: (shards: readonly number[]): Promise<ShardState[]> => {
        if (!isReachable) return Promise.reject(new Error('Out of reach'));
        changes += 1;
        const found = state ?? { incarnation: '1', changes: String(changes), isUnsettled: false };
        return Promise.resolve(shards.map(() => found));
      },
      checkWatched: (shard: number, values: readonly string[], furtherKeys: readonly string[]) => {
        if (!isReachable) return Promise.reject(new Error('Out of reach'));
        checks.push({ shard, values, keys: furtherKeys });
        // As its generation, each subscription has its position in the call.
        return Promise.resolve(['OK', ...furtherKeys.map((_, index) => String(index))]);
      },
    };
    rounds = new MissedChanges({
      listeners,
      leases,
      keys,
      calls: calls as unknown as RecoveringCalls,
      clock: overriding<Clock>(clock, { now: () => clock.now() + sleptMilliseconds }),
      logger: silentLogger,
      random: () => chance,
    });
    await leases.renew('node', 600_000);
    renewals = 0;
    rounds.start();
  });

  const watch = (subscriptionId: string): void => {
    listeners.add(subscriptionId, (change, generation) => told.push(`${subscriptionId} ${change} ${generation}`));
  };

  const interval = 0.75 * missedChangesMillisecondsMaximum;

  it('begin after 1.5 seconds, a tenth more or less by chance', async () => {
    watch('a');
    expect(interval).to.equal(1_500);
    await clock.turn(1_499);
    expect(checks).to.deep.equal([]);
    chance = 0;
    await clock.turn(1);
    expect(checks).to.have.length(1);
    await clock.turn(1_349);
    expect(checks).to.have.length(1);
    chance = 1;
    await clock.turn(1);
    expect(checks).to.have.length(2);
    await clock.turn(1_649);
    expect(checks).to.have.length(2);
    await clock.turn(1);
    expect(checks).to.have.length(3);
  });

  it('check a hundred subscriptions of one shard with one call, and notify their watchers of a new generation', async () => {
    const ids = Array.from({ length: 3_000 }, (_, number) => `subscription-${number}`);
    const mates = ids.filter((id) => shardOf(id) === 3).slice(0, 101);
    const distant = ids.find((id) => shardOf(id) === 4) ?? '';
    for (const id of [...mates, distant]) watch(id);
    await clock.turn(interval);
    expect(checks.map(({ shard, values }) => [shard, ...values])).to.deep.equal([
      [3, '1', 'node', ...mates.slice(0, 100)],
      [3, '1', 'node', ...mates.slice(100)],
      [4, '1', 'node', distant],
    ]);
    const [last = ''] = mates.slice(100);
    expect(checks[1]?.keys).to.deep.equal(
      (['meta', 'owners', 'sessions'] as const).map((kind) => keys.key(last, kind)),
    );
    expect(told).to.deep.equal([...mates, distant].map((id, index) => `${id} topology ${index < 100 ? index : 0}`));
    expect(renewals, 'no lease is overdue').to.equal(0);
  });

  it('check a shard again only when something there has changed since a check that was complete', async () => {
    const round = async (): Promise<number> => {
      const before = checks.length;
      await clock.turn(interval);
      return checks.length - before;
    };
    const settled = { incarnation: '1', changes: '7', isUnsettled: false };
    state = settled;
    watch('a');
    expect(await round(), 'the first time').to.equal(1);
    expect(await round(), 'others may not be back after a loss').to.equal(1);
    expect(await round()).to.equal(0);
    expect(await round()).to.equal(0);
    state = { ...settled, changes: '8' };
    expect(await round(), 'a change').to.equal(1);
    expect(await round()).to.equal(0);
    state = { ...settled, changes: '8', isUnsettled: true };
    expect(await round(), 'a lease has ended').to.equal(1);
    expect(await round()).to.equal(1);
    state = { ...settled, changes: '8' };
    expect(await round(), 'the check before was not complete').to.equal(1);
    expect(await round()).to.equal(0);
    state = { ...settled, changes: '9' };
    sleptMilliseconds += 1_001;
    expect(await round(), 'it slept, and closed no sessions').to.equal(1);
    expect(await round()).to.equal(1);
    expect(await round()).to.equal(0);
    state = { ...settled, incarnation: '2', changes: '9' };
    expect(await round(), 'Redis was lost').to.equal(1);
    expect(await round()).to.equal(1);
    for (let count = 1; count < 30_000 / interval; count += 1) expect(await round(), String(count)).to.equal(0);
    expect(await round(), 'an earlier version counts no changes').to.equal(1);
    expect(await round()).to.equal(0);
  });

  it('check a shard again when another of its subscriptions is watched, and those of no other shard', async () => {
    state = { incarnation: '1', changes: '7', isUnsettled: false };
    const ids = Array.from({ length: 300 }, (_, number) => `subscription-${number}`);
    const [first = '', second = ''] = ids.filter((id) => shardOf(id) === 3);
    watch(first);
    watch(ids.find((id) => shardOf(id) === 4) ?? '');
    await clock.turn(interval);
    await clock.turn(interval);
    checks = [];
    watch(second);
    await clock.turn(interval);
    expect(checks.map(({ shard, values }) => [shard, ...values])).to.deep.equal([[3, '1', 'node', first, second]]);
  });

  it('close no sessions when they come more than a second late, because the process or the machine slept', async () => {
    watch('a');
    const mayClose = (): string[] => checks.map(({ values: [first = ''] }) => first);
    clock.jump(interval + 1_000);
    await clock.turn(0);
    expect(mayClose()).to.deep.equal(['1']);
    clock.jump(interval + 1_001);
    await clock.turn(0);
    expect(mayClose()).to.deep.equal(['1', '0']);
    sleptMilliseconds += 1_001;
    await clock.turn(interval);
    expect(mayClose()).to.deep.equal(['1', '0', '0']);
    sleptMilliseconds += 1_000;
    await clock.turn(interval);
    expect(mayClose()).to.deep.equal(['1', '0', '0', '1']);
  });

  it('notify watchers once when Redis is out of reach, and renew all leases once it is back', async () => {
    watch('a');
    await clock.turn(interval);
    expect(renewals).to.equal(0);
    told = [];
    isReachable = false;
    await clock.turn(interval);
    expect(told).to.deep.equal(['a topology undefined', 'a offsets undefined']);
    await clock.turn(interval);
    expect(told).to.have.length(2);
    renewals = 0;
    isReachable = true;
    await clock.turn(interval);
    expect(renewals).to.equal(1);
    await clock.turn(interval);
    expect(renewals).to.equal(1);
    expect(checks).to.have.length(3);
  });

  it('end when they are stopped, and notify no watcher then', async () => {
    watch('a');
    isReachable = false;
    await clock.step();
    told = [];
    rounds.stop();
    rounds.start();
    expect(clock.nextDeadline()).to.equal(Infinity);
  });
});
