import { Redis } from 'ioredis';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type LocalCluster } from '../../scripts/local-cluster/local-cluster.ts';
import type { Server } from '../../scripts/local-cluster/server.ts';
import { systemClock } from '../../src/clock.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { openKafkaGateways } from '../support/kafka/gateways.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import type { EventPosition } from './history.ts';
import { createServiceProcess, type ServiceProcess } from './service-process.ts';
import { targetOf, type SystemUnderTest, type Target } from './system.ts';

export interface ClusterSystemOptions {
  readonly folder: string;
  readonly brokers: 1 | 3;
  readonly printLine: (line: string) => void;
  /** Whether the same processes serve and work, two instead of four. False by default. */
  readonly sharesProcesses?: boolean;
  /** Further settings of every process of the service, as environment variables. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The roles of each process of the service. */
const separateProcesses = [
  { name: 'serve-1', roles: ['serve'] },
  { name: 'serve-2', roles: ['serve'] },
  { name: 'work-1', roles: ['work'] },
  { name: 'work-2', roles: ['work'] },
];
const sharedProcesses = [
  { name: 'serve-1', roles: ['serve', 'work'] },
  { name: 'serve-2', roles: ['serve', 'work'] },
];

/** Two processes that serve and two that work, on their own Kafka and Redis, with a proxy in front of each. */
export async function startClusterSystem({
  folder,
  brokers,
  printLine,
  sharesProcesses = false,
  settings = {},
}: ClusterSystemOptions): Promise<SystemUnderTest> {
  const cluster = await startCluster({ brokers, printLine });
  const gateways = await openKafkaGateways(cluster.kafkaBrokers);
  const redisProxy = await openTcpProxy({ host: '127.0.0.1', port: cluster.redis.port });
  const environment = {
    ...settings,
    KAFKA_BROKERS: gateways.proxies.map(({ host, port }) => `${host}:${port}`).join(','),
    REDIS_URL: `redis://${redisProxy.host}:${redisProxy.port}`,
  };
  const processes = sharesProcesses ? sharedProcesses : separateProcesses;
  const services: ServiceProcess[] = [];
  try {
    for (const { name, roles } of processes) {
      services.push(await createServiceProcess({ name, folder, environment: { ...environment, ROLES: roles.join() } }));
    }
    const [first, ...others] = services;
    // The first one creates what the others find.
    await first?.start();
    await Promise.all(others.map((service) => service.start()));
  } catch (error) {
    await Promise.all(services.map((service) => service.stop()));
    await cluster.stop();
    throw error;
  }
  const namesOf = (role: string): string[] =>
    processes.flatMap(({ name, roles }) => (roles.includes(role) ? [name] : []));
  const serving = services.filter(({ name }) => namesOf('serve').includes(name));
  const brokerNames = cluster.brokers.map((_, index) => `kafka-${index + 1}`);
  const targets = new Map<string, Target>(services.map((service) => [service.name, targetOf(service)]));
  targets.set('redis', serverTarget(cluster.redis, redisProxy));
  for (const [index, broker] of cluster.brokers.entries()) {
    targets.set(`kafka-${index + 1}`, serverTarget(broker, gateways.proxies[index]));
  }
  return {
    shape: {
      serve: namesOf('serve'),
      work: namesOf('work'),
      brokers: brokerNames,
      hasRedis: true,
    },
    description: `${services.length} processes, Kafka ${cluster.kafkaVersion} with ${brokers} broker(s), Redis`,
    nodes: serving.map(({ node }) => node),
    targets,
    services: new Map(services.map((service) => [service.name, service])),
    openLog: () =>
      KafkaLog.open({
        brokers: cluster.kafkaBrokers,
        clientId: 'reader',
        clock: systemClock,
        logger: silentLogger,
      }),
    flush: () => flush(cluster),
    truncate: (eventType) => truncate(cluster, eventType),
    async stop() {
      const inOrder = await Promise.all(services.map((service) => service.stop()));
      await gateways.close();
      await redisProxy.close();
      await cluster.stop();
      return services.flatMap(({ name }, index) => (inOrder[index] === true ? [] : [`${name} did not end in order`]));
    },
  };
}

function serverTarget(server: Server, proxy: TcpProxy | undefined): Target {
  return {
    kill: () => server.kill('SIGKILL'),
    start: () => server.start(),
    pause: () => server.kill('SIGSTOP'),
    resume: () => server.kill('SIGCONT'),
    ...(proxy === undefined ? {} : { proxy }),
  };
}

async function flush({ redisUrl }: LocalCluster): Promise<void> {
  const redis = new Redis(redisUrl);
  await redis.flushall();
  redis.disconnect();
}

const truncateAttemptsMaximum = 20;
const retryMilliseconds = 500;

/**
 * Deletes all current events of the type. A broker may just be restarting, so the request is repeated until it
 * succeeds.
 */
async function truncate({ kafkaBrokers }: LocalCluster, eventType: string): Promise<EventPosition[]> {
  for (let attempt = 1; ; attempt += 1) {
    const admin = new Kafka({ brokers: [...kafkaBrokers], logLevel: logLevel.NOTHING }).admin();
    try {
      await admin.connect();
      return await truncateWith(admin, eventType);
    } catch (error) {
      if (attempt === truncateAttemptsMaximum) throw error;
      await sleep(retryMilliseconds);
    } finally {
      await admin.disconnect();
    }
  }
}

async function truncateWith(admin: Admin, eventType: string): Promise<EventPosition[]> {
  // Also loads the topic's metadata, without which nothing can be deleted.
  const offsets = await admin.fetchTopicOffsets(eventType);
  const partitions = offsets.map(({ partition, high }) => ({ partition, offset: high }));
  await admin.deleteTopicRecords({ topic: eventType, partitions });
  return partitions.map(({ partition, offset }) => ({ eventType, partition, offset: Number(offset) }));
}
