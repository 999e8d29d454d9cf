import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { missedChangesMillisecondsMaximum, type Coordination } from '../../src/ports/coordination.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

const leaseMilliseconds = 60_000;

describe('looking after what is watched', function () {
  this.timeout(30_000);
  let server: RedisServer;
  let proxy: TcpProxy;
  let harness: RedisHarness;
  let first: Coordination;
  let second: Coordination;
  const subscription = randomUUID();

  beforeEach(async () => {
    server = await startRedisServer();
    proxy = await openTcpProxy({ host: '127.0.0.1', port: server.port });
    harness = await openRedisHarness(server.url);
    first = await harness.open({ redisUrl: `redis://127.0.0.1:${proxy.port}` });
    second = await harness.open();
    await first.initialise(subscription, [{ eventType: 'rounds.loans', partition: 0, offset: -1 }]);
  });

  afterEach(async () => {
    await harness.close();
    await proxy.close();
    await server.stop();
  });

  const openSession = async (nodeId: string): Promise<void> => {
    await first.renewLease(nodeId, leaseMilliseconds);
    const session = {
      streamId: randomUUID(),
      nodeId,
      requestedPartitions: [],
      openedAt: 1,
      commitTimeoutMilliseconds: 0,
    };
    expect(await first.openSession(subscription, session)).to.deep.equal({ outcome: 'opened' });
  };

  const sessionCount = async (): Promise<number> => (await second.topology(subscription)).sessions.length;

  it('closes sessions of other processes, and none of its own, though Redis says that the lease has ended', async () => {
    await openSession('own');
    first.watch(subscription, () => {});
    await harness.elapse(leaseMilliseconds);
    await new Promise((resolve) => setTimeout(resolve, missedChangesMillisecondsMaximum + 500));
    expect(await sessionCount()).to.equal(1);
    second.watch(subscription, () => {});
    await eventually(async () => (await sessionCount()) === 0, missedChangesMillisecondsMaximum + 500);
  });

  it('has watchers look when Redis cannot be reached, and shows Redis afterwards that there was an outage', async () => {
    await openSession('own');
    let looks = 0;
    first.watch(subscription, () => (looks += 1));
    // What is told in the beginning.
    await new Promise((resolve) => setTimeout(resolve, missedChangesMillisecondsMaximum));
    looks = 0;
    const before = await harness.client.hgetall(nodesKey());
    proxy.setMode({ kind: 'cut' });
    await eventually(async () => looks > 0, missedChangesMillisecondsMaximum + 500);
    proxy.setMode({ kind: 'pass' });
    const renewed = async (): Promise<boolean> =>
      Number((await harness.client.hgetall(nodesKey()))['own']) > Number(before['own']);
    await eventually(renewed, missedChangesMillisecondsMaximum + 2_000);
  });

  const nodesKey = (): string => `{${harness.keyPrefix}:0}:nodes`;
});
