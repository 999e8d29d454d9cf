import type { EventRun } from './chunk-builder.ts';
import type { Offset } from '../../ports/event-log.ts';
import { offsetAt } from '../../ports/record-positions.ts';

/**
 * The events of one partition that were sent and not committed. Offsets may have holes (markers, compaction,
 * deletions), so events are counted, never computed from a difference of offsets. Each run without holes is one entry.
 */
export class UncommittedEvents {
  /** How many there are. */
  count = 0;
  readonly #firsts: Offset[] = [];
  readonly #lasts: Offset[] = [];
  #head = 0;

  /** Notes a run of events that were sent, one at each offset from `first` to `last`, all above those noted before. */
  add(first: Offset, last: Offset): void {
    this.count += last - first + 1;
    const newest = this.#lasts.length - 1;
    if (newest >= this.#head && this.#lasts[newest] === first - 1) {
      this.#lasts[newest] = last;
      return;
    }
    this.#firsts.push(first);
    this.#lasts.push(last);
  }

  /** Notes the records of a run, none of them a deletion, as sent. */
  addRun({ batch, from, to }: EventRun): void {
    const first = offsetAt(batch, from);
    const last = offsetAt(batch, to - 1);
    if (last - first === to - 1 - from) {
      this.add(first, last);
      return;
    }
    for (let index = from; index < to; index += 1) {
      const offset = batch.offsets[index] as number;
      this.add(offset, offset);
    }
  }

  /** The offset of the first one; undefined when there are none. */
  get first(): Offset | undefined {
    return this.#firsts[this.#head];
  }

  /** The offset of the event at this place, from 1, or of the last one if there are fewer. There must be one. */
  offsetAt(place: number): Offset {
    let remaining = place;
    for (let entry = this.#head; entry < this.#lasts.length; entry += 1) {
      const first = this.#firsts[entry] as number;
      const events = (this.#lasts[entry] as number) - first + 1;
      if (remaining <= events) return first + remaining - 1;
      remaining -= events;
    }
    return this.#lasts.at(-1) as number;
  }

  /** Removes the events up to and including `offset`. */
  commitThrough(offset: Offset): void {
    while (this.#head < this.#lasts.length) {
      const first = this.#firsts[this.#head] as number;
      const last = this.#lasts[this.#head] as number;
      if (first > offset) break;
      if (last > offset) {
        this.count -= offset - first + 1;
        this.#firsts[this.#head] = offset + 1;
        break;
      }
      this.count -= last - first + 1;
      this.#head += 1;
    }
    this.#compact();
  }

  #compact(): void {
    if (this.#head === this.#lasts.length) {
      this.#firsts.length = 0;
      this.#lasts.length = 0;
    } else if (this.#head < spentEntriesMaximum) {
      return;
    } else {
      this.#firsts.splice(0, this.#head);
      this.#lasts.splice(0, this.#head);
    }
    this.#head = 0;
  }
}

/** How many entries that are no longer needed may accumulate before they are removed. */
const spentEntriesMaximum = 256;
