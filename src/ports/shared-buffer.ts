/**
 * Memory that records are read into. It is reused, because it lies outside the JavaScript heap: for every 64 MiB of new
 * memory there the engine walks the whole heap. That would cost a long read more than anything else.
 *
 * The memory counts its holders: the cache, and each reader until it releases the batches. A reader that never releases
 * them does no harm; the memory is then left to the collector.
 */
export class SharedBuffer<Memory extends ArrayBufferLike = ArrayBufferLike> {
  readonly memory: Memory;
  /** All of the memory. Batches in it share this object, which shows that their values are in the same memory. */
  readonly bytes: Buffer;
  /** Drops one reference. After the last one, the batches must not be read any more. */
  readonly release: () => void;
  #references = 1;

  /**
   * Starts with one reference, which belongs to the creator.
   * @param onFree Takes the memory back when the last reference is dropped.
   */
  constructor(memory: Memory, onFree: (memory: Memory) => void) {
    this.memory = memory;
    this.bytes = Buffer.from(memory);
    this.release = () => {
      this.#references -= 1;
      if (this.#references === 0) onFree(memory);
    };
  }

  retain(): void {
    this.#references += 1;
  }
}

/** How much free memory is kept for the next reads. Pieces. */
const spareBuffersMaximum = 16;

/** A pool of memory for reads. */
export class SharedBufferPool<Memory extends ArrayBufferLike = ArrayBuffer, Made extends Memory | undefined = Memory> {
  readonly #make: () => Made;
  readonly #spare: Memory[] = [];

  /** @param make Makes another piece when none is spare; undefined where there may be no more. */
  constructor(make: () => Made) {
    this.#make = make;
  }

  /** A piece with whatever was in it before. */
  acquire(): Memory | Made {
    return this.#spare.pop() ?? this.#make();
  }

  /** Takes back a piece that is not read any more. */
  readonly recycle = (memory: Memory): void => {
    if (this.#spare.length < spareBuffersMaximum) this.#spare.push(memory);
  };
}

/** From this size on, a fill of shared memory costs less than a copy. Bytes. */
const filledBytesMinimum = 1024;

/**
 * Copies the bytes `start` to `end` (exclusive) to the position `at`. The engine copies memory that threads share in
 * single accesses, of one byte each unless both sides are aligned. That takes ten times as long as a fill, which
 * copies such memory like any other.
 */
export function copyBytes(source: Buffer, target: Buffer, at: number, start = 0, end = source.length): void {
  const size = end - start;
  if (size >= filledBytesMinimum && (isShared(source) || isShared(target)))
    target.fill(source.subarray(start, end), at, at + size);
  else source.copy(target, at, start, end);
}

function isShared({ buffer }: Buffer): boolean {
  return buffer instanceof SharedArrayBuffer;
}
