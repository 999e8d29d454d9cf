import { Redis } from 'ioredis';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { RedisCoordination } from '../../src/redis/coordination.ts';
import { startCluster } from '../local-cluster/local-cluster.ts';
import type { RehearsedStore, Usage } from './rehearsal.ts';

/** The stores of a rehearsal. Their mirror of cursors is in an embedded log that does not sync. */

/** Calls `work` with the coordination of one machine. */
export async function withMemory<Result>(work: (store: RehearsedStore) => Promise<Result>): Promise<Result> {
  return await withLog(async (log) => {
    const coordination = await EmbeddedCoordination.open({
      log,
      clock: systemClock,
      logger: silentLogger,
    });
    try {
      return await work({
        coordination,
        clock: systemClock,
        usage: async () => usageOfThisProcess(),
      });
    } finally {
      await coordination.close();
    }
  });
}

/** Calls `work` with the coordination of a cluster, on a Redis of its own. */
export async function withRedis<Result>(
  printLine: (line: string) => void,
  work: (store: RehearsedStore) => Promise<Result>,
): Promise<Result> {
  const cluster = await startCluster({ brokers: 0, printLine });
  const redis = new Redis(cluster.redisUrl);
  try {
    return await withLog(async (log) => {
      const { redisUrl } = cluster;
      const coordination = await RedisCoordination.open({
        redisUrl,
        log,
        clock: systemClock,
        logger: silentLogger,
      });
      try {
        return await work({
          coordination,
          clock: systemClock,
          usage: () => usageOf(redis),
          forget: async () => void (await redis.flushall()),
        });
      } finally {
        await coordination.close();
      }
    });
  } finally {
    redis.disconnect();
    await cluster.stop();
  }
}

async function withLog<Result>(work: (log: EmbeddedLog) => Promise<Result>): Promise<Result> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-size-'));
  try {
    const log = await EmbeddedLog.open({
      dataFolder,
      logger: silentLogger,
      syncsToDisk: false,
    });
    try {
      return await work(log);
    } finally {
      await log.close();
    }
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

function usageOfThisProcess(): Usage {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  return {
    processorMicroseconds: user + system,
    bytes: process.memoryUsage().heapUsed,
  };
}

async function usageOf(redis: Redis): Promise<Usage> {
  const processor = await redis.info('cpu');
  const memory = await redis.info('memory');
  const number = (text: string, name: string): number =>
    Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? Number.NaN);
  const seconds = number(processor, 'used_cpu_user') + number(processor, 'used_cpu_sys');
  return {
    processorMicroseconds: seconds * 1e6,
    bytes: number(memory, 'used_memory'),
  };
}
