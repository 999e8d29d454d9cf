import { beforeFirst } from '../cursors/cursor-text.ts';
import type { EventRun } from './chunk-builder.ts';
import type { PassedOver } from './filters/filtered-read.ts';
import { noValue, type Offset, type RecordBatch } from '../../ports/event-log.ts';
import { offsetAt, valueEndAt, valueStartAt } from '../../ports/record-positions.ts';

/**
 * Events of one partition that were read and wait to be sent, in the batches they were read in. Deletions (records
 * without a value) are passed over as soon as no event waits before them.
 */
export class PartitionBuffer {
  /** Events waiting. */
  events = 0;
  /** Bytes of their values, without the bytes between them. */
  bytes = 0;
  /** Offset of the last record that was sent, dropped or passed over. */
  passedThrough: Offset;
  /** Offset of the last record that a filter passed over; -1 when there is none. Events may wait before it. */
  filteredThrough: Offset = beforeFirst;
  #filteredAppendedAt = 0;
  /** Buffers without batches share one list, which is never changed: most partitions of most streams are idle. */
  #batches: RecordBatch[] = noBatches;
  /** Index of the first batch that still has waiting events. */
  #head = 0;
  /** Index of its first record that still waits; never a deletion. */
  #index = 0;

  /** @param passedThrough Offset of the record before the first that will be pushed. */
  constructor(passedThrough: Offset) {
    this.passedThrough = passedThrough;
  }

  /** Adds a batch after the others. Records up to {@link passedThrough} are not added a second time. */
  push(batch: RecordBatch): void {
    const wasEmpty = this.events === 0;
    let first = 0;
    if (wasEmpty) while (first < batch.count && offsetAt(batch, first) <= this.passedThrough) first += 1;
    this.#count(batch, first, batch.count, 1);
    if (this.#batches === noBatches) this.#batches = [batch];
    else this.#batches.push(batch);
    if (!wasEmpty) return;
    this.#head = this.#batches.length - 1;
    this.#index = first;
    this.#skipDeletions();
  }

  /**
   * Notes that a read reached `offset` without records there. It has no effect while events wait: they have to be sent
   * first.
   */
  skipHolesThrough(offset: Offset): void {
    if (this.events === 0) this.passedThrough = Math.max(this.passedThrough, offset);
  }

  /**
   * Notes that a filter passed over records. It has an effect on {@link passedThrough} once all events that were pushed
   * are sent.
   */
  noteFiltered({ offset, appendedAt }: PassedOver): void {
    this.filteredThrough = offset;
    this.#filteredAppendedAt = appendedAt;
    this.skipHolesThrough(offset);
  }

  /** Offset and value of the next event; undefined when none waits. The value must not be kept: copy it. */
  next(): { readonly offset: Offset; readonly value: Buffer } | undefined {
    const batch = this.events === 0 ? undefined : this.#batches[this.#head];
    if (batch === undefined) return undefined;
    const value = batch.bytes.subarray(batch.valueStarts[this.#index], batch.valueEnds[this.#index]);
    return { offset: batch.offsets[this.#index] as number, value };
  }

  /** When the oldest waiting event was appended. Milliseconds since the epoch; undefined when nothing waits. */
  oldestAppendedAt(): number | undefined {
    return this.events === 0 ? undefined : this.#batches[this.#head]?.appendedAt;
  }

  /**
   * How many of the waiting events were appended up to and including `time`, if a later one shows that no more will
   * come; else 0.
   * @param time Milliseconds since the epoch.
   */
  eventsOfTimespanEndedAt(time: number): number {
    const newest = this.#batches.at(-1);
    if (this.events === 0 || newest === undefined) return 0;
    if (newest.appendedAt <= time && this.#filteredAppendedAt <= time) return 0;
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
   * Removes the first `count` waiting events and returns them, in order. Deletions right after them are passed over as
   * well, so {@link passedThrough} is the position whose commit covers them all.
   */
  removeNext(count: number): EventRun[] {
    const runs: EventRun[] = [];
    let remaining = Math.min(count, this.events);
    while (remaining > 0) {
      const batch = this.#batches[this.#head];
      if (batch === undefined) break;
      const from = this.#index;
      const to = batch.contiguous ? Math.min(from + remaining, batch.count) : endOfRun(batch, from, from + remaining);
      remaining -= to - from;
      this.#count(batch, from, to, -1);
      this.#moveTo(to);
      runs.push({ batch, from, to, isLast: this.#batches[this.#head] !== batch });
    }
    return runs;
  }

  /** Drops waiting events up to and including `offset`, after a commit beyond the sent events. */
  dropThrough(offset: Offset): void {
    while (this.events > 0) {
      const batch = this.#batches[this.#head];
      if (batch === undefined || (batch.offsets[this.#index] as number) > offset) break;
      this.#count(batch, this.#index, this.#index + 1, -1);
      this.#moveTo(this.#index + 1);
    }
    this.skipHolesThrough(offset);
  }

  /** Drops all waiting events; the next push has to continue after {@link passedThrough}. */
  clear(): void {
    this.#batches = noBatches;
    this.#head = 0;
    this.#index = 0;
    this.events = 0;
    this.bytes = 0;
    // What comes after the dropped events will be read, and passed over, again.
    this.filteredThrough = Math.min(this.filteredThrough, this.passedThrough);
  }

  #moveTo(index: number): void {
    const batch = this.#batches[this.#head];
    if (batch === undefined) return;
    this.passedThrough = offsetAt(batch, index - 1);
    this.#index = index;
    this.#skipDeletions();
    if (this.filteredThrough > this.passedThrough) this.skipHolesThrough(this.filteredThrough);
  }

  /** Moves to the next event, past spent batches. */
  #skipDeletions(): void {
    for (let batch = this.#batches[this.#head]; batch !== undefined; batch = this.#batches[this.#head]) {
      while (this.#index < batch.count && !batch.contiguous && batch.valueStarts[this.#index] === noValue) {
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
      this.bytes += sign * (valueEndAt(batch, to - 1) - valueStartAt(batch, from) - between);
      return;
    }
    for (let index = from; index < to; index += 1) {
      const start = batch.valueStarts[index] as number;
      if (start === noValue) continue;
      this.events += sign;
      this.bytes += sign * ((batch.valueEnds[index] ?? start) - start);
    }
  }
}

const noBatches: RecordBatch[] = [];

/** How many spent batches may accumulate before they are removed. */
const spentBatchesMaximum = 64;

/** Index after the run of values that begins at `from`: a deletion, the end of the batch, or `most` ends the run. */
function endOfRun({ count, valueStarts }: RecordBatch, from: number, most: number): number {
  const last = Math.min(count, most);
  let end = from;
  while (end < last && valueStarts[end] !== noValue) end += 1;
  return end;
}
