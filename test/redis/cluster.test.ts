import { describeCoordination } from '../contracts/coordination.contract.ts';
import { eventually } from '../support/eventually.ts';
import { redisClient, startRedisServer } from '../support/processes/redis-server.ts';
import { openRedisHarness, withoutPublishing } from './harness.ts';

/** One node that serves all slots: every script must still find all its keys in one of them. */
describeCoordination('Redis Cluster', async () => {
  const server = await startRedisServer('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
  const client = redisClient(server.url);
  await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  while (!((await client.call('CLUSTER', 'INFO')) as string).includes('cluster_state:ok')) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  client.disconnect();
  const harness = await openRedisHarness(server.url);
  const redisUrl = `${server.url},${server.url}`;
  return {
    coordination: await harness.open({ redisUrl }),
    unheard: await harness.open({ redisUrl, scriptSource: withoutPublishing }),
    elapse: (milliseconds) => harness.elapse(milliseconds),
    eventually,
    close: async () => {
      await harness.close();
      await server.stop();
    },
  };
});
