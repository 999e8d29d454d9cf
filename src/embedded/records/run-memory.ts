/**
 * Memory that runs of rows are read into. It is reused, because it lies outside the JavaScript heap: for every 64 MiB
 * of new memory there the engine walks the whole heap. That would cost a long read more than anything else.
 *
 * The memory of a run counts its holders: the cache, and each reader until it releases the batches. A reader that never
 * releases them does no harm; the memory is then left to the collector.
 */
export class RunMemory {
  readonly memory: ArrayBuffer;
  /** Drops one hold. After the last one, the batches must not be read any more. */
  readonly release: () => void;
  #holds = 1;

  /**
   * Starts with one hold, which belongs to the creator.
   * @param onFree Takes the memory back when the last hold is dropped.
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

/** A pool of memory for runs that will be read. */
export class SpareRunMemory {
  readonly #bytes: number;
  readonly #spare: ArrayBuffer[] = [];

  /** @param bytes The size of each piece. */
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
