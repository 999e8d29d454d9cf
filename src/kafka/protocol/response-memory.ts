import { SharedBuffer, SharedBufferPool } from '../../ports/shared-buffer.ts';

/** Responses of these sizes, which streams with a backlog get, lie in memory that is used again. Bytes. */
const [reusedBytesMinimum, reusedBytesMaximum] = [256 * 1024, 1200 * 1024];

/** The size of each piece: the largest response, and the positions and keys of its records. Bytes. */
const pieceBytes = reusedBytesMaximum + 512 * 1024;

const pool = new SharedBufferPool(() => new ArrayBuffer(pieceBytes));

/** The memory of {@link allocateResponse} that was not given back yet. */
const reused = new WeakSet<ArrayBufferLike>();

/** Memory for one response. Its contents are whatever was there before. */
export function allocateResponse(bytes: number): Buffer {
  if (bytes < reusedBytesMinimum || bytes > reusedBytesMaximum) return Buffer.allocUnsafeSlow(bytes);
  const memory = pool.acquire();
  reused.add(memory);
  return Buffer.from(memory, 0, bytes);
}

/** The memory of a response that will be used again when all who need it have released it. */
export class ResponseMemory {
  readonly shared: SharedBuffer;
  /** All of it, with the room behind the response. */
  readonly bytes: Buffer;
  #end: number;

  private constructor(memory: ArrayBuffer, end: number) {
    this.shared = new SharedBuffer(memory, pool.recycle);
    this.bytes = Buffer.from(memory);
    this.#end = end;
  }

  /**
   * The memory of a response, with one reference, which belongs to the caller. To be called once for each response.
   * @returns undefined for memory that is not used again
   */
  static of({ buffer, byteOffset, length }: Buffer): ResponseMemory | undefined {
    if (!reused.delete(buffer)) return undefined;
    return new ResponseMemory(buffer as ArrayBuffer, byteOffset + length);
  }

  /** Where there is room behind the response, aligned for any number; undefined when it is used up. */
  allocate(bytes: number): number | undefined {
    const start = Math.ceil(this.#end / 8) * 8;
    if (start + bytes > this.shared.memory.byteLength) return undefined;
    this.#end = start + bytes;
    return start;
  }
}
