import type { KafkaVersion } from '../../scripts/local-cluster/kafka-broker.ts';
import { startCluster, type LocalCluster } from '../../scripts/local-cluster/local-cluster.ts';
import { removeFolder, startService, temporaryFolder, type Service } from './processes/service.ts';

/** The whole product as a client meets it: on one machine, or as several processes on a cluster. */
export interface System {
  /** An address that serves; another one every time where there are several. */
  url(): string;
  /** What can be killed, in the order of {@link killAndRestart}'s turns. */
  readonly parts: readonly string[];
  /** Kills a part without a warning, starts it again and answers its name; the parts take turns. */
  killAndRestart(turn: number): Promise<string>;
  stop(): Promise<void>;
}

export async function startOneMachine(): Promise<System> {
  const folder = await temporaryFolder();
  let service = await startService(folder);
  return {
    url: () => service.url,
    parts: ['the process'],
    async killAndRestart() {
      await service.kill();
      service = await startService(folder);
      return 'the process';
    },
    async stop() {
      await service.stop();
      await removeFolder(folder);
    },
  };
}

/** One process of several, with a folder of its own. */
interface Node {
  readonly name: string;
  readonly environment: Record<string, string>;
  readonly folder: string;
  service: Service;
}

/**
 * Two processes that serve and two that work, on a Kafka and a Redis of their own, so that those can be killed as well.
 */
export async function startSystemOnCluster(kafkaVersion?: KafkaVersion): Promise<System> {
  const cluster = await startCluster(kafkaVersion === undefined ? {} : { kafkaVersion });
  const nodes: Node[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(
      nodes.map(async ({ service, folder }) => {
        await service.stop();
        await removeFolder(folder);
      }),
    );
    await cluster.stop();
  };
  try {
    // The first one creates what the others find.
    nodes.push(await startNode(cluster, 'serve', 1));
    const others = [['serve', 2] as const, ['work', 1] as const, ['work', 2] as const];
    const started = await Promise.allSettled(others.map(([role, number]) => startNode(cluster, role, number)));
    for (const outcome of started) if (outcome.status === 'fulfilled') nodes.push(outcome.value);
    for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;
  } catch (error) {
    await stop();
    throw error;
  }
  const serving = nodes.filter(({ environment }) => environment['ROLES'] === 'serve');
  const servers = [cluster.redis, ...cluster.brokers];
  let asked = 0;
  return {
    url() {
      asked += 1;
      return serving[asked % serving.length]?.service.url ?? '';
    },
    parts: [...nodes, ...servers].map(({ name }) => name),
    async killAndRestart(turn) {
      const node = nodes[turn % (nodes.length + servers.length)];
      if (node !== undefined) {
        await node.service.kill();
        node.service = await startService(node.folder, node.environment);
        return node.name;
      }
      const server = servers[(turn % (nodes.length + servers.length)) - nodes.length] ?? cluster.redis;
      await server.kill();
      await server.start();
      return server.name;
    },
    stop,
  };
}

async function startNode(cluster: LocalCluster, role: 'serve' | 'work', number: number): Promise<Node> {
  const folder = await temporaryFolder();
  const environment = {
    ROLES: role,
    KAFKA_BROKERS: cluster.kafkaBrokers.join(','),
    REDIS_URL: cluster.redisUrl,
    // What the tests kill is missed at once, and every fault makes a line.
    LOG_LEVEL: 'fatal',
  };
  return { name: `${role} ${number}`, environment, folder, service: await startService(folder, environment) };
}
