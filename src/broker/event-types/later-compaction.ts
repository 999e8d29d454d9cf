import { every, type Clock, type Timer } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { EventTypes } from './event-types.ts';

/** How often event types are looked at whose topics are to be compacted later. Milliseconds. */
export const laterCompactionMilliseconds = 60_000;

export interface LaterCompactionOptions {
  readonly eventTypes: Pick<EventTypes, 'dueForCompaction' | 'beginCompaction'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Has topics compacted whose event types got compaction while they may have held events without a compaction key. These
 * events would be lost or replaced by compaction, so it begins when their retention has passed. Each process does this.
 */
export class LaterCompaction {
  readonly #options: LaterCompactionOptions;
  readonly #timer: Timer;
  #running: Promise<void> | undefined;

  constructor(options: LaterCompactionOptions) {
    this.#options = options;
    this.#timer = every(options.clock, laterCompactionMilliseconds, () => {
      this.#running ??= this.#look().finally(() => {
        this.#running = undefined;
      });
    });
  }

  /** Returns when the change under way has ended. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    await this.#running;
  }

  async #look(): Promise<void> {
    const { eventTypes, logger } = this.#options;
    for (const eventType of eventTypes.dueForCompaction()) {
      try {
        await eventTypes.beginCompaction(eventType);
      } catch (error) {
        logger.warn({ eventType, error: describeError(error) }, 'Compaction of an event type cannot begin; retrying');
      }
    }
  }
}
