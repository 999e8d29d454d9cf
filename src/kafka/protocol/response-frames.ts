import { allocateResponse } from './response-memory.ts';

/** The largest response that is accepted: beyond it the bytes cannot be a broker's response. Bytes. */
const frameBytesMaximum = 256 * 1024 * 1024;

const lengthBytes = 4;

/** From this size on a frame has its own memory instead of a part of Node's pool. Bytes. */
const pooledBytesMaximum = 2 * 1024;

/** From this size on it pays to read the rest of a frame into its place. Bytes. */
const readInPlaceBytesMinimum = 16 * 1024;

/**
 * Assembles frames from a connection's bytes as they arrive, however they are cut: a length, then as many bytes. Each
 * frame has its own memory, so the caller may reuse the bytes it passed in. The rest of a large frame may be read into
 * its place without a copy.
 */
export class FrameAssembler {
  readonly #onFrame: (frame: Buffer) => void;
  readonly #length = Buffer.alloc(lengthBytes);
  #lengthFilled = 0;
  #frame: Buffer | undefined;
  #filled = 0;

  /** @param onFrame Receives each frame, without its length. */
  constructor(onFrame: (frame: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Where the rest of the current frame belongs; undefined when little or nothing of it is known to follow. */
  get rest(): Buffer | undefined {
    const frame = this.#frame;
    if (frame === undefined || frame.length - this.#filled < readInPlaceBytesMinimum) return undefined;
    return frame.subarray(this.#filled);
  }

  /** Notes that the first `count` bytes of {@link rest} have been received there. */
  receivedInPlace(count: number): void {
    this.#filled += count;
    this.#passOnIfComplete();
  }

  /** @throws RangeError for a length that no frame has: nothing after it can be trusted */
  append(bytes: Buffer): void {
    let position = 0;
    while (position < bytes.length) {
      if (this.#frame === undefined) {
        const copied = bytes.copy(this.#length, this.#lengthFilled, position);
        this.#lengthFilled += copied;
        position += copied;
        if (this.#lengthFilled < lengthBytes) return;
        this.#begin(this.#length.readInt32BE());
      }
      const frame = this.#frame as unknown as Buffer;
      const copied = bytes.copy(frame, this.#filled, position);
      this.#filled += copied;
      position += copied;
      this.#passOnIfComplete();
    }
  }

  #passOnIfComplete(): void {
    const frame = this.#frame;
    if (frame === undefined || this.#filled < frame.length) return;
    this.#frame = undefined;
    this.#onFrame(frame);
  }

  #begin(length: number): void {
    if (length <= 0 || length > frameBytesMaximum) throw new RangeError(`A frame of ${length} bytes is not possible`);
    this.#frame = length < pooledBytesMaximum ? Buffer.allocUnsafe(length) : allocateResponse(length);
    this.#filled = 0;
    this.#lengthFilled = 0;
  }
}
