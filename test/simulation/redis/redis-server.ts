import { Redis } from 'ioredis';
import { once } from 'node:events';
import { startRedisServer } from '../../support/processes/redis-server.ts';

/** A real Redis that runs use one after another: it executes the scripts and passes on what they publish. */
export interface RedisForRuns {
  readonly client: Redis;
  /** Gets every message of every channel. */
  readonly subscriber: Redis;
  stop(): Promise<void>;
}

/** Without attempts to connect again and without any limit of time: no timer of the client decides anything. */
const clientOptions = { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: null } as const;

export async function startRedisForRuns(): Promise<RedisForRuns> {
  // Small hashes keep their fields in order. Others have them in the order of a number that each server draws.
  const inOrder = ['--hash-max-listpack-entries', '100000', '--hash-max-listpack-value', '1000000'];
  const server = await startRedisServer('--appendonly', 'no', '--maxmemory-policy', 'noeviction', ...inOrder);
  const client = new Redis(server.url, clientOptions);
  const subscriber = new Redis(server.url, clientOptions);
  try {
    await Promise.all([client.connect(), subscriber.connect()]);
    await subscriber.psubscribe('*');
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    client,
    subscriber,
    stop: async () => {
      const ended = [client, subscriber].map((each) => once(each, 'end'));
      client.disconnect();
      subscriber.disconnect();
      await Promise.all(ended);
      await server.stop();
    },
  };
}
