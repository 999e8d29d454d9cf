import {
  noValue,
  type EventLog,
  type Offset,
  type ReadResult,
  type RecordBatch,
  type TopicPartition,
} from '../../ports/event-log.ts';
import { checkExternalRecords } from '../log/external-records.ts';
import { readPastRetention } from '../log/stored-records.ts';
import { BatchSearch, type SearchedFor } from '../streaming/filters/batch-search.ts';
import { filterTurns } from '../streaming/filters/filter-turns.ts';
import type { SearchBudget } from './search-budget.ts';

export type Direction = 'forward' | 'backward';

/** An event that was found, where it lies in the memory that was read. */
export interface FoundEvent {
  readonly batch: RecordBatch;
  readonly index: number;
  readonly offset: Offset;
}

/** What every search of a partition needs. */
export interface PartitionSearchOptions {
  readonly log: Pick<EventLog, 'read'>;
  readonly direction: Direction;
  readonly searchedFor: SearchedFor;
  readonly budget: SearchBudget;
  readonly signal: AbortSignal;
  /** How much is read at once. Bytes. */
  readonly readBytes: number;
}

/** How many offsets a backward search reads first. It then reads as many as have the size that it aims at. */
const firstWindowOffsets = 64;

/** How much larger than the one before a window may be. */
const windowGrowthMaximum = 4;

/** How many reads' worth of events a backward search keeps. Older ones of the window are then read again. */
const readsPerWindowMaximum = 4;

/**
 * Searches one partition in one direction, a read at a time. What was found waits here until it is taken, so there is
 * no more of it than one read has.
 */
export class PartitionSearch {
  readonly partition: number;
  /** The time of the newest events that were read, or of the oldest of a backward search. Milliseconds. */
  reachedAt: number;
  /** Records that are no events. */
  unreadable = 0;
  readonly #options: PartitionSearchOptions;
  readonly #topic: string;
  readonly #start: Offset;
  /** Where the search ends: after the last event, or at the first one of a backward search. */
  #end: Offset;
  /** The offset that a forward search reads next. A backward search has read it and all later ones. */
  #position: Offset;
  #found: readonly FoundEvent[] = [];
  #taken = 0;
  #held: RecordBatch[] = [];
  #windowOffsets = firstWindowOffsets;

  /** @param range Offsets from `start` to `end`; a backward search begins below `start`. */
  constructor(
    { topic, partition }: TopicPartition,
    range: { readonly start: Offset; readonly end: Offset },
    options: PartitionSearchOptions,
  ) {
    this.partition = partition;
    this.#topic = topic;
    this.#options = options;
    this.#start = range.start;
    this.#end = range.end;
    this.#position = range.start;
    this.reachedAt = options.direction === 'forward' ? -Infinity : Infinity;
  }

  /** The next event that was found. */
  get next(): FoundEvent | undefined {
    return this.#found[this.#taken];
  }

  /** Nothing is left to read. */
  get isDone(): boolean {
    return this.#position === this.#end;
  }

  /** Where a search in the same direction continues after the events that were taken. */
  get position(): Offset {
    const { next } = this;
    if (next === undefined) return this.#position;
    return this.#options.direction === 'forward' ? next.offset : next.offset + 1;
  }

  /** How many offsets lie before the position, of those of the range. */
  get passed(): number {
    return Math.abs(this.position - this.#start);
  }

  /** How many offsets the range has. */
  get span(): number {
    return Math.abs(this.#end - this.#start);
  }

  take(): void {
    this.#taken += 1;
  }

  /** Reads on. Call it when everything that was found is taken. @throws what the log throws */
  async advance(): Promise<void> {
    this.release();
    this.#found = [];
    this.#taken = 0;
    if (this.#options.direction === 'forward') await this.#advanceForward();
    else await this.#advanceBackward();
  }

  /** The memory of what was found is free again. */
  release(): void {
    for (const batch of this.#held) batch.release?.();
    this.#held = [];
  }

  async #advanceForward(): Promise<void> {
    const from = this.#position;
    const { batches, nextOffset } = await this.#read(from);
    this.#found = await this.#search(batches, from, this.#end);
    this.reachedAt = Math.max(this.reachedAt, batches.at(-1)?.appendedAt ?? this.reachedAt);
    // What is stored and not visible yet ends the search: the next one will find it.
    if (nextOffset === from) this.#end = from;
    this.#position = Math.min(nextOffset, this.#end);
  }

  async #advanceBackward(): Promise<void> {
    const { readBytes } = this.#options;
    const end = this.#position;
    let start = Math.max(this.#end, end - this.#windowOffsets);
    const found: FoundEvent[] = [];
    let heldBytes = 0;
    let heldMemory: Uint8Array | undefined;
    let windowBytes = 0;
    let oldestAt: number | undefined;
    for (let offset = start; offset < end;) {
      if (heldBytes > readBytes * readsPerWindowMaximum) {
        found.length = 0;
        this.release();
        heldBytes = 0;
        heldMemory = undefined;
        windowBytes = 0;
        oldestAt = undefined;
        start = offset;
      }
      const { batches, nextOffset } = await this.#read(offset);
      if (nextOffset === offset) break;
      oldestAt ??= batches[0]?.appendedAt;
      for (const batch of batches) {
        // Batches that follow each other may be in the same memory.
        if (batch.bytes !== heldMemory) heldBytes += batch.bytes.length;
        heldMemory = batch.bytes;
        windowBytes += bytesBefore(batch, end);
      }
      found.push(...(await this.#search(batches, offset, end)));
      offset = nextOffset;
    }
    if (this.#options.signal.aborted) return;
    this.#found = found.toReversed();
    this.reachedAt = Math.min(this.reachedAt, oldestAt ?? this.reachedAt);
    this.#position = start;
    const fitting = Math.floor(((end - start) * readBytes) / Math.max(windowBytes, 1));
    this.#windowOffsets = Math.max(1, Math.min(fitting, (end - start) * windowGrowthMaximum));
  }

  #read(offset: Offset): Promise<ReadResult> {
    const { log, readBytes, signal } = this.#options;
    const from = { topic: this.#topic, partition: this.partition, offset };
    return readPastRetention(log, from, { bytesMaximum: readBytes, waitMilliseconds: 0, signal });
  }

  async #search(batches: readonly RecordBatch[], from: Offset, end: Offset): Promise<FoundEvent[]> {
    const { searchedFor, budget } = this.#options;
    const found: FoundEvent[] = [];
    for (const read of batches) {
      const { batch, unreadable } = checkExternalRecords(read);
      this.unreadable += unreadable.length;
      const search = new BatchSearch(searchedFor, batch);
      budget.spend(batch.count, await search.finish(filterTurns));
      const before = found.length;
      for (const index of search.matches) {
        const offset = batch.offsets[index] as number;
        if (offset >= from && offset < end) found.push({ batch, index, offset });
      }
      if (found.length > before) this.#held.push(read);
      else read.release?.();
    }
    return found;
  }
}

/** The bytes of the records of a batch that lie before an offset: a read goes further than a window. */
function bytesBefore({ count, offsets, valueStarts, valueEnds }: RecordBatch, end: Offset): number {
  let bytes = 0;
  for (let index = 0; index < count && (offsets[index] as number) < end; index += 1) {
    if (valueStarts[index] !== noValue) bytes += (valueEnds[index] as number) - (valueStarts[index] as number);
  }
  return bytes;
}
