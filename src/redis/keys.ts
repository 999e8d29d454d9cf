import type { EventTypePartition } from '../ports/coordination.ts';

/**
 * The keys in Redis. Every subscription belongs to one of {@link shardCount} shards. The name of the shard is the hash
 * tag of all its keys: they lie in one slot of Redis Cluster, so a script sees all that it needs.
 *
 * ```
 * {lendstream:7}:shard              hash   incarnation, floor, refill (see recovery.ts), heardAt, returnUntil
 *                                       (leases.ts), remembersSince
 * {lendstream:7}:nodes              hash   node -> end of its lease, milliseconds of Redis time
 * {lendstream:7}:dirty              hash   subscription/partition -> the offset that the mirror does not hold yet
 * {lendstream:7}:<id>:meta          hash   generation, resetUntil, recoverUntil, closed/partition: what a closed stream
 *                                       may still commit (common.lua)
 * {lendstream:7}:<id>:owners        hash   partition -> state|stream|next|fence|claimed
 * {lendstream:7}:<id>:offsets       hash   partition -> offset@epoch
 * {lendstream:7}:<id>:sessions      hash   stream -> session as JSON
 * {lendstream:7}:<id>:commits       hash   partition -> the last commit, as JSON
 * {lendstream:7}:<id>:ends          list   ended streams, as JSON, the newest first
 * {lendstream:7}:<id>:removed       string epochs below it belong to the subscription that was removed before
 * lendstream:claim:<name>           string origin of the process that holds the claim
 * ```
 * A `partition` is written as one word, `eventType:partition`.
 */

/** The number of shards. Node leases are kept once per shard, so more shards cost more renewals. */
export const shardCount = 16;

export type ShardKeyKind = 'shard' | 'nodes' | 'dirty';
export type KeyKind = ShardKeyKind | 'meta' | 'owners' | 'offsets' | 'sessions' | 'removed' | 'commits' | 'ends';

/** The keys of one subscription, including those of its shard, and the channel on which its changes are published. */
export interface SubscriptionKeys extends Readonly<Record<KeyKind, string>> {
  readonly shardNumber: number;
  readonly channel: string;
}

/** For how many subscriptions the keys are cached. Entries of less than 1 KB. */
const cachedSubscriptionsMaximum = 20_000;

/** The names of all keys and channels under one prefix. */
export class KeySpace {
  readonly #prefix: string;
  /** The keys of shards, mapped to themselves: all subscriptions of a shard share these strings. */
  readonly #shardKeys = new Map<string, string>();
  readonly #cached = new Map<string, SubscriptionKeys>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  shardKey(shard: number, kind: ShardKeyKind): string {
    const key = `{${this.#prefix}:${shard}}:${kind}`;
    const known = this.#shardKeys.get(key);
    if (known === undefined) this.#shardKeys.set(key, key);
    return known ?? key;
  }

  key(subscriptionId: string, kind: KeyKind): string {
    return this.of(subscriptionId)[kind];
  }

  of(subscriptionId: string): SubscriptionKeys {
    const cached = this.#cached.get(subscriptionId);
    if (cached !== undefined) return cached;
    const shardNumber = shardOf(subscriptionId);
    const own = `{${this.#prefix}:${shardNumber}}:${subscriptionId}`;
    const keys = {
      shardNumber,
      channel: this.channel(subscriptionId),
      shard: this.shardKey(shardNumber, 'shard'),
      nodes: this.shardKey(shardNumber, 'nodes'),
      dirty: this.shardKey(shardNumber, 'dirty'),
      meta: `${own}:meta`,
      owners: `${own}:owners`,
      offsets: `${own}:offsets`,
      sessions: `${own}:sessions`,
      removed: `${own}:removed`,
      commits: `${own}:commits`,
      ends: `${own}:ends`,
    };
    if (this.#cached.size >= cachedSubscriptionsMaximum) this.#cached.clear();
    this.#cached.set(subscriptionId, keys);
    return keys;
  }

  claim(name: string): string {
    return `${this.#prefix}:claim:${name}`;
  }

  /** The channel on which changes of a subscription are published. */
  channel(subscriptionId: string): string {
    return `${this.#prefix}:changes:${subscriptionId}`;
  }

  /** The subscription that a channel belongs to. */
  subscriptionOf(channel: string): string {
    return channel.slice(this.channel('').length);
  }

  /** The channel on which a new incarnation of a shard is announced. */
  incarnations(): string {
    return `${this.#prefix}:incarnations`;
  }
}

/** The shard of a subscription, by FNV-1a over UTF-16 units: the same on every node and in every version. */
export function shardOf(subscriptionId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < subscriptionId.length; index += 1) {
    hash = Math.imul(hash ^ subscriptionId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % shardCount;
}

/** How many parsed partition keys are cached. */
const cachedPartitionsMaximum = 10_000;

interface CachedPartition extends EventTypePartition {
  readonly partitionKey: string;
}

/** Partition keys are few and parsed again and again, and thousands of subscriptions may keep the parsed values. */
const cachedPartitions = new Map<string, CachedPartition>();

/** Parses a partition key: the inverse of partitionKey in coordination.ts. */
export function parsePartitionKey(partitionKey: string): EventTypePartition {
  const { eventType, partition } = cachedPartition(partitionKey);
  return { eventType, partition };
}

/** Returns one shared string for all equal partition keys. */
export function internPartitionKey(partitionKey: string): string {
  return cachedPartition(partitionKey).partitionKey;
}

function cachedPartition(partitionKey: string): CachedPartition {
  const known = cachedPartitions.get(partitionKey);
  if (known !== undefined) return known;
  const colon = partitionKey.lastIndexOf(':');
  const parsed = {
    partitionKey,
    eventType: partitionKey.slice(0, colon),
    partition: Number(partitionKey.slice(colon + 1)),
  };
  if (cachedPartitions.size >= cachedPartitionsMaximum) cachedPartitions.clear();
  cachedPartitions.set(partitionKey, parsed);
  return parsed;
}
