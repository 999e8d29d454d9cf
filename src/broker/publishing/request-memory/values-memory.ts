import { SharedBufferPool } from '../../../ports/shared-buffer.ts';

/**
 * The values of requests of these sizes lie in memory that is used again. A smaller request would leave most of a piece
 * empty for as long as it waits for the log. Bytes.
 */
const [reusedBytesMinimum, reusedBytesMaximum] = [32 * 1024, 128 * 1024];

const pool = new SharedBufferPool(() => new ArrayBuffer(reusedBytesMaximum));

/**
 * A copy of bytes. For each 64 MiB of new memory outside of its heap, the engine walks all of the heap; values are most
 * of what publishing would take there.
 */
export class ValuesMemory {
  readonly bytes: Buffer;
  #piece: ArrayBuffer | undefined;

  constructor(values: Buffer) {
    const isReused = values.length >= reusedBytesMinimum && values.length <= reusedBytesMaximum;
    this.#piece = isReused ? pool.acquire() : undefined;
    // All of it is written, so there is no need to fill it with zeros first.
    this.bytes =
      this.#piece === undefined ? Buffer.allocUnsafeSlow(values.length) : Buffer.from(this.#piece, 0, values.length);
    this.bytes.set(values);
  }

  /** Takes the memory back: the bytes must not be read any more. The second time, it does nothing. */
  release(): void {
    if (this.#piece !== undefined) pool.recycle(this.#piece);
    this.#piece = undefined;
  }
}
