import type { KafkaVersion } from '../../scripts/local-cluster/kafka-broker.ts';
import { startCluster, type LocalCluster } from '../../scripts/local-cluster/local-cluster.ts';
import { removeFolder, startService, temporaryFolder, type Service } from './processes/service.ts';

/** The whole product from the outside: on one machine, or as several processes on a cluster. */
export interface System {
  /** A serving address; where there are several, another one each time. */
  url(): string;
  /** The parts that can be killed, in the order of {@link killAndRestart}. */
  readonly parts: readonly string[];
  /** Kills a part without notice, starts it again and returns its name; the parts take turns. */
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

/** One process of several, with its own folder. */
interface Node {
  readonly name: string;
  readonly environment: Record<string, string>;
  readonly folder: string;
  service: Service;
}

/** Two processes that serve and two that work, on their own Kafka and Redis, so that those can be killed too. */
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
    // The tests kill parts, so their absence is expected, and every fault logs a line.
    LOG_LEVEL: 'fatal',
  };
  return { name: `${role} ${number}`, environment, folder, service: await startService(folder, environment) };
}
