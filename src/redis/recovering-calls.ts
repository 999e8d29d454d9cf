import { LendstreamError } from '../errors.ts';
import type { Recovery } from './recovery.ts';
import type { ScriptName } from './script-loading.ts';
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

  /** Renews a lease on a shard. */
  renewLease(shard: number, values: readonly (string | number)[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('renew-lease', shard, values));
  }

  /** Asks whether anything of a shard has changed. */
  async shardState(shard: number): Promise<ShardState> {
    const [, changes, isUnsettled] = await this.#recovering(() => this.#store.callShard('shard-state', shard, []));
    const incarnation = this.#store.incarnations.get(shard) ?? '';
    return { incarnation, changes: String(changes), isUnsettled: isUnsettled === '1' };
  }

  /** Checks the watched subscriptions of a shard. */
  checkWatched(shard: number, values: readonly string[], furtherKeys: readonly string[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('check-watched', shard, values, furtherKeys));
  }

  /** Commits offsets of subscriptions of a shard. */
  commit(shard: number, values: readonly (string | number)[], furtherKeys: readonly string[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('commit', shard, values, furtherKeys));
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
    for (let attempt = 0; ; attempt += 1) {
      this.requireOpen();
      const reply = await call();
      if (reply[0] !== 'INCARNATION') return reply;
      if (attempt === recoveriesPerCall) {
        throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Redis repeatedly loses its data.');
      }
      await this.#recovery.recover();
    }
  }
}
