import { every, type Clock, type Timer } from '../clock.ts';
import type { HealthPart } from '../health.ts';
import { accountsTopic } from '../lending-format/lending-topics.ts';
import type { Logger } from '../logger.ts';
import type { EventLog, Offset } from '../ports/event-log.ts';

/** How often it is shown how far the copy is. Milliseconds. */
const showMilliseconds = 2_000;

export interface CopyProgressOptions {
  readonly log: EventLog;
  readonly partitionCount: number;
  /** The next offset of a partition that the copy needs. */
  readonly positionOf: (partition: number) => Offset;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health?: HealthPart;
}

/** What the log had of a partition at the beginning and the copy had not. */
interface OffsetRange {
  readonly partition: number;
  readonly from: Offset;
  readonly to: Offset;
}

/**
 * Shows how much of the changelog the local copy has, of what there was at the beginning: a new copy of many accounts
 * takes minutes. Offsets have gaps, so the share is not exact.
 */
export class CopyProgress {
  readonly #options: CopyProgressOptions;
  readonly #ranges: readonly OffsetRange[];
  readonly #startedAt: number;
  readonly #timer: Timer;
  #isShown = false;

  private constructor(options: CopyProgressOptions, ranges: readonly OffsetRange[]) {
    this.#options = options;
    this.#ranges = ranges;
    this.#startedAt = options.clock.monotonic();
    this.#timer = every(options.clock, showMilliseconds, () => this.#show());
  }

  /** @throws the errors of the log */
  static async begin(options: CopyProgressOptions): Promise<CopyProgress> {
    const { log, partitionCount, positionOf } = options;
    const bounds = await log.bounds(
      Array.from({ length: partitionCount }, (_, partition) => ({ topic: accountsTopic, partition })),
    );
    const ranges = bounds.map(({ partition, earliest, latest }) => {
      return { partition, from: Math.max(positionOf(partition), earliest), to: latest };
    });
    return new CopyProgress(options, ranges);
  }

  /** The copy has everything, or there will be another attempt. */
  end(): void {
    this.#timer.cancel();
    if (!this.#isShown) return;
    const { clock, logger } = this.#options;
    const seconds = Math.round((clock.monotonic() - this.#startedAt) / 1_000);
    logger.info({ done: this.#share(), seconds }, 'The local copy of accounts was read from the log');
  }

  #show(): void {
    const { health, logger } = this.#options;
    const done = this.#share();
    this.#isShown = true;
    health?.reportNotReady(`The local copy of accounts is being read from the log: ${Math.floor(done * 100)} % done.`);
    logger.info({ done }, 'The local copy of accounts is being read from the log');
  }

  /** From 0 to 1, in hundredths. */
  #share(): number {
    const { positionOf } = this.#options;
    let [read, all] = [0, 0];
    for (const { partition, from, to } of this.#ranges) {
      read += Math.min(Math.max(positionOf(partition) - from, 0), to - from);
      all += to - from;
    }
    return all === 0 ? 1 : Math.floor((100 * read) / all) / 100;
  }
}
