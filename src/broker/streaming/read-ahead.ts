import { describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { EventLog, ReadOptions, ReadResult } from '../../ports/event-log.ts';
import { ReadStop } from '../../ports/read-signal.ts';
import type { EventTypePartition } from '../../ports/event-type-partition.ts';
import { checkExternalRecords, type UnreadableRecord } from '../log/external-records.ts';
import type { AssignedPartitions } from './assigned-partitions.ts';
import type { BatchRules } from './batch-rules.ts';
import type { EventFilter } from './filters/event-filter.ts';
import { filterRead } from './filters/filtered-read.ts';
import type { StreamPartition } from './stream-partition.ts';

/** How much a stream reads ahead of what it may send. Bytes, over all its partitions. */
export const prefetchBytesMaximum = 1024 * 1024;

/** The least that one partition reads ahead, however many partitions there are. Bytes. */
const partitionPrefetchBytesMinimum = 32 * 1024;

/** How long to wait before a read that failed with a retriable error is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

/**
 * Called with external records that are not events. Returns a promise if nothing after them may be sent before it
 * resolves; when it rejects they are read again.
 */
export type KeepUnreadable = (
  where: EventTypePartition,
  records: readonly UnreadableRecord[],
) => Promise<void> | undefined;

/**
 * Reads ahead for one stream. Each partition has one read, which waits in the log when there is nothing new. A
 * partition that has enough buffered has none.
 */
export class ReadAhead {
  /** The log was closed under the stream: the process is stopping. */
  logClosed = false;
  /** When a failed read may be tried again; 0 when none has to be. Monotonic milliseconds. */
  retryAt = 0;
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #assigned: AssignedPartitions;
  readonly #onChange: () => void;
  readonly #keepUnreadable: KeepUnreadable | undefined;
  readonly #filter: EventFilter | undefined;
  /** Ends the reads under way; made when the first one begins. */
  #stopping: ReadStop | undefined;
  /** The options of all waiting reads: one object for all partitions. */
  #options: ReadOptions | undefined;
  /** When reads were last begun. Monotonic milliseconds. */
  #startedAt = 0;
  /** Whether nothing can be sent now. Only a stream with a filter needs to know. */
  #isBlocked = false;
  /** As the log said when something was last discarded because of it. */
  #changeCount: number;

  /**
   * @param onChange Called when a read has ended, with new records or a failure.
   * @param filter Which events are added.
   */
  constructor(
    log: EventLog,
    logger: Logger,
    assigned: AssignedPartitions,
    onChange: () => void,
    keepUnreadable?: KeepUnreadable,
    filter?: EventFilter,
  ) {
    this.#filter = filter;
    this.#keepUnreadable = keepUnreadable;
    this.#log = log;
    this.#logger = logger;
    this.#assigned = assigned;
    this.#onChange = onChange;
    this.#changeCount = log.changeCount?.() ?? 0;
  }

  /**
   * Begins the reads that are wanted now.
   * @param isBlocked Whether nothing can be sent now, however much is read. A filter then searches no further than one
   *   read.
   */
  begin(parameters: BatchRules, now: number, isBlocked = false): void {
    if (now < this.retryAt) return;
    this.retryAt = 0;
    this.#startedAt = now;
    this.#isBlocked = isBlocked;
    for (const partition of this.#assigned.list) {
      if (this.#shouldRead(partition, parameters)) this.#read(partition);
    }
  }

  /** Discards what was read ahead and is shown in another way since. To be called before anything is sent. */
  discardChanged(): void {
    const changeCount = this.#log.changeCount?.() ?? 0;
    if (changeCount === this.#changeCount) return;
    this.#changeCount = changeCount;
    // Those under way wait behind what is discarded.
    this.stop();
    for (const partition of this.#assigned.list) partition.rewind();
  }

  /** Ends the reads under way; {@link begin} starts again those that are still wanted. */
  stop(): void {
    this.#stopping?.abort();
    this.#stopping = undefined;
    this.#options = undefined;
  }

  #shouldRead(partition: StreamPartition, { batchLimit, uncommittedEventsMaximum }: BatchRules): boolean {
    if (partition.reading || partition.readFailure !== undefined || partition.handOverUntil !== undefined) return false;
    const { buffer } = partition;
    if (this.#filter !== undefined && this.#hasSearchedEnough(partition)) return false;
    if (buffer.bytes < this.#partitionPrefetchBytes() / 2) return true;
    const batchIsShort = buffer.events < Math.min(batchLimit, uncommittedEventsMaximum);
    return batchIsShort && !this.#assigned.isFull();
  }

  /** What a filter passes over uses no memory, so the memory does not limit how far it searches. */
  #hasSearchedEnough(partition: StreamPartition): boolean {
    if (!this.#isBlocked) partition.searchedBytes = 0;
    return partition.searchedBytes >= this.#partitionPrefetchBytes();
  }

  #partitionPrefetchBytes(): number {
    return Math.max(Math.floor(prefetchBytesMaximum / this.#assigned.list.length), partitionPrefetchBytesMinimum);
  }

  /**
   * Not an async function: its frame would be kept as long as the read waits, 900 bytes for each partition. One bound
   * method serves success and failure, instead of two closures.
   */
  #read(partition: StreamPartition): void {
    partition.reading = true;
    const position = { topic: partition.eventType, partition: partition.partition, offset: partition.readOffset };
    const onEnded = this.#readEnded.bind(this, partition, partition.readGeneration);
    this.#log.read(position, this.#readOptions()).then(onEnded, onEnded);
  }

  #readOptions(): ReadOptions {
    const bytesMaximum = this.#partitionPrefetchBytes();
    if (this.#options?.bytesMaximum === bytesMaximum) return this.#options;
    this.#stopping ??= new ReadStop();
    return (this.#options = { bytesMaximum, waitMilliseconds: Infinity, signal: this.#stopping });
  }

  /** @param outcome A {@link ReadResult}, or the error that the read failed with. */
  #readEnded(partition: StreamPartition, generation: number, outcome: unknown): void {
    const kept = partition.readGeneration === generation ? this.#applyOutcome(partition, outcome) : undefined;
    if (kept === undefined) this.#readDone(partition);
    else void kept.then(() => this.#readDone(partition));
  }

  #readDone(partition: StreamPartition): void {
    partition.reading = false;
    this.#onChange();
  }

  /** @returns a promise if the records are added only when it resolves */
  #applyOutcome(partition: StreamPartition, outcome: unknown): Promise<void> | undefined {
    if (!isReadResult(outcome)) {
      this.#handleFailure(partition, outcome);
      return undefined;
    }
    try {
      if (outcome.batches.some(({ external }) => external !== undefined)) return this.#applyChecked(partition, outcome);
      return this.#add(partition, outcome);
    } catch (error) {
      this.#handleFailure(partition, error);
    }
    return undefined;
  }

  /** Removes external records that are not readable events; the consumer is notified of them. */
  #applyChecked(partition: StreamPartition, result: ReadResult): Promise<void> | undefined {
    const unreadable: UnreadableRecord[] = [];
    const batches = result.batches.map((source) => {
      const checked = checkExternalRecords(source);
      unreadable.push(...checked.unreadable);
      return checked.batch;
    });
    const add = (): Promise<void> | undefined => {
      this.#reportUnreadable(partition, unreadable);
      return this.#add(partition, { ...result, batches });
    };
    const kept = unreadable.length === 0 ? undefined : this.#keepUnreadable?.(partition, unreadable);
    if (kept === undefined) return add();
    const { readGeneration } = partition;
    const retryLater = (): void => {
      this.retryAt = this.#startedAt + retryMilliseconds;
    };
    return kept.then(() => (partition.readGeneration === readGeneration ? add() : undefined), retryLater);
  }

  /** @returns a promise if a filter has to choose among the records first */
  #add(partition: StreamPartition, result: ReadResult): Promise<void> | undefined {
    if (this.#filter !== undefined) return this.#addFiltered(partition, result, this.#filter);
    partition.addRecords(result);
    return undefined;
  }

  async #addFiltered(partition: StreamPartition, result: ReadResult, filter: EventFilter): Promise<void> {
    const { readGeneration } = partition;
    try {
      const filtered = await filterRead(filter, result);
      if (partition.readGeneration !== readGeneration) return;
      partition.searchedBytes += filtered.searchedBytes;
      partition.addRecords(filtered, filtered.passedOver);
    } catch (error) {
      this.#handleFailure(partition, error);
    }
  }

  #reportUnreadable({ eventType, partition }: StreamPartition, unreadable: readonly UnreadableRecord[]): void {
    const [first] = unreadable;
    if (first === undefined) return;
    const facts = { eventType, partition, offset: first.offset, reason: first.reason, count: unreadable.length };
    this.#logger.warn(facts, 'Skipping records of another producer that are not events');
    this.#assigned.notices.countUnreadableRecords(unreadable.length);
  }

  #handleFailure(partition: StreamPartition, error: unknown): void {
    if (isLendstreamError(error, 'LOG_CLOSED')) {
      this.logClosed = true;
      return;
    }
    if (isLendstreamError(error, 'OFFSET_OUT_OF_RANGE')) {
      const skipped = partition.skipTo(Number(error.details['earliest']));
      this.#assigned.notices.countSkippedOffsets(skipped);
      if (skipped > 0) return;
    }
    const { eventType, partition: number } = partition;
    const facts = { eventType, partition: number, error: describeError(error) };
    if (isLendstreamError(error) && error.retriable) {
      this.#logger.warn(facts, 'Reading for a stream failed; retrying');
      this.retryAt = this.#startedAt + retryMilliseconds;
      return;
    }
    if (isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) {
      this.#logger.warn(facts, 'An event type was deleted while a stream read it');
      partition.readFailure = { code: 'event_type_deleted', detail: eventType };
    } else {
      this.#logger.error(facts, 'Reading for a stream failed');
      const detail = `partition ${number} of ${eventType}: ${describeError(error)}`;
      partition.readFailure = { code: 'log_error', detail };
    }
  }
}

function isReadResult(outcome: unknown): outcome is ReadResult {
  return typeof outcome === 'object' && outcome !== null && 'batches' in outcome;
}
