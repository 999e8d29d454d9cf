import { after, before, describe, it } from 'mocha';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { RedisConnection } from '../../src/redis/connection.ts';
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
});
