/**
 * Memory that runs of rows are read into. It is used again: it lies outside of the JavaScript heap, and for every 64
 * MiB of new memory there the engine goes through all of the heap, which would cost a long read more than anything
 * else.
 *
 * A run's memory counts who holds batches in it: the cache, and each reader until it releases them. A reader that never
 * does takes nothing from anybody; the memory is then left to the collector.
 */
export class RunMemory {
  readonly memory: ArrayBuffer;
  /** Lets go of one hold; the last one ends every right to look at the batches. */
  readonly release: () => void;
  #holds = 1;

  /**
   * Held once, by whoever makes it.
   * @param onFree Takes the memory when nobody holds it any more.
   */
  constructor(memory: ArrayBuffer, onFree: (memory: ArrayBuffer) => void) {
    this.memory = memory;
    this.release = () => {
      this.#holds -= 1;
      if (this.#holds === 0) onFree(memory);
    };
  }

  hold(): void {
    this.#holds += 1;
  }
}

/** How much free memory is kept for the next runs. Pieces. */
const spareMaximum = 16;

/** Memory for runs that are yet to be read. */
export class SpareRunMemory {
  readonly #bytes: number;
  readonly #spare: ArrayBuffer[] = [];

  /** @param bytes Of each piece. */
  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  take(): ArrayBuffer {
    return this.#spare.pop() ?? new ArrayBuffer(this.#bytes);
  }

  readonly giveBack = (memory: ArrayBuffer): void => {
    if (this.#spare.length < spareMaximum) this.#spare.push(memory);
  };
}
