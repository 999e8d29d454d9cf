import { LendstreamError } from '../errors.ts';

/** How many outcomes are remembered for later requests. The oldest are dropped first. */
export const recentOutcomesMaximum = 20_000;

/** How many commands under way are remembered. Those that were sent longest ago are dropped first. */
export const commandsUnderWayMaximum = 20_000;

/** How many requests may wait for an outcome at once. */
export const waitingOutcomesMaximum = 20_000;

interface Waiter<Outcome> {
  readonly settle: (outcome: Outcome | undefined) => void;
  readonly fail: (error: unknown) => void;
}

export interface CommandOutcomesLimits {
  readonly recentMaximum?: number;
  readonly underWayMaximum?: number;
  readonly waitingMaximum?: number;
}

/**
 * The outcomes of commands, for the requests that wait for them and, for a while, for later ones. Also the commands of
 * this process that are under way. A waiter gets the first outcome that arrives after it began to wait, never a
 * remembered one: a command that could not be decided may be sent again under its id, and the response must be the new
 * one.
 */
export class CommandOutcomes<Outcome> {
  readonly #recent = new Map<string, Outcome>();
  /** The digest of each command, by command id. */
  readonly #underWay = new Map<string, string>();
  readonly #waiting = new Map<string, Set<Waiter<Outcome>>>();
  readonly #limits: Required<CommandOutcomesLimits>;
  #waiters = 0;

  constructor(limits: CommandOutcomesLimits = {}) {
    this.#limits = {
      recentMaximum: recentOutcomesMaximum,
      underWayMaximum: commandsUnderWayMaximum,
      waitingMaximum: waitingOutcomesMaximum,
      ...limits,
    };
  }

  /** A command is about to be sent. From now on it is under way, however long requests wait for it. */
  begin(commandId: string, digest: string): void {
    put(this.#underWay, commandId, digest, this.#limits.underWayMaximum);
  }

  /** A command was not sent. */
  abandon(commandId: string): void {
    this.#underWay.delete(commandId);
  }

  /** The digest of a command that this process sent and that is not decided yet. */
  underWay(commandId: string): string | undefined {
    return this.#underWay.get(commandId);
  }

  add(commandId: string, outcome: Outcome): void {
    this.#underWay.delete(commandId);
    put(this.#recent, commandId, outcome, this.#limits.recentMaximum);
    for (const waiter of this.#waiting.get(commandId) ?? []) waiter.settle(outcome);
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
  next(commandId: string, signal: AbortSignal): Promise<Outcome | undefined> {
    if (this.#waiters >= this.#limits.waitingMaximum) {
      throw new LendstreamError('OVERLOADED', 'Too many requests are waiting for their outcome.');
    }
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(commandId) ?? new Set();
      this.#waiting.set(commandId, waiters);
      const end = (): void => {
        signal.removeEventListener('abort', giveUp);
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
      signal.addEventListener('abort', giveUp, { once: true });
      waiters.add(waiter);
      this.#waiters += 1;
    });
  }

  /** Fails all waiters: no outcome will arrive any more. */
  close(error: unknown): void {
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.fail(error);
  }
}

/** Puts an entry last, and removes the first one when there are too many. */
function put<Value>(entries: Map<string, Value>, key: string, value: Value, maximum: number): void {
  // Deleted first, so that the map keeps the order of arrival.
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= maximum) return;
  const oldest = entries.keys().next();
  if (oldest.done !== true) entries.delete(oldest.value);
}
