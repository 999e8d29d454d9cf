import type { EventTypePartition } from '../broker/coordination.ts';

/**
 * Where things lie in Redis. Every subscription belongs to one of {@link shardCount} shards, whose name is the hash tag
 * of all its keys: one slot of Redis Cluster, so that a script sees all it needs.
 *
 * ```
 * {lendstream:7}:shard              hash   incarnation, floor, refill (see recovery.ts)
 * {lendstream:7}:nodes              hash   node -> end of its lease, milliseconds of Redis time
 * {lendstream:7}:dirty              hash   subscription/place -> what the mirror does not hold yet
 * {lendstream:7}:<id>:meta          hash   generation, resetUntil, recoverUntil
 * {lendstream:7}:<id>:owners        hash   place -> state|stream|next|fence|claimed
 * {lendstream:7}:<id>:offsets       hash   place -> offset@epoch
 * {lendstream:7}:<id>:sessions      hash   stream -> session as JSON
 * lendstream:claim:<name>           string whose it is
 * ```
 * A place is a partition in one word, `eventType:partition`.
 */

/** How many shards there are. Node leases are kept once per shard, so more of them cost more renewals. */
export const shardCount = 16;

const shardKinds = ['shard', 'nodes', 'dirty'] as const;
const subscriptionKinds = ['meta', 'owners', 'offsets', 'sessions'] as const;

export type ShardKeyKind = (typeof shardKinds)[number];
export type KeyKind = ShardKeyKind | (typeof subscriptionKinds)[number];

export class KeySpace {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  shardKey(shard: number, kind: ShardKeyKind): string {
    return `{${this.#prefix}:${shard}}:${kind}`;
  }

  key(subscriptionId: string, kind: KeyKind): string {
    const shard = shardOf(subscriptionId);
    if (kind === 'shard' || kind === 'nodes' || kind === 'dirty') return this.shardKey(shard, kind);
    return `{${this.#prefix}:${shard}}:${subscriptionId}:${kind}`;
  }

  claim(name: string): string {
    return `${this.#prefix}:claim:${name}`;
  }

  /** The channel that changes of a subscription are told on. */
  channel(subscriptionId: string): string {
    return `${this.#prefix}:changes:${subscriptionId}`;
  }

  /** The subscription whose channel this is. */
  subscriptionOf(channel: string): string {
    return channel.slice(this.channel('').length);
  }

  /** The channel on which a new incarnation of a shard is announced. */
  incarnations(): string {
    return `${this.#prefix}:incarnations`;
  }
}

/** FNV-1a over UTF-16 units: the same shard on every node and in every version. */
export function shardOf(subscriptionId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < subscriptionId.length; index += 1) {
    hash = Math.imul(hash ^ subscriptionId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % shardCount;
}

/** The inverse of partitionKey in coordination.ts. */
export function parsePlace(place: string): EventTypePartition {
  const colon = place.lastIndexOf(':');
  return { eventType: place.slice(0, colon), partition: Number(place.slice(colon + 1)) };
}
