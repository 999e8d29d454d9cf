import type { ChunkBuilder } from './batch-line.ts';
import { noValue, type Offset, type RecordBatch } from '../../ports/event-log.ts';
import type { UncommittedEvents } from './uncommitted-events.ts';

/**
 * Events of one partition that were read and wait to be sent, as the batches they were read in. Deletions (records
 * without a value) are passed over as soon as nothing waits before them.
 */
export class PartitionBuffer {
  /** Events waiting. */
  events = 0;
  /** Their bytes, without what lies between them. */
  bytes = 0;
  /** The last record that was sent, dropped or passed over. */
  passedThrough: Offset;
  /** One list for all that never had any, which nothing is pushed to: most partitions of most streams are idle. */
  #batches: RecordBatch[] = noBatches;
  /** The first batch that still has something. */
  #head = 0;
  /** The first record of it that still waits; never a deletion. */
  #index = 0;

  /** @param passedThrough The record before the first that will be pushed. */
  constructor(passedThrough: Offset) {
    this.passedThrough = passedThrough;
  }

  /** Adds a batch behind the others. Records up to {@link passedThrough} are not taken in a second time. */
  push(batch: RecordBatch): void {
    const wasEmpty = this.events === 0;
    let first = 0;
    if (wasEmpty) while (first < batch.count && (batch.offsets[first] ?? 0) <= this.passedThrough) first += 1;
    this.#count(batch, first, batch.count, 1);
    if (this.#batches === noBatches) this.#batches = [batch];
    else this.#batches.push(batch);
    if (!wasEmpty) return;
    this.#head = this.#batches.length - 1;
    this.#index = first;
    this.#passDeletions();
  }

  /**
   * Notes that a read went through to `offset` without records there. Counts only while nothing waits: what waits has
   * to be sent first.
   */
  passHolesThrough(offset: Offset): void {
    if (this.events === 0) this.passedThrough = Math.max(this.passedThrough, offset);
  }

  /** When the oldest waiting event was appended. Milliseconds since the epoch; undefined when nothing waits. */
  oldestAppendedAt(): number | undefined {
    return this.events === 0 ? undefined : this.#batches[this.#head]?.appendedAt;
  }

  /**
   * How many of the waiting events were appended up to and including `time`, when a later one shows that no more will
   * come; else 0.
   */
  eventsOfTimespanEndedAt(time: number): number {
    const newest = this.#batches.at(-1);
    if (this.events === 0 || newest === undefined || newest.appendedAt <= time) return 0;
    let events = 0;
    for (let position = this.#head; position < this.#batches.length; position += 1) {
      const batch = this.#batches[position];
      if (batch === undefined || batch.appendedAt > time) break;
      const first = position === this.#head ? this.#index : 0;
      for (let index = first; index < batch.count; index += 1) if (batch.valueStarts[index] !== noValue) events += 1;
    }
    return events;
  }

  /**
   * Moves the first `count` waiting events into `chunk`, separated by commas, and notes them as sent. Deletions right
   * behind them are passed over as well, so that a commit of this batch covers them.
   */
  sendInto(chunk: ChunkBuilder, count: number, uncommitted: UncommittedEvents): void {
    let missing = Math.min(count, this.events);
    let separated = true;
    while (missing > 0) {
      const batch = this.#batches[this.#head];
      if (batch === undefined) break;
      if (!separated) chunk.addText(',');
      const end = batch.contiguous
        ? this.#sendRun(batch, Math.min(this.#index + missing, batch.count), chunk, uncommitted)
        : this.#sendEach(batch, missing, chunk, uncommitted);
      missing -= end.events;
      separated = false;
      this.#moveTo(end.index);
      // Its last values leave with this chunk, and all before them have left. What is dropped otherwise is not given
      // back.
      if (batch.release !== undefined && this.#batches[this.#head] !== batch) chunk.addRelease(batch.release);
    }
  }

  /** Forgets waiting events up to and including `offset`: somebody committed beyond what was sent. */
  dropThrough(offset: Offset): void {
    while (this.events > 0) {
      const batch = this.#batches[this.#head];
      if (batch === undefined || (batch.offsets[this.#index] ?? 0) > offset) break;
      this.#count(batch, this.#index, this.#index + 1, -1);
      this.#moveTo(this.#index + 1);
    }
    this.passHolesThrough(offset);
  }

  /** Forgets everything that waits; the next push has to go on behind {@link passedThrough}. */
  clear(): void {
    this.#batches = noBatches;
    this.#head = 0;
    this.#index = 0;
    this.events = 0;
    this.bytes = 0;
  }

  /** A run that lies in one piece, commas included: one copy. */
  #sendRun(batch: RecordBatch, end: number, chunk: ChunkBuilder, uncommitted: UncommittedEvents) {
    const first = this.#index;
    const start = batch.valueStarts[first] ?? 0;
    chunk.addBytes(batch.bytes, start, batch.valueEnds[end - 1] ?? start);
    this.#count(batch, first, end, -1);
    noteSent(batch, first, end, uncommitted);
    return { index: end, events: end - first };
  }

  #sendEach(batch: RecordBatch, missing: number, chunk: ChunkBuilder, uncommitted: UncommittedEvents) {
    let index = this.#index;
    let events = 0;
    while (index < batch.count && events < missing) {
      const end = endOfRun(batch, index, index + missing - events);
      if (end > index) {
        if (events > 0) chunk.addText(',');
        chunk.addValues(batch, index, end);
        noteSent(batch, index, end, uncommitted);
        events += end - index;
      }
      // Behind a run lies a deletion, if anything.
      index = end < batch.count && events < missing ? end + 1 : end;
    }
    this.#count(batch, this.#index, index, -1);
    return { index, events };
  }

  #moveTo(index: number): void {
    const batch = this.#batches[this.#head];
    if (batch === undefined) return;
    this.passedThrough = batch.offsets[index - 1] ?? this.passedThrough;
    this.#index = index;
    this.#passDeletions();
  }

  /** Goes on to the next event, leaving spent batches behind. */
  #passDeletions(): void {
    for (let batch = this.#batches[this.#head]; batch !== undefined; batch = this.#batches[this.#head]) {
      while (this.#index < batch.count && batch.valueStarts[this.#index] === noValue) {
        this.passedThrough = batch.offsets[this.#index] ?? this.passedThrough;
        this.#index += 1;
      }
      if (this.#index < batch.count) break;
      this.#head += 1;
      this.#index = 0;
    }
    if (this.#head === this.#batches.length) this.#batches = noBatches;
    else if (this.#head < spentBatchesMaximum) return;
    else this.#batches.splice(0, this.#head);
    this.#head = 0;
  }

  #count(batch: RecordBatch, from: number, to: number, sign: 1 | -1): void {
    if (from >= to) return;
    if (batch.contiguous) {
      this.events += sign * (to - from);
      const between = to - from - 1;
      this.bytes += sign * ((batch.valueEnds[to - 1] ?? 0) - (batch.valueStarts[from] ?? 0) - between);
      return;
    }
    for (let index = from; index < to; index += 1) {
      const start = batch.valueStarts[index] ?? noValue;
      if (start === noValue) continue;
      this.events += sign;
      this.bytes += sign * ((batch.valueEnds[index] ?? start) - start);
    }
  }
}

const noBatches: RecordBatch[] = [];

/** How many spent batches may pile up before they are cut off. */
const spentBatchesMaximum = 64;

/** Where the values that begin at `from` are interrupted by a deletion, at `most` at the latest. */
function endOfRun({ count, valueStarts }: RecordBatch, from: number, most: number): number {
  const last = Math.min(count, most);
  let end = from;
  while (end < last && valueStarts[end] !== noValue) end += 1;
  return end;
}

/** Notes the events of these records, none of them a deletion, as sent. */
function noteSent(batch: RecordBatch, from: number, to: number, uncommitted: UncommittedEvents): void {
  const first = batch.offsets[from] ?? 0;
  const last = batch.offsets[to - 1] ?? first;
  if (last - first === to - 1 - from) {
    uncommitted.add(first, last);
    return;
  }
  for (let index = from; index < to; index += 1) {
    const offset = batch.offsets[index] ?? 0;
    uncommitted.add(offset, offset);
  }
}
