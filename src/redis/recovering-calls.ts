import { LendstreamError } from '../errors.ts';
import type { Recovery } from './recovery.ts';
import type { ScriptName } from './scripts.ts';
import type { RedisStore } from './store.ts';

/** How often one call recovers from a loss before it fails. */
const recoveriesPerCall = 3;

/** Calls to a Redis that may have lost what it held: then it is given back first, and the call is made again. */
export class RecoveringCalls {
  readonly #store: RedisStore;
  readonly #recovery: Recovery;
  #isClosed = false;

  constructor(store: RedisStore, recovery: Recovery) {
    this.#store = store;
    this.#recovery = recovery;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** From now on every call fails. */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws COORDINATION_UNAVAILABLE once closed */
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

  /** Looks after subscriptions of a shard. */
  checkWatched(shard: number, values: readonly string[], furtherKeys: readonly string[]): Promise<unknown[]> {
    return this.#recovering(() => this.#store.callShard('check-watched', shard, values, furtherKeys));
  }

  /**
   * Reads what must never go back. When it has, something was lost without any other sign. An answer is compared with
   * what was known before it was asked for: what is learned meanwhile may well be newer.
   */
  async trusted<Answer>(
    read: () => Promise<Answer>,
    contradiction: () => (answer: Answer) => boolean,
    note: (answer: Answer) => void,
  ): Promise<Answer> {
    const contradicts = contradiction();
    let answer = await read();
    if (contradicts(answer)) {
      this.#recovery.distrust();
      answer = await read();
    }
    note(answer);
    return answer;
  }

  async #recovering(call: () => Promise<unknown[]>): Promise<unknown[]> {
    for (let attempt = 0; ; attempt += 1) {
      this.requireOpen();
      const answer = await call();
      if (answer[0] !== 'INCARNATION') return answer;
      if (attempt === recoveriesPerCall) {
        throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Redis loses its data again and again.');
      }
      await this.#recovery.recover();
    }
  }
}
