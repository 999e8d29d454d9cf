import { jsonByte } from '../../../json-bytes.ts';
import { noValue, type Offset, type RecordBatch } from '../../../ports/event-log.ts';
import { meetsAll, type EventFilter } from './event-filter.ts';
import type { FilterTurns } from './filter-turns.ts';

/** What is searched for. An event has to meet all that is given. */
export interface SearchedFor {
  readonly filter?: EventFilter | undefined;
  /** Bytes that the stored event contains, each at least one. */
  readonly texts?: readonly Buffer[];
  /** The key of its record. */
  readonly key?: string | undefined;
}

/** How much is searched before others have their turn. Bytes, exceeded by no more than one event. */
const sliceBytes = 64 * 1024;

/** Finds the events of a batch that are searched for, in slices. */
export class BatchSearch {
  /** Indexes of the events that are searched for. */
  readonly matches: number[] = [];
  readonly #searchedFor: SearchedFor;
  readonly #batch: RecordBatch;
  readonly #needleAt: Finder | undefined;
  readonly #backslashAt: Finder;
  readonly #textsAt: readonly Finder[];
  #index = 0;
  #hasPassedOver = false;

  /** @param batch Its values are JSON. */
  constructor(searchedFor: SearchedFor, batch: RecordBatch) {
    this.#searchedFor = searchedFor;
    this.#batch = batch;
    const { filter, texts = [] } = searchedFor;
    // The memory may go on with other batches.
    const bytes = batch.bytes.subarray(0, endOfValues(batch));
    this.#needleAt = filter?.needle === undefined ? undefined : new Finder(bytes, filter.needle);
    this.#backslashAt = new Finder(bytes, jsonByte.backslash);
    this.#textsAt = texts.map((text) => new Finder(bytes, text));
  }

  /** Offset of the last record that is no match; undefined unless one of them is an event. */
  get lastPassedOver(): Offset | undefined {
    if (!this.#hasPassedOver) return undefined;
    const { offsets, count } = this.#batch;
    let index = count - 1;
    for (let match = this.matches.length - 1; this.matches[match] === index; match -= 1) index -= 1;
    return offsets[index];
  }

  /**
   * Searches the whole batch.
   * @param turns Shared by all searches of the process.
   * @returns how much was searched. Bytes.
   */
  async finish(turns: FilterTurns): Promise<number> {
    let searchedBytes = 0;
    while (this.#index < this.#batch.count) {
      await turns.begin();
      const bytes = this.#searchSlice();
      turns.spend(bytes);
      searchedBytes += bytes;
    }
    return searchedBytes;
  }

  /** Searches a slice. Returns how many bytes it had. */
  #searchSlice(): number {
    const { valueStarts, valueEnds, count } = this.#batch;
    let searched = 0;
    let index = this.#index;
    for (; index < count && searched < sliceBytes; index += 1) {
      const start = valueStarts[index] as number;
      if (start === noValue) continue;
      const end = valueEnds[index] as number;
      searched += end - start;
      if (this.#isMatch(index, start, end)) this.matches.push(index);
      else this.#hasPassedOver = true;
    }
    this.#index = index;
    return searched;
  }

  #isMatch(index: number, start: number, end: number): boolean {
    const { filter, key } = this.#searchedFor;
    for (const textAt of this.#textsAt) if (textAt.next(start) + textAt.length > end) return false;
    if (filter !== undefined && !(this.#mayMatch(start, end) && meetsAll(filter, this.#batch.bytes, start)))
      return false;
    return key === undefined || this.#batch.key(index) === key;
  }

  #mayMatch(start: number, end: number): boolean {
    if (this.#needleAt === undefined || this.#needleAt.next(start) < end) return true;
    // What is searched may be written with escapes.
    return this.#backslashAt.next(start) < end;
  }
}

/** Where the last value of a batch ends. */
function endOfValues({ count, valueStarts, valueEnds }: RecordBatch): number {
  for (let index = count - 1; index >= 0; index -= 1) {
    if (valueStarts[index] !== noValue) return valueEnds[index] as number;
  }
  return 0;
}

/** Finds the places of something in bytes, asked for from front to back: most of a batch is searched in one go. */
class Finder {
  /** Of what is sought. Bytes. */
  readonly length: number;
  readonly #bytes: Buffer;
  readonly #sought: Buffer | number;
  #at = -1;

  constructor(bytes: Buffer, sought: Buffer | number) {
    this.#bytes = bytes;
    this.#sought = sought;
    this.length = typeof sought === 'number' ? 1 : sought.length;
  }

  /** The first place from `start` on; Infinity when there is none. */
  next(start: number): number {
    if (this.#at >= start) return this.#at;
    const found = this.#bytes.indexOf(this.#sought, start);
    this.#at = found < 0 ? Infinity : found;
    return this.#at;
  }
}
