import { every, type Clock, type Timer } from '../clock.ts';
import type { Reading } from '../health.ts';
import type { Logger } from '../logger.ts';
import type { Offset, PartitionBounds } from '../ports/event-log.ts';

/** How often a line of the log shows how far the copy is. Milliseconds. */
const showMilliseconds = 2_000;

export interface CopyProgressOptions {
  /** What is being done, as the beginning of a sentence. */
  readonly task: string;
  /** What the log has of each partition of the changelog at the beginning. */
  readonly bounds: readonly PartitionBounds[];
  /** The next offset of a partition that the copy needs. */
  readonly positionOf: (partition: number) => Offset;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the log had of a partition at the beginning and the copy had not. */
interface OffsetRange {
  readonly partition: number;
  readonly from: Offset;
  readonly to: Offset;
}

/**
 * Shows how much of the changelog the local copy has, of what there was at the beginning: a new copy of many accounts
 * takes minutes. Records are counted by their offsets, which have gaps, so the numbers are not exact.
 */
export class CopyProgress {
  readonly #options: CopyProgressOptions;
  readonly #ranges: readonly OffsetRange[];
  readonly #startedAt: number;
  readonly #timer: Timer;
  #isShown = false;

  constructor(options: CopyProgressOptions) {
    const { bounds, positionOf, clock } = options;
    this.#options = options;
    this.#ranges = bounds.map(({ partition, earliest, latest }) => {
      return { partition, from: Math.max(positionOf(partition), earliest), to: latest };
    });
    this.#startedAt = clock.monotonic();
    this.#timer = every(clock, showMilliseconds, () => this.#show());
  }

  /** How far the copy is now. */
  look(): Reading {
    const { task, positionOf } = this.#options;
    const partitions = this.#ranges.map(({ partition, from, to }) => {
      const records = to - from;
      return { partition, recordsRead: Math.min(Math.max(positionOf(partition) - from, 0), records), records };
    });
    const recordsRead = partitions.reduce((sum, each) => sum + each.recordsRead, 0);
    const records = partitions.reduce((sum, each) => sum + each.records, 0);
    const percent = records === 0 ? 100 : Math.floor((100 * recordsRead) / records);
    const reason =
      recordsRead < records
        ? `${task}: ${recordsRead} of ${records} records, ${percent} %.`
        : `${task}: all ${records} records are there, and their indexes are being made.`;
    return { reason, progress: { recordsRead, records, percent, partitions } };
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
    this.#isShown = true;
    this.#options.logger.info({ done: this.#share() }, 'The local copy of accounts is being read from the log');
  }

  /** From 0 to 1, in hundredths. */
  #share(): number {
    return this.look().progress.percent / 100;
  }
}
