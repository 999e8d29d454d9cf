import type { Offset } from '../../ports/event-log.ts';
import type { EventTypePartition } from '../../ports/event-type-partition.ts';
import type { FailureRecord } from '../../ports/failed-deliveries.ts';
import { formatOffset } from '../cursors/cursor-text.ts';

/** One list for all streams, because most have no notices. */
const none: readonly string[] = [];

/**
 * What a stream tells its consumer about events that it does not deliver: those that retention deleted first, external
 * records that are not events, and events that the consumer could not process. The texts go into the "info" of the next
 * line.
 */
export class UndeliveredNotices {
  /** Since the last {@link take}. */
  #skippedOffsets = 0;
  /** Since the last {@link take}. */
  #unreadableRecords = 0;
  /** Since the last {@link take}. */
  #unprocessableEvents = 0;
  /** Texts of partitions with failures, since the last {@link take}; undefined on nearly every stream. */
  #failures: Map<string, string> | undefined;

  /**
   * Counts offsets lost to retention: those of events, and those of deletions and markers between them, which can no
   * longer be told apart.
   */
  countSkippedOffsets(count: number): void {
    this.#skippedOffsets += count;
  }

  /** Counts external records that are not events. */
  countUnreadableRecords(count: number): void {
    this.#unreadableRecords += count;
  }

  /** Counts events that are not sent any more, because the consumer failed with them too often. */
  countUnprocessableEvents(count: number): void {
    this.#unprocessableEvents += count;
  }

  /**
   * Reports how often the next event of a partition has failed, in Nakadi's words. A record that is out of date is left
   * out.
   * @param committedThrough Where the stream begins to read.
   */
  reportFailures({ eventType, partition }: EventTypePartition, record: FailureRecord, committedThrough: Offset): void {
    const { failures, firstOffset, throughOffset, isOneByOne } = record;
    if (firstOffset <= committedThrough && !(isOneByOne && throughOffset > committedThrough)) return;
    const count = firstOffset > committedThrough ? failures : 0;
    const last = isOneByOne ? formatOffset(throughOffset) : 'null';
    const name = `${eventType}:${partition}`;
    const text = `{${name} failedCommitsCount=${count} lastDeadLetterOffset=${last}}`;
    // A partition may be lost and gained again before the first line.
    this.#failures ??= new Map<string, string>();
    this.#failures.set(name, text);
  }

  /** What the consumer has not been notified of yet, in words. Each is returned once. */
  take(): readonly string[] {
    if (
      this.#skippedOffsets === 0 &&
      this.#unreadableRecords === 0 &&
      this.#unprocessableEvents === 0 &&
      this.#failures === undefined
    ) {
      return none;
    }
    const texts: string[] = [];
    if (this.#skippedOffsets > 0) {
      texts.push(`skipped events due to retention time passed, count: ${this.#skippedOffsets} at most`);
    }
    if (this.#unreadableRecords > 0) {
      texts.push(`skipped records that are not JSON, count: ${this.#unreadableRecords}`);
    }
    if (this.#unprocessableEvents > 0) {
      texts.push(`skipped events that could not be processed, count: ${this.#unprocessableEvents}`);
    }
    if (this.#failures !== undefined) {
      texts.push(`Auto DLQ failed commits tracking: ${[...this.#failures.values()].join(', ')}`);
    }
    this.#skippedOffsets = 0;
    this.#unreadableRecords = 0;
    this.#unprocessableEvents = 0;
    this.#failures = undefined;
    return texts;
  }
}
