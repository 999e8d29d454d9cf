import { type Clock, type Timer, every } from '../clock.ts';
import type { Health, HealthPart } from '../health.ts';
import type { Logger } from '../logger.ts';
import type { WriterRequests } from './thread/messages.ts';
import type { LogThread } from './thread/log-thread.ts';

/**
 * How often folder and disk are checked while nothing is written: a change is noticed at most this much later.
 * Milliseconds.
 */
const watchMilliseconds = 1_000;

/** Reports the state of the data folder and its disk, as the writer thread sees it, to the health of the process. */
export class StorageHealth {
  readonly #writer: LogThread<WriterRequests>;
  readonly #logger: Logger;
  readonly #folder: HealthPart;
  readonly #disk: HealthPart;
  readonly #timer: Timer;
  #inspection: Promise<void> | undefined;
  #isClosed = false;

  constructor(writer: LogThread<WriterRequests>, health: Health, clock: Clock, logger: Logger) {
    this.#writer = writer;
    this.#logger = logger;
    this.#folder = health.part('data-folder');
    this.#disk = health.part('disk');
    this.#timer = every(clock, watchMilliseconds, () => this.check());
    this.check();
  }

  /** Checks at once. Called when a write failed. */
  check(): void {
    if (this.#isClosed) return;
    this.#inspection ??= this.#inspect().finally(() => {
      this.#inspection = undefined;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer.cancel();
    await this.#inspection;
  }

  async #inspect(): Promise<void> {
    try {
      const { missing, full } = await this.#writer.call('inspectStorage', null);
      if (missing !== null && this.#folder.ready) {
        this.#logger.error({ reason: missing }, 'The files of the log were moved or removed; nothing is stored');
      }
      report(this.#folder, missing);
      if (full !== null && this.#disk.ready) this.#logger.error({ reason: full }, 'The log is full; nothing is stored');
      report(this.#disk, full);
    } catch {
      // The end of the writer thread is reported elsewhere.
    }
  }
}

function report(part: HealthPart, reason: string | null): void {
  if (reason === null) part.reportReady();
  else part.reportNotReady(reason);
}
