/** An id that was stored. */
export interface DatedId {
  readonly id: string;
  readonly partition: number;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
}

/** How many ids that have left are kept before their room is used again. */
const removedMaximum = 1_024;

/**
 * The ids of a window of time, which leave it in the order in which they came. An id that came again leaves with its
 * latest copy. It has two arrays of numbers and one of texts instead of an object for each id.
 */
export class IdWindow {
  /** By id: the place of its latest copy among all that were ever added. */
  readonly #places = new Map<string, number>();
  #ids: string[] = [];
  #partitions: number[] = [];
  #times: number[] = [];
  /** The place of the first element of the arrays, and how many of them have left. */
  #first = 0;
  #removed = 0;

  get size(): number {
    return this.#places.size;
  }

  /** Adds an id that was stored last. */
  add({ id, partition, storedAt }: DatedId): void {
    this.#places.set(id, this.#first + this.#ids.length);
    this.#ids.push(id);
    this.#partitions.push(partition);
    this.#times.push(storedAt);
  }

  partitionOf(id: string): number | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#partitions[place - this.#first];
  }

  /** Removes the ids that were stored at a time or before. Returns whether there were any. */
  removeThrough(time: number): boolean {
    const before = this.#removed;
    while (this.#removed < this.#ids.length && (this.#times[this.#removed] as number) <= time) {
      const id = this.#ids[this.#removed] as string;
      if (this.#places.get(id) === this.#first + this.#removed) this.#places.delete(id);
      this.#removed += 1;
    }
    if (this.#removed === before) return false;
    if (this.#removed > removedMaximum && this.#removed > this.#ids.length / 2) this.#useRoomAgain();
    return true;
  }

  #useRoomAgain(): void {
    this.#ids = this.#ids.slice(this.#removed);
    this.#partitions = this.#partitions.slice(this.#removed);
    this.#times = this.#times.slice(this.#removed);
    this.#first += this.#removed;
    this.#removed = 0;
  }
}
