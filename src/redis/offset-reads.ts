import { shardOf, type KeySpace } from './keys.ts';

/** Most subscriptions in one call: Redis does nothing else meanwhile. */
export const subscriptionsPerRead = 500;

/** A call that is about to be made. */
interface NextCall {
  readonly offsetKeys: string[];
  readonly fields: Promise<readonly (readonly string[])[]>;
}

/**
 * Reads the committed offsets of subscriptions. Reads that begin together, before anything else happens, share one call
 * for each shard: a call for each of a hundred thousand subscriptions would take as many times longer.
 */
export class OffsetReads {
  readonly #keys: KeySpace;
  readonly #call: (shard: number, offsetKeys: readonly string[]) => Promise<unknown[]>;
  readonly #nextCalls = new Map<number, NextCall>();

  /** @param call Runs committed-offsets.lua and returns its result. */
  constructor(keys: KeySpace, call: (shard: number, offsetKeys: readonly string[]) => Promise<unknown[]>) {
    this.#keys = keys;
    this.#call = call;
  }

  /**
   * The offsets of a subscription as fields and values in turn.
   * @throws what the call throws
   */
  async read(subscriptionId: string): Promise<readonly string[]> {
    const shard = shardOf(subscriptionId);
    const next = this.#nextCalls.get(shard) ?? this.#begin(shard);
    const index = next.offsetKeys.push(this.#keys.key(subscriptionId, 'offsets')) - 1;
    if (next.offsetKeys.length === subscriptionsPerRead) this.#nextCalls.delete(shard);
    return (await next.fields)[index] ?? [];
  }

  #begin(shard: number): NextCall {
    const offsetKeys: string[] = [];
    const fields = Promise.resolve().then(async () => {
      if (this.#nextCalls.get(shard) === next) this.#nextCalls.delete(shard);
      const [, ...found] = await this.#call(shard, offsetKeys);
      return found as (readonly string[])[];
    });
    const next = { offsetKeys, fields };
    this.#nextCalls.set(shard, next);
    return next;
  }
}
