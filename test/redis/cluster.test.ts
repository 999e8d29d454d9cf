import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../src/clock.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { RedisConnection } from '../../src/redis/connection.ts';
import { shardOf } from '../../src/redis/keys.ts';
import { describeCoordination } from '../contracts/coordination.contract.ts';
import { eventually } from '../support/eventually.ts';
import { redisClient, startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { openRedisHarness, withoutPublishing } from './harness.ts';

describe('a Redis Cluster', () => {
  let server: RedisServer;
  let other: RedisServer;
  let redisUrl: string;

  const onCluster = async ({ url }: RedisServer, ...words: [string, ...string[]]): Promise<string> => {
    const client = redisClient(url);
    const reply = await client.call('CLUSTER', ...words);
    client.disconnect();
    return String(reply);
  };

  before(async () => {
    const settings = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
    [server, other] = [await startRedisServer(...settings), await startRedisServer(...settings)];
    redisUrl = `${server.url},${server.url}`;
    await onCluster(server, 'ADDSLOTSRANGE', '0', '16383');
    await eventually(async () => (await onCluster(server, 'INFO')).includes('cluster_state:ok'), 20_000);
  });

  after(async () => {
    await server.stop();
    await other.stop();
  });

  /** One node that serves all slots: every script must still find all its keys in one of them. */
  describeCoordination('Redis Cluster', async () => {
    const harness = await openRedisHarness(server.url);
    return {
      coordination: await harness.open({ redisUrl }),
      unheard: await harness.open({ redisUrl, scriptSource: withoutPublishing }),
      elapse: (milliseconds) => harness.elapse(milliseconds),
      eventually,
      close: () => harness.close(),
    };
  });

  it('of one node may be named by one URL', async () => {
    const harness = await openRedisHarness(server.url);
    try {
      const coordination = await harness.open();
      await coordination.renewLease('node', 60_000);
      const subscriptions = Array.from({ length: 8 }, () => randomUUID());
      expect(new Set(subscriptions.map(shardOf)).size, 'shards').to.be.above(1);
      // Of sessions that do not exist, all in one turn.
      const commits = subscriptions.map((subscription) => coordination.commit(subscription, randomUUID(), []));
      for (const result of await Promise.all(commits)) expect(result).to.deep.equal({ outcome: 'session_not_found' });
    } finally {
      await harness.close();
    }
  });

  describe('that a node joins', () => {
    it('has changed for a process whose call is sent on to the new node', async () => {
      let hasChanged = false;
      const events = { serverChanged: () => (hasChanged = true), resubscribed: () => {}, message: () => {} };
      const connection = await RedisConnection.open({ redisUrl }, silentLogger, events, systemClock);
      await connection.readHash('hash');
      const [id, otherId] = [await onCluster(server, 'MYID'), await onCluster(other, 'MYID')];
      await onCluster(server, 'MEET', '127.0.0.1', String(other.port), String(other.clusterPort));
      await eventually(async () => {
        const lists = [await onCluster(server, 'NODES'), await onCluster(other, 'NODES')];
        return lists.every((list) => list.includes(id) && list.includes(otherId));
      }, 20_000);
      const slot = await onCluster(server, 'KEYSLOT', 'hash');
      await onCluster(other, 'SETSLOT', slot, 'IMPORTING', id);
      await onCluster(other, 'SETSLOT', slot, 'NODE', otherId);
      await onCluster(server, 'SETSLOT', slot, 'NODE', otherId);
      await eventually(async () => {
        await connection.readHash('hash').catch(() => undefined);
        return hasChanged;
      });
      connection.close();
    });
  });

  describe('of two nodes, one of which does not answer for some seconds, and then does what it was asked', () => {
    it('is asked once, and neither a claim nor a commit that it did appears as done before', async function () {
      this.timeout(60_000);
      const harness = await openRedisHarness(server.url);
      const coordination = await harness.open({ redisUrl });
      const [subscription, streamId] = ['busy', 'stream'];
      const at = (offset: number) => ({ eventType: 'loans', partition: 0, offset });
      await coordination.initialise(subscription, [at(-1)]);
      await coordination.renewLease('node', 60_000);
      const session = { streamId, nodeId: 'node', requestedPartitions: [], openedAt: 1, commitTimeoutMilliseconds: 0 };
      await coordination.openSession(subscription, session);
      const { generation } = await coordination.topology(subscription);
      const change = { ...at(0), state: 'assigned', streamId, nextStreamId: null } as const;
      await coordination.applyOwnership(subscription, generation, [change]);
      // Redis knows the scripts of both.
      await coordination.claim('before', 60_000);
      await coordination.commit(subscription, streamId, [at(1)]);
      // Longer than a connection waits.
      const isPaused = server.pause(4_000);
      const outcomes = Promise.allSettled([
        coordination.claim('once', 60_000),
        coordination.commit(subscription, streamId, [at(5)]),
      ]);
      expect((await outcomes).map((outcome) => outcome.status === 'rejected' && codeOf(outcome.reason))).to.deep.equal([
        'COORDINATION_UNAVAILABLE',
        'COORDINATION_UNAVAILABLE',
      ]);
      await isPaused;
      // Redis did it all the same: another call is told so.
      await eventually(async () => {
        const [committed] = await coordination.committedOffsets(subscription).catch(() => []);
        return committed?.offset === 5;
      });
      expect(await coordination.claim('once', 60_000)).to.equal(false);
      expect(await coordination.commit(subscription, streamId, [at(5)])).to.deep.equal({
        outcome: 'committed',
        advanced: [false],
      });
      await harness.close();
    });
  });
});

function codeOf(error: unknown): string {
  return error instanceof LendstreamError ? error.code : String(error);
}
