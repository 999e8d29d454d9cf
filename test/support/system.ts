import { startCluster } from '../../scripts/local-cluster/local-cluster.ts';
import { openClusterAlone, type ClusterAlone } from './clusters/cluster-alone.ts';
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

type Role = 'serve' | 'work';

/** One process of several, with its own folder. */
interface Node {
  readonly name: string;
  readonly environment: Record<string, string>;
  readonly folder: string;
  service: Service;
}

export interface ClusterSystemOptions {
  /** host:port of each broker of a Kafka that no other file uses for the service; without it the one of this run. */
  readonly kafkaBrokers?: readonly string[];
  /** The role of each process; the first one serves. */
  readonly roles: readonly Role[];
}

/** Processes on a Kafka that no other process of the service uses, and on their own Redis, which can be killed too. */
export async function startSystemOnCluster({ kafkaBrokers: given, roles }: ClusterSystemOptions): Promise<System> {
  const cluster = given === undefined ? await openClusterAlone() : await openRedisBeside(given);
  const settings = { KAFKA_BROKERS: cluster.kafkaBrokers.join(','), REDIS_URL: cluster.redisUrl };
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
    const [first, ...others] = roles.map((role, at) => ({
      role,
      number: roles.slice(0, at + 1).filter((each) => each === role).length,
    }));
    if (first === undefined) throw new Error('A system needs processes');
    // The first one creates what the others find.
    nodes.push(await startNode(settings, first.role, first.number));
    const started = await Promise.allSettled(others.map(({ role, number }) => startNode(settings, role, number)));
    for (const outcome of started) if (outcome.status === 'fulfilled') nodes.push(outcome.value);
    for (const outcome of started) if (outcome.status === 'rejected') throw outcome.reason;
  } catch (error) {
    await stop();
    throw error;
  }
  const serving = nodes.filter(({ environment }) => environment['ROLES'] === 'serve');
  let asked = 0;
  return {
    url() {
      asked += 1;
      return serving[asked % serving.length]?.service.url ?? '';
    },
    parts: [...nodes, cluster.redis].map(({ name }) => name),
    async killAndRestart(turn) {
      const node = nodes[turn % (nodes.length + 1)];
      if (node !== undefined) {
        await node.service.kill();
        node.service = await startService(node.folder, node.environment);
        return node.name;
      }
      await cluster.redis.kill();
      await cluster.redis.start();
      return cluster.redis.name;
    },
    stop,
  };
}

async function openRedisBeside(kafkaBrokers: readonly string[]): Promise<ClusterAlone> {
  const started = await startCluster({ brokers: 0 });
  return { kafkaBrokers, redis: started.redis, redisUrl: started.redisUrl, stop: () => started.stop() };
}

async function startNode(settings: Readonly<Record<string, string>>, role: Role, number: number): Promise<Node> {
  const folder = await temporaryFolder();
  const environment = {
    ...settings,
    ROLES: role,
    // The tests kill parts, so their absence is expected, and every fault logs a line.
    LOG_LEVEL: 'fatal',
  };
  return { name: `${role} ${number}`, environment, folder, service: await startService(folder, environment) };
}
