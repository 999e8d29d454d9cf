import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { EventLog } from '../../src/ports/event-log.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { RedisCoordination, type RedisCoordinationOptions } from '../../src/redis/coordination.ts';
import { KeySpace, shardCount } from '../../src/redis/keys.ts';
import { readScriptSource, type ScriptSource } from '../../src/redis/script-loading.ts';
import { eventually } from '../support/eventually.ts';
import { redisClient } from '../support/processes/redis-server.ts';
import { openPartOfEmbeddedLog } from '../support/shared-embedded-log.ts';

/** Coordinations of several processes, all in this one, on one Redis and one log. */
export interface RedisHarness {
  readonly keyPrefix: string;
  readonly log: EventLog;
  /** Reads and changes the content of Redis without the product. */
  readonly client: Redis;
  /** As another process would. */
  open(options?: Partial<RedisCoordinationOptions>): Promise<RedisCoordination>;
  /** Ages leases, claims, reports of nodes and the time for late commits, as if the clock of Redis had moved on. */
  elapse(milliseconds: number): Promise<void>;
  /** Waits until nothing is left of what a new watcher of a subscription is notified of. */
  untilWatching(subscriptionId: string, told: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** The scripts without their notifications: each one gets lost. */
export const withoutPublishing: ScriptSource = (name) => {
  const source = readScriptSource(name);
  return name === 'common'
    ? source.replace("redis.call('PUBLISH', ARGV[2] .. (subscription or ''), ARGV[3] .. ' ' .. change)", '')
    : source;
};

export async function openRedisHarness(url: string): Promise<RedisHarness> {
  const keyPrefix = `test-${randomUUID().slice(0, 8)}`;
  const log = await openPartOfEmbeddedLog(keyPrefix);
  const client = redisClient(url);
  client.on('error', () => {});
  const opened: RedisCoordination[] = [];
  return {
    keyPrefix,
    log,
    client,
    open: async (options = {}) => {
      const coordination = await RedisCoordination.open({
        redisUrl: url,
        log,
        clock: systemClock,
        logger: silentLogger,
        keyPrefix,
        ...options,
      });
      opened.push(coordination);
      return coordination;
    },
    elapse: (milliseconds) => age(client, new KeySpace(keyPrefix), milliseconds),
    untilWatching: async (subscriptionId, told) => {
      const channel = new KeySpace(keyPrefix).channel(subscriptionId);
      // It comes on the same connection, behind the responses that a watcher is notified of.
      await eventually(async () => (await client.publish(channel, 'somebody reset')) > 0);
      await eventually(() => told.some((line) => line.endsWith('reset')));
    },
    close: async () => {
      await Promise.all(opened.map((coordination) => coordination.close()));
      client.disconnect();
      await log.close();
    },
  };
}

async function age(client: Redis, keys: KeySpace, milliseconds: number): Promise<void> {
  // Without waiting in between: a thousand round trips would take seconds, in which everything ages as well.
  const shards = Array.from({ length: shardCount }, async (_, shard) => {
    const nodes = keys.shardKey(shard, 'nodes');
    const ofShard = (kind: string): string => keys.shardKey(shard, 'shard').replace(/shard$/, `*:${kind}`);
    const [leases, metas, queues] = await Promise.all([
      client.hgetall(nodes),
      client.keys(ofShard('meta')),
      client.keys(ofShard('places')),
    ]);
    await Promise.all([
      ...Object.keys(leases).map((node) => client.hincrby(nodes, node, -milliseconds)),
      // What a closed stream may commit, and how long a place is kept: the third and the second part of the text.
      ...metas.map((meta) => ageFields(client, meta, 2, milliseconds, (field) => field.startsWith('closed/'))),
      ...queues.map((places) => ageFields(client, places, 1, milliseconds, () => true)),
    ]);
  });
  await Promise.all([...shards, ageFields(client, keys.nodeReports(), 0, milliseconds, () => true)]);
  for (const claim of await client.keys(keys.claim('*'))) {
    const remaining = (await client.pttl(claim)) - milliseconds;
    if (remaining > 0) await client.pexpire(claim, remaining);
    else await client.del(claim);
  }
}

async function ageFields(
  client: Redis,
  key: string,
  part: number,
  milliseconds: number,
  isWanted: (field: string) => boolean,
): Promise<void> {
  const fields = Object.entries(await client.hgetall(key)).filter(([field]) => isWanted(field));
  await Promise.all(
    fields.map(([field, encoded]) => {
      const parts = encoded.split('|');
      parts[part] = String(Number(parts[part]) - milliseconds);
      return client.hset(key, field, parts.join('|'));
    }),
  );
}
