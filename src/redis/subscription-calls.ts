import { giveWay } from '../clock.ts';
import { shardOf, type KeyKind, type KeySpace } from './keys.ts';

export interface SubscriptionCallsOptions<Reply> {
  readonly keys: KeySpace;
  /** The keys of each subscription that the script takes. */
  readonly kinds: readonly KeyKind[];
  /** Most subscriptions in one call: Redis does nothing else meanwhile. */
  readonly subscriptionsPerCall: number;
  /** Runs the script on a shard. Its result is a word, and then a reply for each subscription. */
  readonly call: (
    shard: number,
    keysOfSubscriptions: readonly string[],
    valuesOfSubscriptions: readonly (string | number)[],
  ) => Promise<unknown[]>;
  /** Of a subscription that the result says nothing about. */
  readonly none: Reply;
}

/** A call that is about to be made. */
interface NextCall<Reply> {
  count: number;
  readonly keys: string[];
  readonly values: (string | number)[];
  readonly replies: Promise<readonly Reply[]>;
}

/**
 * Calls a script for subscriptions. All that is asked for in the same turn of the event loop shares one call for each
 * shard: a call for each of a hundred thousand subscriptions would take as many times longer. This is how all streams
 * of a process read again after Redis was lost, or when their timers are over together after it was out of reach.
 */
export class SubscriptionCalls<Reply> {
  readonly #options: SubscriptionCallsOptions<Reply>;
  readonly #nextCalls = new Map<number, NextCall<Reply>>();

  constructor(options: SubscriptionCallsOptions<Reply>) {
    this.#options = options;
  }

  /**
   * The reply for a subscription.
   * @param values What the script takes for it.
   * @throws what the call throws
   */
  async of(subscriptionId: string, values: readonly (string | number)[] = []): Promise<Reply> {
    const { keys, kinds, subscriptionsPerCall, none } = this.#options;
    const shard = shardOf(subscriptionId);
    const next = this.#nextCalls.get(shard) ?? this.#begin(shard);
    const index = next.count;
    next.count += 1;
    for (const kind of kinds) next.keys.push(keys.key(subscriptionId, kind));
    next.values.push(...values);
    if (next.count === subscriptionsPerCall) this.#nextCalls.delete(shard);
    return (await next.replies)[index] ?? none;
  }

  #begin(shard: number): NextCall<Reply> {
    const keys: string[] = [];
    const values: (string | number)[] = [];
    const replies = giveWay().then(async () => {
      if (this.#nextCalls.get(shard) === next) this.#nextCalls.delete(shard);
      const [, ...found] = await this.#options.call(shard, keys, values);
      return found as Reply[];
    });
    const next = { count: 0, keys, values, replies };
    this.#nextCalls.set(shard, next);
    return next;
  }
}
