import { jsonByte } from '../../../json-bytes.ts';
import { noValue, type Offset, type ReadResult, type RecordBatch } from '../../../ports/event-log.ts';
import { meetsAll, type EventFilter } from './event-filter.ts';
import { filterTurns, type FilterTurns } from './filter-turns.ts';

/** What a filter leaves of a read. */
export interface FilteredRead extends ReadResult {
  /** Undefined when every event met the filter. */
  readonly passedOver: PassedOver | undefined;
  /** How much was searched. Bytes. */
  readonly searchedBytes: number;
}

/** The last record that a stream passes over because of its filter, or a deletion after it. */
export interface PassedOver {
  readonly offset: Offset;
  /** Milliseconds since the epoch. */
  readonly appendedAt: number;
}

/** How much is searched before others have their turn. Bytes, exceeded by no more than one event. */
const sliceBytes = 64 * 1024;

/**
 * Leaves out the events that do not meet a filter. Batches of which every event meets it stay as they are; of others,
 * the events that do are copied, so that the memory of the rest is free.
 * @param result Its values are JSON.
 * @param turns Shared by all streams of the process.
 */
export async function filterRead(
  filter: EventFilter,
  result: ReadResult,
  turns: FilterTurns = filterTurns,
): Promise<FilteredRead> {
  const batches: RecordBatch[] = [];
  let passedOver: PassedOver | undefined;
  let searchedBytes = 0;
  for (const batch of result.batches) {
    const search = new BatchSearch(filter, batch);
    while (!search.isDone) {
      await turns.begin();
      const bytes = search.continue();
      turns.spend(bytes);
      searchedBytes += bytes;
    }
    const { matches, lastPassedOver } = search;
    if (lastPassedOver === undefined) {
      batches.push(batch);
      continue;
    }
    passedOver = { offset: lastPassedOver, appendedAt: batch.appendedAt };
    if (matches.length > 0) batches.push(copyOf(batch, matches));
    batch.release?.();
  }
  return { batches, nextOffset: result.nextOffset, passedOver, searchedBytes };
}

/** Finds the events of a batch that meet a filter, in slices. */
class BatchSearch {
  isDone = false;
  /** Indexes of the events that meet the filter. */
  readonly matches: number[] = [];
  readonly #filter: EventFilter;
  readonly #batch: RecordBatch;
  readonly #needleAt: Finder | undefined;
  readonly #backslashAt: Finder;
  #index = 0;
  #hasPassedOver = false;

  constructor(filter: EventFilter, batch: RecordBatch) {
    this.#filter = filter;
    this.#batch = batch;
    this.#needleAt = filter.needle === undefined ? undefined : new Finder(batch.bytes, filter.needle);
    this.#backslashAt = new Finder(batch.bytes, jsonByte.backslash);
    this.isDone = batch.count === 0;
  }

  /** Offset of the last record that is no match; undefined unless one of them is an event. */
  get lastPassedOver(): Offset | undefined {
    if (!this.#hasPassedOver) return undefined;
    const { offsets, count } = this.#batch;
    let index = count - 1;
    for (let match = this.matches.length - 1; this.matches[match] === index; match -= 1) index -= 1;
    return offsets[index];
  }

  /** Searches a slice. Returns how many bytes it had. */
  continue(): number {
    const { bytes, valueStarts, valueEnds, count } = this.#batch;
    let searched = 0;
    let index = this.#index;
    for (; index < count && searched < sliceBytes; index += 1) {
      const start = valueStarts[index] as number;
      if (start === noValue) continue;
      const end = valueEnds[index] as number;
      searched += end - start;
      if (this.#mayMatch(start, end) && meetsAll(this.#filter, bytes, start)) this.matches.push(index);
      else this.#hasPassedOver = true;
    }
    this.#index = index;
    this.isDone = index === count;
    return searched;
  }

  #mayMatch(start: number, end: number): boolean {
    if (this.#needleAt === undefined || this.#needleAt.next(start) < end) return true;
    // What is searched may be written with escapes.
    return this.#backslashAt.next(start) < end;
  }
}

/** Finds the places of something in bytes, asked for from front to back: most of a batch is searched in one go. */
class Finder {
  readonly #bytes: Buffer;
  readonly #sought: Buffer | number;
  #at = -1;

  constructor(bytes: Buffer, sought: Buffer | number) {
    this.#bytes = bytes;
    this.#sought = sought;
  }

  /** The first place from `start` on; Infinity when there is none. */
  next(start: number): number {
    if (this.#at >= start) return this.#at;
    const found = this.#bytes.indexOf(this.#sought, start);
    this.#at = found < 0 ? Infinity : found;
    return this.#at;
  }
}

const comma = 0x2c;

/** A batch of some events of another, in memory of its own. */
function copyOf(batch: RecordBatch, indexes: readonly number[]): RecordBatch {
  const { topic, partition, appendedAt, offsets, valueStarts, valueEnds } = batch;
  const count = indexes.length;
  let length = count - 1;
  for (const index of indexes) length += (valueEnds[index] as number) - (valueStarts[index] as number);
  const bytes = Buffer.allocUnsafeSlow(length);
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  let position = 0;
  for (const [place, index] of indexes.entries()) {
    if (place > 0) bytes[position++] = comma;
    starts[place] = position;
    position += batch.bytes.copy(bytes, position, valueStarts[index], valueEnds[index]);
    ends[place] = position;
  }
  return {
    topic,
    partition,
    count,
    appendedAt,
    bytes,
    offsets: Float64Array.from(indexes, (index) => offsets[index] as number),
    valueStarts: starts,
    valueEnds: ends,
    contiguous: true,
    // Streams read no keys, and a reference to the batch would keep all of its memory.
    key: () => null,
  };
}
