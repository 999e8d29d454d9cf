import { giveWay } from '../clock.ts';
import type { CursorToCommit } from '../ports/coordination.ts';
import { partitionKey } from '../ports/event-type-partition.ts';
import { shardOf, type KeySpace } from './keys.ts';
import type { ShardOfCall } from './script-calls.ts';
import { commitKeys } from './script-loading.ts';

/** Most cursors in one call, unless a single commit has more: Redis does nothing else meanwhile. */
const cursorsPerCall = 200;

/** A commit on its way to Redis. */
interface WaitingCommit {
  readonly subscriptionId: string;
  /** What commit.lua takes for it. */
  readonly values: readonly (string | number)[];
  readonly cursors: number;
  readonly resolve: (reply: readonly string[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits that wait until all calls with those before them have returned. */
interface CallQueue {
  /** In the order in which they came. */
  readonly waitingByShard: Map<number, WaitingCommit[]>;
  isCalling: boolean;
}

/** Commits of one shard that a call takes together. */
interface CommitsOfShard {
  readonly shard: number;
  readonly commits: readonly WaitingCommit[];
  readonly cursors: number;
}

/**
 * Sends commits to Redis. Commits that arrive during a call form the next one, without a timer: a call for a few of
 * them costs Redis and this process hardly more than one for a single commit.
 *
 * One Redis gets the commits of all shards in one call: what a call costs by itself, a commit in it costs once more.
 * The nodes of a cluster have a call for each shard and do not wait for each other.
 */
export class CommitCalls {
  readonly #keys: KeySpace;
  readonly #call: (
    shards: readonly ShardOfCall[],
    values: readonly (string | number)[],
    keysOfSubscriptions: readonly string[],
  ) => Promise<unknown[]>;
  readonly #areShardsTogether: boolean;
  /** By shard, or one for all. */
  readonly #queues = new Map<number, CallQueue>();

  /**
   * @param areShardsTogether Whether all shards are in one Redis.
   * @param call Runs commit.lua and returns its result.
   */
  constructor(
    keys: KeySpace,
    areShardsTogether: boolean,
    call: (
      shards: readonly ShardOfCall[],
      values: readonly (string | number)[],
      keysOfSubscriptions: readonly string[],
    ) => Promise<unknown[]>,
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
    const queue = this.#queueOf(shard);
    return new Promise((resolve, reject) => {
      const commit = { subscriptionId, values, cursors: cursors.length, resolve, reject };
      const waiting = queue.waitingByShard.get(shard);
      if (waiting === undefined) queue.waitingByShard.set(shard, [commit]);
      else waiting.push(commit);
      if (queue.isCalling) return;
      queue.isCalling = true;
      void this.#callWhileAnyWait(queue);
    });
  }

  #queueOf(shard: number): CallQueue {
    const number = this.#areShardsTogether ? 0 : shard;
    let queue = this.#queues.get(number);
    if (queue === undefined) this.#queues.set(number, (queue = { waitingByShard: new Map(), isCalling: false }));
    return queue;
  }

  async #callWhileAnyWait(queue: CallQueue): Promise<void> {
    const { waitingByShard } = queue;
    // Requests that arrived in the same turn of the event loop are read first, and those that the responses set off.
    await giveWay();
    while (waitingByShard.size > 0) {
      await Promise.all(this.#takeForCalls(waitingByShard).map((shards) => this.#settle(shards)));
      await giveWay();
    }
    queue.isCalling = false;
  }

  /** Removes commits of all shards: for each call, what it takes of each of its shards. */
  #takeForCalls(waitingByShard: Map<number, WaitingCommit[]>): CommitsOfShard[][] {
    const calls: CommitsOfShard[][] = [];
    let ofCall: CommitsOfShard[] = [];
    let cursors = 0;
    for (const [shard, waiting] of waitingByShard) {
      const taken = takeForOneCall(shard, waiting);
      if (waiting.length === 0) waitingByShard.delete(shard);
      const isFull = ofCall.length > 0 && (!this.#areShardsTogether || cursors + taken.cursors > cursorsPerCall);
      if (isFull) {
        calls.push(ofCall);
        ofCall = [];
        cursors = 0;
      }
      ofCall.push(taken);
      cursors += taken.cursors;
    }
    calls.push(ofCall);
    return calls;
  }

  /** Settles the commits of a call. Never rejects. */
  async #settle(shards: readonly CommitsOfShard[]): Promise<void> {
    try {
      await this.#callFor(shards);
    } catch (error) {
      for (const { commits } of shards) for (const { reject } of commits) reject(error);
    }
  }

  async #callFor(shards: readonly CommitsOfShard[]): Promise<void> {
    const shardsOfCall: ShardOfCall[] = [];
    const keys: string[] = [];
    const values: (string | number)[] = [];
    const inOrder: WaitingCommit[] = [];
    for (const { shard, commits } of shards) {
      const bySubscription = new Map<string, WaitingCommit[]>();
      for (const commit of commits) {
        const ofSubscription = bySubscription.get(commit.subscriptionId);
        if (ofSubscription === undefined) bySubscription.set(commit.subscriptionId, [commit]);
        else ofSubscription.push(commit);
      }
      shardsOfCall.push({ shard, subscriptions: bySubscription.size });
      for (const [subscriptionId, ofSubscription] of bySubscription) {
        this.#keys.addKeys(keys, shard, subscriptionId, commitKeys);
        values.push(subscriptionId, ofSubscription.length);
        for (const commit of ofSubscription) {
          for (const value of commit.values) values.push(value);
          inOrder.push(commit);
        }
      }
    }
    const replies = await this.#call(shardsOfCall, values, keys);
    for (const [index, { resolve }] of inOrder.entries()) {
      const reply = replies[index + 1] as string | readonly string[];
      resolve(typeof reply === 'string' ? reply.split(' ') : reply);
    }
  }
}

/** Removes the first commits, as many as one call may have, at least one. */
function takeForOneCall(shard: number, waiting: WaitingCommit[]): CommitsOfShard {
  let count = 0;
  let cursors = 0;
  for (const commit of waiting) {
    if (count > 0 && cursors + commit.cursors > cursorsPerCall) break;
    cursors += commit.cursors;
    count += 1;
  }
  return { shard, commits: waiting.splice(0, count), cursors };
}
