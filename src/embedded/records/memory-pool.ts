import { SharedBufferPool } from '../../ports/shared-buffer.ts';

/** The most memory that exists at a time: what the cache keeps, and as much again for slow readers. Bytes. */
const memoryPoolBytesMaximum = 256 * 1024 * 1024;

/**
 * A pool of memory in pieces of one size, for runs of rows that are fetched together and for rows that are written. Two
 * threads see it, so that a piece goes to the other thread and back and is no new one: for every 32 MiB that arrives,
 * the engine collects its young generation.
 *
 * The engine does not count shared memory when it decides to collect. So there is a limit, for readers that never
 * release their batches; beyond it rows get memory of their own, which is counted.
 */
export class MemoryPool {
  readonly #bytes: number;
  readonly #piecesMaximum: number;
  readonly #pool = new SharedBufferPool<SharedArrayBuffer, SharedArrayBuffer | undefined>(() => this.#allocate());
  readonly #collected: FinalizationRegistry<undefined>;
  /** How many pieces exist, with those that are no longer held and not collected yet. */
  #pieces = 0;

  /** @param bytes The size of each piece. */
  constructor(bytes: number, bytesMaximum = memoryPoolBytesMaximum) {
    this.#bytes = bytes;
    this.#piecesMaximum = Math.floor(bytesMaximum / bytes);
    this.#collected = new FinalizationRegistry(() => {
      this.#pieces -= 1;
    });
  }

  /** A piece with whatever was in it before; undefined when there are as many as there may be. */
  acquire(): SharedArrayBuffer | undefined {
    return this.#pool.acquire();
  }

  /** Takes back a piece that is not read any more. */
  readonly recycle = (memory: SharedArrayBuffer): void => this.#pool.recycle(memory);

  #allocate(): SharedArrayBuffer | undefined {
    if (this.#pieces >= this.#piecesMaximum) return undefined;
    const memory = new SharedArrayBuffer(this.#bytes);
    this.#pieces += 1;
    this.#collected.register(memory, undefined);
    return memory;
  }
}
