import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { missedChangesMillisecondsMaximum, type Coordination } from '../../src/ports/coordination.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
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
