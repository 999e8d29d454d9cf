import type { Offset } from './event-log.ts';

/**
 * Which events of one partition were sent and not committed. Offsets may have holes (markers, compaction, deletions),
 * so events are counted, never computed from a difference of offsets; runs without holes are kept as one entry each.
 */
export class UncommittedEvents {
  /** How many there are. */
  count = 0;
  /** Undefined until the first are sent, as on most partitions of an idle stream. */
  #runs: { readonly firsts: Offset[]; readonly lasts: Offset[] } | undefined;
  #head = 0;

  /** Notes a run of events that were sent, one at each offset from `first` to `last`, all above those noted before. */
  add(first: Offset, last: Offset): void {
    this.count += last - first + 1;
    this.#runs ??= { firsts: [], lasts: [] };
    const { firsts, lasts } = this.#runs;
    const newest = lasts.length - 1;
    if (newest >= this.#head && lasts[newest] === first - 1) {
      lasts[newest] = last;
      return;
    }
    firsts.push(first);
    lasts.push(last);
  }

  /** Forgets the events up to and including `offset`. */
  commitThrough(offset: Offset): void {
    if (this.#runs === undefined) return;
    const { firsts, lasts } = this.#runs;
    while (this.#head < lasts.length) {
      const first = firsts[this.#head] ?? 0;
      const last = lasts[this.#head] ?? 0;
      if (first > offset) break;
      if (last > offset) {
        this.count -= offset - first + 1;
        firsts[this.#head] = offset + 1;
        break;
      }
      this.count -= last - first + 1;
      this.#head += 1;
    }
    this.#compact(firsts, lasts);
  }

  #compact(firsts: Offset[], lasts: Offset[]): void {
    if (this.#head === lasts.length) {
      firsts.length = 0;
      lasts.length = 0;
    } else if (this.#head < spentEntriesMaximum) {
      return;
    } else {
      firsts.splice(0, this.#head);
      lasts.splice(0, this.#head);
    }
    this.#head = 0;
  }
}

/** How many entries that are no longer needed may pile up before they are cut off. */
const spentEntriesMaximum = 256;
