/**
 * The keys in Redis. Every subscription belongs to one of {@link shardCount} shards. The name of the shard is the hash
 * tag of all its keys: they lie in one slot of Redis Cluster, so a script sees all that it needs.
 *
 * ```
 * {lendstream:7}:shard              hash   incarnation, floor, refill, recoverUntil (see recovery.ts), heardAt,
 *                                       returnUntil (node-leases.ts), remembersSince, changes (shard-state.lua)
 * {lendstream:7}:nodes              hash   node -> end of its lease, milliseconds of Redis time
 * {lendstream:7}:dirty              hash   subscription/partition -> the offset that the mirror does not hold yet
 * {lendstream:7}:<id>:meta          hash   generation, resetUntil, resetBy, refilled (once a refill restored it),
 *                                       closed/partition: what a closed stream may still commit (common.lua),
 *                                       beats/stream: its heart-beats
 * {lendstream:7}:<id>:owners        hash   partition -> state|stream|next|fence, and the failure record (common.lua)
 * {lendstream:7}:<id>:offsets       hash   partition -> offset@epoch
 * {lendstream:7}:<id>:sessions      hash   stream -> session as JSON
 * {lendstream:7}:<id>:places        hash   stream that waits for a slot -> since|until|node, microseconds and
 *                                       milliseconds of Redis time
 * {lendstream:7}:<id>:commits       hash   partition -> the last commit, as JSON
 * {lendstream:7}:<id>:ends          list   ended streams, as JSON, the newest first
 * {lendstream:7}:<type created>:ids zset   id of a published event -> its score, see scripts/published-ids/claim.lua
 * {lendstream:7}:<id>:removed       string epochs below it belong to the subscription that was removed before
 * lendstream:claim:<name>           string origin of the process that holds the claim
 * lendstream:node-reports           hash   node -> milliseconds of Redis time, |, what it said of itself then, as JSON
 * ```
 * A `partition` is written as one word, `eventType:partition`.
 */

/** The number of shards. Node leases are kept once per shard, so more shards make renewals larger. */
export const shardCount = 16;

/** The numbers of the shards, in their order. */
export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

export type ShardKeyKind = 'shard' | 'nodes' | 'dirty';
export type KeyKind =
  | ShardKeyKind
  | 'meta'
  | 'owners'
  | 'offsets'
  | 'sessions'
  | 'places'
  | 'removed'
  | 'commits'
  | 'ends'
  | 'ids';

/** The names of all keys and channels under one prefix. */
export class KeySpace {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  shardKey(shard: number, kind: ShardKeyKind): string {
    return `{${this.#prefix}:${shard}}:${kind}`;
  }

  /** A key that a script on this subscription uses: its own, or that of its shard. */
  key(subscriptionId: string, kind: KeyKind): string {
    const shard = shardOf(subscriptionId);
    if (isShardKey(kind)) return this.shardKey(shard, kind);
    return this.#prefixOf(shard, subscriptionId) + kind;
  }

  /** Adds the keys of a subscription of these kinds, in their order. */
  addKeys(
    keys: string[],
    shard: number,
    subscriptionId: string,
    kinds: readonly Exclude<KeyKind, ShardKeyKind>[],
  ): void {
    const prefix = this.#prefixOf(shard, subscriptionId);
    for (const kind of kinds) keys.push(prefix + kind);
  }

  #prefixOf(shard: number, subscriptionId: string): string {
    return `{${this.#prefix}:${shard}}:${subscriptionId}:`;
  }

  claim(name: string): string {
    return `${this.#prefix}:claim:${name}`;
  }

  /** What all nodes say of themselves: one key, so that one script sees all of them. */
  nodeReports(): string {
    return `${this.#prefix}:node-reports`;
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

function isShardKey(kind: KeyKind): kind is ShardKeyKind {
  return kind === 'shard' || kind === 'nodes' || kind === 'dirty';
}

/** The shard of a subscription, by FNV-1a over UTF-16 units: the same on every node and in every version. */
export function shardOf(subscriptionId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < subscriptionId.length; index += 1) {
    hash = Math.imul(hash ^ subscriptionId.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % shardCount;
}
