import { giveWay } from '../clock.ts';
import type { CursorToCommit } from '../ports/coordination.ts';
import { partitionKey } from '../ports/event-type-partition.ts';
import { shardOf, type KeySpace } from './keys.ts';
import { commitKeys } from './script-loading.ts';

/** Most cursors in one call, unless a single commit has more: Redis does nothing else meanwhile. */
export const cursorsPerCall = 200;

/** A commit on its way to Redis. */
interface WaitingCommit {
  readonly subscriptionId: string;
  /** What commit.lua takes for it. */
  readonly values: readonly (string | number)[];
  readonly cursors: number;
  readonly resolve: (reply: readonly string[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls of which the next ones wait until all have returned. */
interface Lane {
  /** In the order in which they came. */
  readonly waitingByShard: Map<number, WaitingCommit[]>;
  isCalling: boolean;
}

/**
 * Sends commits to Redis. One call is under way for each shard. Commits that arrive in the meantime form the next one,
 * without a timer: a call for a few of them costs Redis and this process hardly more than one for a single commit.
 *
 * One Redis gets the calls of all shards together, and the next ones when it has answered all: what both sides write
 * and read costs more than what Redis does. The nodes of a cluster do not wait for each other.
 */
export class CommitCalls {
  readonly #keys: KeySpace;
  readonly #call: (
    shard: number,
    values: readonly (string | number)[],
    furtherKeys: readonly string[],
  ) => Promise<unknown[]>;
  readonly #areShardsTogether: boolean;
  /** By shard, or one for all. */
  readonly #lanes = new Map<number, Lane>();

  /**
   * @param areShardsTogether Whether all shards are in one Redis.
   * @param call Runs commit.lua and returns its result.
   */
  constructor(
    keys: KeySpace,
    areShardsTogether: boolean,
    call: (shard: number, values: readonly (string | number)[], furtherKeys: readonly string[]) => Promise<unknown[]>,
  ) {
    this.#keys = keys;
    this.#areShardsTogether = areShardsTogether;
    this.#call = call;
  }

  /**
   * The reply of commit.lua to one commit.
   * @param isOpenHere Whether its stream is open on this process, so that no other one has to be notified.
   * @throws what the call throws
   */
  commit(
    subscriptionId: string,
    streamId: string,
    cursors: readonly CursorToCommit[],
    isOpenHere: boolean,
  ): Promise<readonly string[]> {
    const values: (string | number)[] = [streamId, isOpenHere ? '0' : '1', cursors.length];
    for (const cursor of cursors) values.push(partitionKey(cursor), cursor.fence ?? '', cursor.offset);
    const shard = shardOf(subscriptionId);
    const lane = this.#laneOf(shard);
    return new Promise((resolve, reject) => {
      const commit = { subscriptionId, values, cursors: cursors.length, resolve, reject };
      const waiting = lane.waitingByShard.get(shard);
      if (waiting === undefined) lane.waitingByShard.set(shard, [commit]);
      else waiting.push(commit);
      if (lane.isCalling) return;
      lane.isCalling = true;
      void this.#callWhileAnyWait(lane);
    });
  }

  #laneOf(shard: number): Lane {
    const number = this.#areShardsTogether ? 0 : shard;
    let lane = this.#lanes.get(number);
    if (lane === undefined) this.#lanes.set(number, (lane = { waitingByShard: new Map(), isCalling: false }));
    return lane;
  }

  async #callWhileAnyWait(lane: Lane): Promise<void> {
    const { waitingByShard } = lane;
    // Requests that arrived in the same turn of the event loop are read first, and those that the responses set off.
    await giveWay();
    while (waitingByShard.size > 0) {
      const calls: Promise<void>[] = [];
      for (const [shard, waiting] of waitingByShard) {
        calls.push(this.#settle(shard, takeForOneCall(waiting)));
        if (waiting.length === 0) waitingByShard.delete(shard);
      }
      await Promise.all(calls);
      await giveWay();
    }
    lane.isCalling = false;
  }

  /** Settles commits of a shard. Never rejects. */
  async #settle(shard: number, commits: readonly WaitingCommit[]): Promise<void> {
    try {
      await this.#callFor(shard, commits);
    } catch (error) {
      for (const { reject } of commits) reject(error);
    }
  }

  async #callFor(shard: number, commits: readonly WaitingCommit[]): Promise<void> {
    const bySubscription = new Map<string, WaitingCommit[]>();
    for (const commit of commits) {
      const ofSubscription = bySubscription.get(commit.subscriptionId);
      if (ofSubscription === undefined) bySubscription.set(commit.subscriptionId, [commit]);
      else ofSubscription.push(commit);
    }
    const keys: string[] = [];
    const values: (string | number)[] = [];
    for (const [subscriptionId, ofSubscription] of bySubscription) {
      for (const kind of commitKeys) keys.push(this.#keys.key(subscriptionId, kind));
      values.push(subscriptionId, ofSubscription.length);
      for (const commit of ofSubscription) for (const value of commit.values) values.push(value);
    }
    const [, ...replies] = await this.#call(shard, values, keys);
    let index = 0;
    for (const ofSubscription of bySubscription.values()) {
      for (const { resolve } of ofSubscription) resolve(replies[index++] as string[]);
    }
  }
}

/** Removes the first commits, as many as one call may have, at least one. */
function takeForOneCall(waiting: WaitingCommit[]): WaitingCommit[] {
  let count = 0;
  let cursors = 0;
  for (const commit of waiting) {
    cursors += commit.cursors;
    if (count > 0 && cursors > cursorsPerCall) break;
    count += 1;
  }
  return waiting.splice(0, count);
}
