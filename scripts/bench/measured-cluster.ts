import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../local-cluster/local-cluster.ts';
import { startMeasuredService, type MeasuredService } from './measured-service.ts';

/** A Kafka and a Redis for the benchmark alone, and processes of the service on them. */
export interface MeasuredCluster {
  readonly brokers: readonly string[];
  readonly redisUrl: string;
  /** The process id of Redis, another one after {@link loseRedis}. */
  readonly redisProcessId: number;
  /** Ends Redis by SIGKILL, removes its data and starts it again. */
  loseRedis(): Promise<void>;
  /** Starts a process of the service with a data folder of its own. */
  startService(environment?: Record<string, string>): Promise<MeasuredService>;
  createTopics(names: readonly string[], partitionCount: number, configuration?: Record<string, string>): Promise<void>;
  /** The offset of the next record of each partition, by partition. */
  ends(topic: string): Promise<number[]>;
  stop(): Promise<void>;
}

/** Starts one Kafka broker and one Redis that syncs every second. @throws as {@link startCluster} */
export async function startMeasuredCluster(
  printLine: (line: string) => void,
  profileFolder: string | undefined,
): Promise<MeasuredCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'lendstream-bench-'));
  const cluster = await startCluster({ printLine });
  await syncEverySecond(cluster.redisUrl);
  const kafka = new Kafka({ clientId: 'bench', brokers: [...cluster.kafkaBrokers], logLevel: logLevel.ERROR });
  const admin = kafka.admin();
  await admin.connect();
  const services = new Set<MeasuredService>();
  let started = 0;
  return {
    brokers: cluster.kafkaBrokers,
    redisUrl: cluster.redisUrl,
    get redisProcessId() {
      return cluster.redis.process?.pid ?? 0;
    },
    async loseRedis() {
      const dataFolder = await dataFolderOf(cluster.redisUrl);
      await cluster.redis.kill();
      await rm(dataFolder, { recursive: true, force: true });
      await cluster.redis.start();
      await syncEverySecond(cluster.redisUrl);
    },
    async startService(environment = {}) {
      started += 1;
      const service = await startMeasuredService(
        {
          KAFKA_BROKERS: cluster.kafkaBrokers.join(','),
          REDIS_URL: cluster.redisUrl,
          DATA_DIR: join(folder, `service-${started}`),
          ...environment,
        },
        profileFolder,
      );
      services.add(service);
      return {
        ...service,
        async stop() {
          services.delete(service);
          await service.stop();
        },
      };
    },
    async createTopics(names, partitionCount, configuration = {}) {
      const configEntries = Object.entries(configuration).map(([name, value]) => ({ name, value }));
      const topics = names.map((topic) => ({ topic, numPartitions: partitionCount, configEntries }));
      await admin.createTopics({ topics, waitForLeaders: true });
    },
    async ends(topic) {
      const offsets: number[] = [];
      for (const { partition, high } of await admin.fetchTopicOffsets(topic)) offsets[partition] = Number(high);
      return offsets;
    },
    async stop() {
      await Promise.all([...services].map((service) => service.stop()));
      await admin.disconnect();
      await cluster.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The setting the targets are for; the cluster of scripts/cluster syncs each write. */
async function syncEverySecond(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.config('SET', 'appendfsync', 'everysec');
  await redis.quit();
}

async function dataFolderOf(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl);
  const [, folder = ''] = await redis.config('GET', 'dir');
  await redis.quit();
  return folder;
}
