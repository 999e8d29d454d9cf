import { LendstreamError } from '../errors.ts';

/** How many outcomes are remembered for those who ask later. The oldest go first. */
export const recentOutcomesMaximum = 20_000;

/** How many commands are known to be on their way. Those that were sent longest ago go first. */
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
 * What became of commands, for the requests that wait for it and, for a while, for those that ask afterwards; and which
 * commands of this process are on their way. A waiter is told of the first outcome that arrives after it began to wait,
 * never of a remembered one: a command that could not be decided may be sent again under its id, and the answer must be
 * the new one.
 */
export class CommandOutcomes<Outcome> {
  readonly #recent = new Map<string, Outcome>();
  /** The digest of each. */
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

  /** A command is about to be sent. From now on it is under way, however long anybody waits for it. */
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

  /** The last outcome of this command, when it is still remembered. */
  recent(commandId: string): Outcome | undefined {
    return this.#recent.get(commandId);
  }

  /**
   * Waits for the next outcome of this command; begin before the command is published.
   * @param signal Ends the wait. Whoever waits must see to it that it comes: waiters are limited in number.
   * @returns undefined when `signal` aborted; rejects with what {@link close} was given
   * @throws OVERLOADED at once, so that the caller does not publish, when too many wait already
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

  /** Fails everyone who waits: nothing will come any more. */
  close(error: unknown): void {
    for (const waiters of this.#waiting.values()) for (const waiter of waiters) waiter.fail(error);
  }
}

/** Puts an entry last, and takes the first one away when there are too many. */
function put<Value>(entries: Map<string, Value>, key: string, value: Value, maximum: number): void {
  // Deleted first, so that the map's order is that of arrival.
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= maximum) return;
  const oldest = entries.keys().next();
  if (oldest.done !== true) entries.delete(oldest.value);
}
