import { expect } from 'chai';
import { before, it } from 'mocha';
import { call } from '../support/http/client.ts';
import { describeOnCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { openKafkaGateways } from '../support/kafka/gateways.ts';
import { startRedisServer } from '../support/processes/redis-server.ts';
import { removeFolder, startService, temporaryFolder } from '../support/processes/service.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';

/** Ten seconds without a response, the time until a request fails, and a busy machine. */
const noticedWithinMilliseconds = 30_000;

describeOnCluster('a process whose cluster is unreachable', (cluster) => {
  const kinds = ['cut', 'half-open'] as const;
  let outcomes: PromiseSettledResult<void>[] = [];

  /** Both at once, each with a process and proxies of its own: they wait most of the time. */
  before(async function () {
    this.timeout(200_000);
    outcomes = await Promise.allSettled(kinds.map(loseAndRegain));
  });

  for (const [index, kind] of kinds.entries()) {
    it(`is not ready while Redis, then Kafka, is unreachable for long, names which one, and is ready again afterwards: ${kind}`, () => {
      const outcome = outcomes[index];
      if (outcome?.status === 'rejected') throw outcome.reason;
      expect(outcome?.status).to.equal('fulfilled');
    });
  }

  async function loseAndRegain(kind: (typeof kinds)[number]): Promise<void> {
    const folder = await temporaryFolder();
    const server = await startRedisServer();
    const redis = await openTcpProxy({ host: '127.0.0.1', port: server.port });
    const kafka = await openKafkaGateways(cluster().kafkaBrokers);
    const service = await startService(folder, {
      KAFKA_BROKERS: kafka.proxies.map(({ host, port }) => `${host}:${port}`).join(','),
      REDIS_URL: `redis://${redis.host}:${redis.port}`,
      LOG_LEVEL: 'silent',
    });
    const isReady = async (): Promise<boolean> => (await call(`${service.url}/ready`, 'GET')).status === 200;
    const partsNotReady = async (): Promise<string[]> => {
      const health = await fetch(`${service.url}/health`, { headers: { accept: 'application/json' } });
      const { parts } = (await health.json()) as { parts: { name: string; ready: boolean }[] };
      return parts.filter(({ ready }) => !ready).map(({ name }) => name);
    };
    try {
      expect(await isReady()).to.equal(true);
      redis.setMode({ kind });
      expect(await isReady(), 'a moment proves nothing').to.equal(true);
      await eventually(async () => !(await isReady()), noticedWithinMilliseconds);
      expect(await partsNotReady()).to.deep.equal(['coordination']);
      redis.setMode({ kind: 'pass' });
      await eventually(isReady, noticedWithinMilliseconds);

      for (const proxy of kafka.proxies) proxy.setMode({ kind });
      await eventually(async () => (await partsNotReady()).includes('log'), noticedWithinMilliseconds);
      for (const proxy of kafka.proxies) proxy.setMode({ kind: 'pass' });
      await eventually(isReady, noticedWithinMilliseconds);
    } finally {
      await service.kill();
      await kafka.close();
      await redis.close();
      await server.stop();
      await removeFolder(folder);
    }
  }
});
