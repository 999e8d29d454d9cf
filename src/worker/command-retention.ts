import type { EventLog, Offset } from '../ports/event-log.ts';
import { type Clock, every, type Timer } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { loanCommandsTopic } from '../lending-format/lending-topics.ts';

/** How often the owner of a partition checks which commands can be deleted. Milliseconds. */
const checkMilliseconds = 60_000;

export interface CommandRetentionOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly partition: number;
  /** How long completed commands are kept. Milliseconds. */
  readonly retentionMilliseconds: number;
}

/**
 * Deletes the old completed commands of one partition. The topic itself has no time limit: an accepted command waits
 * until it is decided, however long that takes. The owner of the partition runs this. A previous owner may continue for
 * a moment without harm, since the commands it counts as done are done.
 */
export class CommandRetention {
  readonly #options: CommandRetentionOptions;
  readonly #timer: Timer;
  #nextOffset: Offset | undefined;
  #deleting: Promise<void> | undefined;

  constructor(options: CommandRetentionOptions) {
    this.#options = options;
    this.#timer = every(options.clock, checkMilliseconds, () => this.#check());
  }

  /** @param next The first command that is not done, according to the committed position. */
  advance(next: Offset): void {
    const isFirst = this.#nextOffset === undefined;
    this.#nextOffset = next;
    if (isFirst) this.#check();
  }

  /** Returns when a deletion under way has ended. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    await this.#deleting;
  }

  #check(): void {
    this.#deleting ??= this.#delete().finally(() => (this.#deleting = undefined));
  }

  async #delete(): Promise<void> {
    const { log, clock, logger, partition, retentionMilliseconds } = this.#options;
    if (this.#nextOffset === undefined) return;
    try {
      const completed = { topic: loanCommandsTopic, partition, offset: this.#nextOffset };
      await log.deleteRecords(completed, clock.now() - retentionMilliseconds);
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'Cannot delete old commands that are done; retrying');
    }
  }
}
