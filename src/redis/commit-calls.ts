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

interface ShardQueue {
  readonly waiting: WaitingCommit[];
  isCalling: boolean;
}

/**
 * Sends commits to Redis. One call is under way for each shard. Commits that arrive in the meantime form the next one,
 * without a timer: a call for a few of them costs Redis and this process hardly more than one for a single commit.
 */
export class CommitCalls {
  readonly #keys: KeySpace;
  readonly #call: (
    shard: number,
    values: readonly (string | number)[],
    furtherKeys: readonly string[],
  ) => Promise<unknown[]>;
  readonly #queues = new Map<number, ShardQueue>();

  /** @param call Runs commit.lua and returns its result. */
  constructor(
    keys: KeySpace,
    call: (shard: number, values: readonly (string | number)[], furtherKeys: readonly string[]) => Promise<unknown[]>,
  ) {
    this.#keys = keys;
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
    const queue = this.#queues.get(shard) ?? { waiting: [], isCalling: false };
    this.#queues.set(shard, queue);
    return new Promise((resolve, reject) => {
      queue.waiting.push({ subscriptionId, values, cursors: cursors.length, resolve, reject });
      if (queue.isCalling) return;
      queue.isCalling = true;
      void this.#callWhileAnyWait(shard, queue);
    });
  }

  async #callWhileAnyWait(shard: number, queue: ShardQueue): Promise<void> {
    // Requests that arrived in the same turn of the event loop are read first.
    await giveWay();
    while (queue.waiting.length > 0) {
      const commits = takeForOneCall(queue.waiting);
      try {
        await this.#callFor(shard, commits);
      } catch (error) {
        for (const { reject } of commits) reject(error);
      }
    }
    queue.isCalling = false;
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
