import { every, type Clock, type Timer } from '../clock.ts';
import type { Coordination } from '../ports/coordination.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** How often closing is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

type CloseSession = Coordination['closeSession'];

/** What is passed on of a session besides its subscription and its stream. */
type CloseDetails = Parameters<CloseSession> extends [string, string, ...infer Details] ? Details : never;

/**
 * Sessions that could not be closed when their streams ended. Their node is alive, so no lease would ever end them.
 * They are closed as soon as that is possible.
 */
export class SessionCloseRetries {
  readonly #close: CloseSession;
  readonly #logger: Logger;
  /** By stream. */
  readonly #sessions = new Map<string, { readonly subscriptionId: string; readonly details: CloseDetails }>();
  readonly #timer: Timer;

  /** @param close Closes a session, and adds it here again when that fails. */
  constructor(close: CloseSession, clock: Clock, logger: Logger) {
    this.#close = close;
    this.#logger = logger;
    this.#timer = every(clock, retryMilliseconds, () => void this.#retryAll());
  }

  add(subscriptionId: string, streamId: string, ...details: CloseDetails): void {
    this.#sessions.set(streamId, { subscriptionId, details });
  }

  stop(): void {
    this.#timer.cancel();
  }

  async #retryAll(): Promise<void> {
    const pending = [...this.#sessions];
    for (const [streamId, { subscriptionId, details }] of pending) {
      this.#sessions.delete(streamId);
      try {
        await this.#close(subscriptionId, streamId, ...details);
      } catch (error) {
        this.#logger.debug({ streamId, error: describeError(error) }, 'A session still cannot be closed');
        return;
      }
    }
  }
}
