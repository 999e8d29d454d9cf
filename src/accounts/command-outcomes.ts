import { BoundedMap } from '../bounded-map.ts';
import { LendstreamError } from '../errors.ts';

/**
 * How much memory the outcomes may take that are remembered for later requests: some twenty thousand. Those not asked
 * for the longest are dropped first. Bytes.
 */
export const recentOutcomesBytesMaximum = 16 * 1024 * 1024;

/** How many commands under way are remembered. Those not asked for the longest are dropped first. */
export const pendingCommandsMaximum = 20_000;

/** How many requests may wait for an outcome at once. */
export const outcomeWaitersMaximum = 20_000;

interface Waiter<Outcome> {
  readonly resolve: (outcome: Outcome | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommandOutcomesLimits {
  readonly recentBytesMaximum?: number;
  readonly pendingMaximum?: number;
  readonly waitersMaximum?: number;
}

/**
 * The outcomes of commands, for the requests that wait for them and, for a while, for later ones. Also the commands of
 * this process that are under way. A waiter gets the first outcome that arrives after it began to wait, never a
 * remembered one: a command that could not be decided may be sent again under its id, and the response must be the new
 * one.
 */
export class CommandOutcomes<Outcome> {
  readonly #recent: BoundedMap<string, Outcome>;
  /** The digest of each command, by command id. */
  readonly #pendingDigests: BoundedMap<string, string>;
  readonly #waitersByCommand = new Map<string, Set<Waiter<Outcome>>>();
  readonly #waitersMaximum: number;
  #waiterCount = 0;

  /** @param bytesOf The memory that an outcome takes while it is remembered. It must not change. */
  constructor(bytesOf: (outcome: Outcome) => number, limits: CommandOutcomesLimits = {}) {
    const {
      recentBytesMaximum = recentOutcomesBytesMaximum,
      pendingMaximum = pendingCommandsMaximum,
      waitersMaximum = outcomeWaitersMaximum,
    } = limits;
    this.#recent = new BoundedMap(recentBytesMaximum, bytesOf);
    this.#pendingDigests = new BoundedMap(pendingMaximum);
    this.#waitersMaximum = waitersMaximum;
  }

  /** A command is about to be sent. From now on it is under way, however long requests wait for it. */
  begin(commandId: string, digest: string): void {
    this.#pendingDigests.set(commandId, digest);
  }

  /** A command was not sent. */
  abandon(commandId: string): void {
    this.#pendingDigests.delete(commandId);
  }

  /** The digest of a command that this process sent and that is not decided yet. */
  pendingDigest(commandId: string): string | undefined {
    return this.#pendingDigests.get(commandId);
  }

  add(commandId: string, outcome: Outcome): void {
    this.#pendingDigests.delete(commandId);
    this.#recent.set(commandId, outcome);
    for (const waiter of this.#waitersByCommand.get(commandId) ?? []) waiter.resolve(outcome);
  }

  /** The last outcome of this command, if it is still remembered. */
  recent(commandId: string): Outcome | undefined {
    return this.#recent.get(commandId);
  }

  /**
   * Waits for the next outcome of this command. Begin before the command is published.
   * @param signal Ends the wait. The caller must see to it that it aborts, because the number of waiters is limited.
   * @returns undefined when `signal` aborted; rejects with the error given to {@link close}
   * @throws OVERLOADED at once, so that the caller does not publish, when too many requests already wait
   */
  waitFor(commandId: string, signal: AbortSignal): Promise<Outcome | undefined> {
    if (this.#waiterCount >= this.#waitersMaximum) {
      throw new LendstreamError('OVERLOADED', 'Too many requests are waiting for their outcome.');
    }
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const waiters = this.#waitersByCommand.get(commandId) ?? new Set();
      this.#waitersByCommand.set(commandId, waiters);
      const removeWaiter = (): void => {
        signal.removeEventListener('abort', cancel);
        if (!waiters.delete(waiter)) return;
        this.#waiterCount -= 1;
        if (waiters.size === 0 && this.#waitersByCommand.get(commandId) === waiters)
          this.#waitersByCommand.delete(commandId);
      };
      const waiter: Waiter<Outcome> = {
        resolve: (outcome) => {
          removeWaiter();
          resolve(outcome);
        },
        reject: (error) => {
          removeWaiter();
          reject(error);
        },
      };
      const cancel = (): void => waiter.resolve(undefined);
      signal.addEventListener('abort', cancel, { once: true });
      waiters.add(waiter);
      this.#waiterCount += 1;
    });
  }

  /** Fails all waiters: no outcome will arrive any more. */
  close(error: unknown): void {
    for (const waiters of this.#waitersByCommand.values()) for (const waiter of waiters) waiter.reject(error);
  }
}
