import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** How often it is tried. Milliseconds. */
const retryMilliseconds = 1_000;

/**
 * Sessions that could not be closed when their streams ended. Their node lives on, so no lease would ever end them: they
 * are closed as soon as that is possible.
 */
export class OverdueCloses {
  readonly #close: (subscriptionId: string, streamId: string) => Promise<void>;
  readonly #logger: Logger;
  /** By stream: the subscription. */
  readonly #sessions = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;

  /** @param close Closes a session, and adds it here again when that fails. */
  constructor(close: (subscriptionId: string, streamId: string) => Promise<void>, logger: Logger) {
    this.#close = close;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.#tryAll(), retryMilliseconds).unref();
  }

  add(subscriptionId: string, streamId: string): void {
    this.#sessions.set(streamId, subscriptionId);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #tryAll(): Promise<void> {
    const overdue = [...this.#sessions];
    for (const [streamId, subscriptionId] of overdue) {
      this.#sessions.delete(streamId);
      try {
        await this.#close(subscriptionId, streamId);
      } catch (error) {
        this.#logger.debug({ streamId, error: describeError(error) }, 'A session still cannot be closed');
        return;
      }
    }
  }
}
