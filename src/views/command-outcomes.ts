import { LendstreamError } from '../errors.ts';

/** How many outcomes are remembered for those who ask later. The oldest go first. */
export const recentOutcomesMaximum = 20_000;

/** How many requests may wait for an outcome at once; it bounds memory when no worker is running. */
export const waitingOutcomesMaximum = 20_000;

interface Waiter<Outcome> {
  readonly settle: (outcome: Outcome | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * What became of commands, for the requests that wait for it and, for a while, for those that ask afterwards. A waiter
 * is told of the first outcome that arrives after it began to wait, never of a remembered one: a refused command may be
 * sent again under its id, and the answer must be the new one.
 */
export class CommandOutcomes<Outcome> {
  readonly #recent = new Map<string, Outcome>();
  readonly #waiting = new Map<string, Set<Waiter<Outcome>>>();
  readonly #recentMaximum: number;
  readonly #waitingMaximum: number;
  #waiters = 0;

  constructor(recentMaximum: number = recentOutcomesMaximum, waitingMaximum: number = waitingOutcomesMaximum) {
    this.#recentMaximum = recentMaximum;
    this.#waitingMaximum = waitingMaximum;
  }

  add(commandId: string, outcome: Outcome): void {
    // Deleted first, so that the map's order is that of arrival.
    this.#recent.delete(commandId);
    this.#recent.set(commandId, outcome);
    if (this.#recent.size > this.#recentMaximum) {
      const oldest = this.#recent.keys().next();
      if (oldest.done !== true) this.#recent.delete(oldest.value);
    }
    for (const waiter of this.#waiting.get(commandId) ?? []) waiter.settle(outcome);
  }

  /** The last outcome of this command, when it is still remembered. */
  recent(commandId: string): Outcome | undefined {
    return this.#recent.get(commandId);
  }

  /** Whether anyone waits for an outcome of this command. */
  awaited(commandId: string): boolean {
    return this.#waiting.has(commandId);
  }

  /**
   * Waits for the next outcome of this command; begin before the command is published.
   * @param waitMilliseconds Infinity waits until the outcome, `signal` or {@link close}.
   * @returns undefined when the time is over or `signal` aborted; rejects with what {@link close} was given
   * @throws OVERLOADED at once, so that the caller does not publish, when too many wait already
   */
  next(commandId: string, waitMilliseconds: number, signal?: AbortSignal): Promise<Outcome | undefined> {
    if (this.#waiters >= this.#waitingMaximum) {
      throw new LendstreamError('OVERLOADED', 'Too many requests are waiting for their outcome.');
    }
    if (signal?.aborted === true) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(commandId) ?? new Set();
      this.#waiting.set(commandId, waiters);
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
        if (!waiters.delete(waiter)) return;
        this.#waiters -= 1;
        if (waiters.size === 0 && this.#waiting.get(commandId) === waiters) this.#waiting.delete(commandId);
      };
      const waiter: Waiter<Outcome> = {
        settle: (outcome) => {
          end();
          resolve(outcome);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const giveUp = (): void => waiter.settle(undefined);
      const timer = Number.isFinite(waitMilliseconds) ? setTimeout(giveUp, waitMilliseconds) : undefined;
      signal?.addEventListener('abort', giveUp, { once: true });
      waiters.add(waiter);
      this.#waiters += 1;
    });
  }

  /** Fails everyone who waits: nothing will come any more. */
  close(error: unknown): void {
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.fail(error);
  }
}
