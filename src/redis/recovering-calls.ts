import { LendstreamError } from '../errors.ts';
import type { Recovery } from './recovery.ts';
import type { ScriptName } from './script-loading.ts';
import { allShards } from './keys.ts';
import type { ScriptCalls } from './script-calls.ts';

/** How often one call recovers from a loss before it fails. */
const recoveriesPerCall = 3;

/** What tells whether the watched subscriptions of a shard have to be checked. */
export interface ShardState {
  readonly incarnation: string;
  /** A count that grows with every change of the shard. */
  readonly changes: string;
  /** Whether a lease has ended, or nodes may still come back from an outage. */
  readonly isUnsettled: boolean;
}

/**
 * Makes calls to a Redis that may have lost its data. After a loss the data is restored first, and then the call is
 * made again.
 */
export class RecoveringCalls {
  readonly #store: ScriptCalls;
  readonly #recovery: Recovery;
  #isClosed = false;

  constructor(store: ScriptCalls, recovery: Recovery) {
    this.#store = store;
    this.#recovery = recovery;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Makes every further call fail. */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws COORDINATION_UNAVAILABLE once closed. */
  requireOpen(): void {
    if (this.#isClosed) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'The service is shutting down.');
  }

  /** Runs a script on a subscription. */
  call(name: ScriptName, subscriptionId: string, values: readonly (string | number)[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.call(name, subscriptionId, values));
  }

  /** Renews a lease on all shards. */
  async renewLease(values: readonly (string | number)[]): Promise<void> {
    await this.#recoveringAll(() => this.#store.callShards('renew-lease', allShards, values));
  }

  /** Asks whether anything of shards has changed. */
  async shardStates(shards: readonly number[]): Promise<ShardState[]> {
    if (shards.length === 0) return [];
    const replies = await this.#recoveringAll(() => this.#store.callShards('shard-state', shards, []));
    const states = replies.flatMap(([, ...ofShards]) => ofShards);
    return shards.map((shard, index) => ({
      incarnation: this.#store.incarnations.get(shard) ?? '',
      changes: String(states[2 * index]),
      isUnsettled: states[2 * index + 1] === '1',
    }));
  }

  /** Checks the watched subscriptions of a shard. */
  checkWatched(shard: number, values: readonly string[], furtherKeys: readonly string[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('check-watched', shard, values, furtherKeys));
  }

  /** Commits offsets of subscriptions of shards. */
  commit(...call: Parameters<ScriptCalls['commit']>): Promise<unknown[]> {
    return this.#recovering(() => this.#store.commit(...call));
  }

  /** Adds to the history of subscriptions of a shard. */
  remember(shard: number, values: readonly (string | number)[], historyKeys: readonly string[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('remember', shard, values, historyKeys));
  }

  /** Reads sessions and ownership of subscriptions of a shard. */
  topologies(shard: number, keys: readonly string[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('topology', shard, [], keys));
  }

  /** Reads the committed offsets of subscriptions of a shard. */
  committedOffsets(shard: number, offsetKeys: readonly string[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('committed-offsets', shard, [], offsetKeys));
  }

  async #recovering(call: () => Promise<unknown[]>): Promise<unknown[]> {
    const [reply = []] = await this.#recoveringAll(async () => [await call()]);
    return reply;
  }

  /** @param calls Makes calls that are all made again when one of them found a loss. */
  async #recoveringAll(calls: () => Promise<unknown[][]>): Promise<unknown[][]> {
    for (let attempt = 0; ; attempt += 1) {
      this.requireOpen();
      const replies = await calls();
      if (replies.every(([outcome]) => outcome !== 'INCARNATION')) return replies;
      if (attempt === recoveriesPerCall) {
        throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Redis repeatedly loses its data.');
      }
      await this.#recovery.recover();
    }
  }
}
