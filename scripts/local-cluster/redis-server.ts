import type { Redis as RedisClient } from 'ioredis';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';
import type { ServerProgram } from './server.ts';

const connectMillisecondsMaximum = 500;

async function query<Reply>(port: number, command: (redis: RedisClient) => Promise<Reply>): Promise<Reply> {
  // Takes a tenth of a second, and most programs that know this one start no Redis.
  const { Redis } = await import('ioredis');
  const redis = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    connectTimeout: connectMillisecondsMaximum,
    commandTimeout: connectMillisecondsMaximum,
    retryStrategy: () => null,
  });
  // The promises below report every failure as well.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const reply = await command(redis);
    await redis.quit();
    return reply;
  } catch (error) {
    if (redis.status !== 'end' && redis.status !== 'close') redis.disconnect();
    throw error;
  }
}

/**
 * How to prepare, start and probe one Redis.
 * @param primaryPort the Redis that this one is a replica of
 */
export function redisProgram(name: string, folder: string, port: number, primaryPort?: number): ServerProgram {
  return {
    name,
    port,
    logFile: join(folder, 'output.log'),
    command: [
      'redis-server',
      join(packageRoot, 'scripts/redis/redis.conf'),
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--dir',
      folder,
      ...(primaryPort === undefined ? [] : ['--replicaof', `127.0.0.1 ${primaryPort}`]),
    ],
    prepare: async () => {
      await mkdir(folder, { recursive: true });
    },
    probe: () =>
      query(port, async (redis) => {
        await redis.ping();
        const replication = await redis.info('replication');
        if (replication.includes('master_link_status:down')) throw new Error('The replica has not caught up yet');
      }),
  };
}
