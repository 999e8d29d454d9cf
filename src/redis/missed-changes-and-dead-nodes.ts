import { missedChangesMillisecondsMaximum } from '../ports/coordination.ts';
import { after, type Clock, type Random, type Timer } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { ChangeListeners } from './change-listeners.ts';
import { shardOf, type KeySpace } from './keys.ts';
import type { NodeLeases } from './node-leases.ts';
import type { RecoveringCalls, ShardState } from './recovering-calls.ts';

/**
 * How often a process checks the subscriptions that are watched in it. The rest of the allowed time is for the checks
 * themselves. Milliseconds.
 */
const roundIntervalMilliseconds = missedChangesMillisecondsMaximum * 0.75;

/**
 * Pauses vary by this share in either direction, so that processes that started together do not send their calls
 * together for ever.
 */
const jitterShare = 0.1;

/** How many subscriptions one script checks: Redis serves no other call during a script. About 5 microseconds each. */
const subscriptionsPerCall = 100;

/**
 * How often the watched subscriptions of a shard are checked although nothing there was counted as a change: a process
 * of an earlier version, which shares this Redis during an upgrade, does not count its changes. Milliseconds.
 */
const uncountedChangesMilliseconds = 30_000;

/** A round that begins late by more than this counts as slept through. Milliseconds. */
const sleepThresholdMilliseconds = 1_000;

export interface MissedChangesOptions {
  readonly listeners: ChangeListeners;
  readonly keys: KeySpace;
  readonly calls: RecoveringCalls;
  readonly leases: NodeLeases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: Random;
}

/** The state of a shard before its last check. */
interface CheckedShard {
  readonly incarnation: string;
  /** Undefined when that check may not have found everything. */
  readonly changes: string | undefined;
  /** When the next one is due in any case. Monotonic milliseconds. */
  readonly until: number;
}

/** When a round is due, on a clock that stops while the machine sleeps and on one that does not. */
interface DueTime {
  readonly monotonic: number;
  readonly now: number;
}

/**
 * Regularly checks everything that is watched in this process, for two things that no notification reports: that one
 * was lost, and that a node has died. A call for all shards, in a Redis Cluster one for each, finds out whether
 * anything there has changed since the last round; only then the watched subscriptions of a shard are checked, a
 * hundred in a call.
 */
export class MissedChanges {
  readonly #options: MissedChangesOptions;
  #timer: Timer | undefined;
  #isStopped = false;
  readonly #checked = new Map<number, CheckedShard>();
  #watchedByShard: ReadonlyMap<number, readonly string[]> = new Map();
  /** The revision of the listeners for which that was sorted. */
  #sortedRevision: number | undefined;
  /**
   * Whether the store could not be reached. Leases may then have ended although their nodes are alive and could not
   * renew them.
   */
  #wasUnreachable = false;

  constructor(options: MissedChangesOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, random } = this.#options;
    if (this.#isStopped) return;
    const delay = roundIntervalMilliseconds * (1 - jitterShare + 2 * jitterShare * random());
    const dueAt = { monotonic: clock.monotonic() + delay, now: clock.now() + delay };
    this.#timer = after(clock, delay, () => void this.#round(dueAt));
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #round(dueAt: DueTime): Promise<void> {
    const { listeners, leases, calls, logger } = this.#options;
    // The leases of this process come first, see node-leases.ts. After a sleep of the machine this round closes no
    // sessions: leases are about to be renewed, before the next round.
    const mayClose = !this.#hasSlept(dueAt);
    try {
      if (this.#wasUnreachable) await leases.renewAll();
      else await leases.renewOverdue();
      this.#wasUnreachable = false;
      for (const subscriptionId of listeners.takeAdded()) this.#checked.delete(shardOf(subscriptionId));
      const watched = [...this.#watchedOfShards()];
      const states = await calls.shardStates(watched.map(([shard]) => shard));
      for (const [index, [shard, subscriptions]] of watched.entries()) {
        await this.#checkShard(shard, subscriptions, states[index] as ShardState, mayClose);
      }
    } catch (error) {
      // Watchers that check now find that the store is unreachable, and count no time against their consumers.
      if (!this.#wasUnreachable && !this.#isStopped) listeners.notifyAll();
      this.#wasUnreachable = true;
      logger.debug(
        { error: describeError(error) },
        'Checking the watched subscriptions failed; the next round retries',
      );
    }
    this.start();
  }

  #hasSlept(dueAt: DueTime): boolean {
    const { clock } = this.#options;
    const delayMilliseconds = Math.max(clock.monotonic() - dueAt.monotonic, clock.now() - dueAt.now);
    return delayMilliseconds > sleepThresholdMilliseconds;
  }

  /** Sorted again only when other subscriptions are watched. */
  #watchedOfShards(): ReadonlyMap<number, readonly string[]> {
    const { revision } = this.#options.listeners;
    if (revision !== this.#sortedRevision) this.#watchedByShard = this.#sortByShard();
    this.#sortedRevision = revision;
    return this.#watchedByShard;
  }

  #sortByShard(): Map<number, string[]> {
    const byShard = new Map<number, string[]>();
    for (const subscriptionId of this.#options.listeners.subscriptions()) {
      const shard = shardOf(subscriptionId);
      const subscriptions = byShard.get(shard);
      if (subscriptions === undefined) byShard.set(shard, [subscriptionId]);
      else subscriptions.push(subscriptionId);
    }
    return byShard;
  }

  /** Checks the watched subscriptions of a shard, unless nothing has changed since that was last done. */
  async #checkShard(
    shard: number,
    subscriptions: readonly string[],
    state: ShardState,
    mayClose: boolean,
  ): Promise<void> {
    const checked = this.#checked.get(shard);
    const now = this.#options.clock.monotonic();
    const isKnown = checked?.incarnation === state.incarnation;
    const isCurrent = isKnown && checked.changes === state.changes && now < checked.until;
    if (isCurrent && !state.isUnsettled) return;
    this.#checked.delete(shard);
    for (let start = 0; start < subscriptions.length; start += subscriptionsPerCall) {
      await this.#check(shard, subscriptions.slice(start, start + subscriptionsPerCall), mayClose);
    }
    // Right after a loss, or when sessions may not be closed yet, a check does not find everything.
    const isComplete = isKnown && mayClose && !state.isUnsettled;
    this.#checked.set(shard, {
      incarnation: state.incarnation,
      changes: isComplete ? state.changes : undefined,
      until: now + uncountedChangesMilliseconds,
    });
  }

  async #check(shard: number, subscriptions: readonly string[], mayClose: boolean): Promise<void> {
    const { listeners, keys, calls, leases } = this.#options;
    const values = [mayClose ? '1' : '0', ...leases.nodes(), ...subscriptions];
    const furtherKeys = subscriptions.flatMap((id) => [
      keys.key(id, 'meta'),
      keys.key(id, 'owners'),
      keys.key(id, 'sessions'),
    ]);
    const [, ...generations] = await calls.checkWatched(shard, values, furtherKeys);
    for (const [index, subscriptionId] of subscriptions.entries()) {
      listeners.notifyGeneration(subscriptionId, Number(generations[index]));
    }
  }
}
