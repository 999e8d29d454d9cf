import type { RecordBatch } from '../../ports/event-log.ts';
import { valueEndAt, valueStartAt } from '../../ports/record-positions.ts';
import { copyBytes } from '../../ports/shared-buffer.ts';

/** The bytes of one write: buffers in order, some of them parts of the log's memory. Treat as immutable. */
export interface Chunk {
  readonly pieces: readonly Buffer[];
  /** Bytes of all pieces. */
  readonly length: number;
  toString(): string;
  /**
   * Gives its memory back for later writes. The pieces must not be read after this. Calling it is optional.
   */
  release(): void;
}

/** The values of a batch, as positions in the bytes that it was read into. */
type BatchValues = Pick<RecordBatch, 'bytes' | 'valueStarts' | 'valueEnds' | 'positions' | 'contiguous' | 'release'>;

/** Events that follow one another in a batch: none of its records `from` to `to` (exclusive) is a deletion. */
export interface EventRun<Batch extends BatchValues = RecordBatch> {
  readonly batch: Batch;
  readonly from: number;
  readonly to: number;
  /** Whether the stream needs nothing more of the batch. */
  readonly isLast: boolean;
}

/**
 * From this size on bytes are referenced in place instead of copied. Below it, a separate piece, with the text between
 * it and the next, costs more than a copy into memory that was used a moment ago. Bytes.
 */
const referencedBytesMinimum = 64 * 1024;

/**
 * Values that are larger than this on average are added one by one, so that no single copy becomes large. Bytes.
 */
const valueBytesInRunMaximum = 8 * 1024;

/**
 * Memory for copies is lent and given back: new memory for every write costs more garbage collection than the copy
 * costs CPU time. Copies from the smaller size up to the larger are made in pooled memory. Bytes.
 */
const pooledBytesMinimum = 32 * 1024;

const pooledBytesMaximum = 512 * 1024;

/** The most pieces of pooled memory that are kept for reuse. */
const freeBuffersMaximum = 16;

const freeBuffers: Buffer[] = [];

const comma = 0x2c;

class PooledChunk implements Chunk {
  readonly pieces: readonly Buffer[];
  readonly length: number;
  #pooled: Buffer[];
  #releases: (() => void)[];

  constructor(pieces: readonly Buffer[], length: number, pooled: Buffer[], releases: (() => void)[]) {
    this.pieces = pieces;
    this.length = length;
    this.#pooled = pooled;
    this.#releases = releases;
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString();
  }

  release(): void {
    for (const memory of this.#pooled) if (freeBuffers.length < freeBuffersMaximum) freeBuffers.push(memory);
    for (const release of this.#releases) release();
    this.#pooled = [];
    this.#releases = [];
  }
}

/**
 * Collects the bytes of one write. Small pieces are copied together, large ones are referenced in place. Each write has
 * its own builder: if it fails half-way, its collected bytes are never sent.
 */
export class ChunkBuilder {
  /** Bytes collected. */
  size = 0;
  readonly #sources: (string | Buffer | BatchValues)[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #sizes: number[] = [];
  readonly #releases: (() => void)[] = [];

  /** @param text Characters up to U+00FF, each of which is one byte: ASCII, or bytes that were read as latin1. */
  addText(text: string): void {
    this.#add(text, 0, text.length, text.length);
  }

  addBytes(bytes: Buffer, start: number, end: number): void {
    this.#add(bytes, start, end, end - start);
  }

  /**
   * Adds the values of a run, separated by commas. The batch of a last run is released with the chunk, which may use
   * its memory until then.
   */
  addRun({ batch, from, to, isLast }: EventRun<BatchValues>): void {
    if (batch.contiguous) this.addBytes(batch.bytes, valueStartAt(batch, from), valueEndAt(batch, to - 1));
    else this.#addValues(batch, from, to);
    this.releaseAfter(batch, isLast);
  }

  /** Releases the batch of a last run with the chunk. */
  releaseAfter({ release }: BatchValues, isLast: boolean): void {
    if (isLast && release !== undefined) this.#releases.push(release);
  }

  /**
   * Adds a run that follows another one in the same list, with a comma between them. If the comma and the run also
   * follow it in memory, the two become one.
   */
  addNextRun(run: EventRun<BatchValues>): void {
    const { batch, from, to, isLast } = run;
    const last = this.#sources.length - 1;
    const before = this.#sources[last];
    const end = this.#ends[last] as number;
    const start = valueStartAt(batch, from);
    if (!batch.contiguous || before !== batch.bytes || start !== end + 1 || batch.bytes[end] !== comma) {
      this.addText(',');
      this.addRun(run);
      return;
    }
    const added = valueEndAt(batch, to - 1) - end;
    this.#ends[last] = end + added;
    this.#sizes[last] = (this.#sizes[last] as number) + added;
    this.size += added;
    if (isLast && batch.release !== undefined) this.#releases.push(batch.release);
  }

  #addValues(batch: BatchValues, from: number, to: number): void {
    const { bytes, valueStarts, valueEnds } = batch;
    let size = to - from - 1;
    for (let index = from; index < to; index += 1)
      size += (valueEnds[index] as number) - (valueStarts[index] as number);
    if (size < valueBytesInRunMaximum * (to - from)) {
      this.#add(batch, from, to, size);
      return;
    }
    for (let index = from; index < to; index += 1) {
      if (index > from) this.addText(',');
      this.addBytes(bytes, valueStarts[index] as number, valueEnds[index] as number);
    }
  }

  /** Returns everything collected. To be called once. */
  build(): Chunk {
    const pieces: Buffer[] = [];
    const pooled: Buffer[] = [];
    let copied = 0;
    let bytesToCopy = 0;
    for (let index = 0; index < this.#sources.length; index += 1) {
      const source = this.#sources[index];
      const start = this.#starts[index] as number;
      const end = this.#ends[index] as number;
      const size = this.#sizes[index] as number;
      const isReferenced = source instanceof Buffer && size >= referencedBytesMinimum;
      if (copied < index && (isReferenced || bytesToCopy + size > pooledBytesMaximum)) {
        pieces.push(this.#copy(copied, index, pooled));
        copied = index;
        bytesToCopy = 0;
      }
      if (isReferenced) {
        pieces.push(source.subarray(start, end));
        copied = index + 1;
      } else {
        bytesToCopy += size;
      }
    }
    if (copied < this.#sources.length) pieces.push(this.#copy(copied, this.#sources.length, pooled));
    return new PooledChunk(pieces, this.size, pooled, this.#releases);
  }

  /** Copies the sources `from` to `to` (exclusive) into one buffer. */
  #copy(from: number, to: number, pooled: Buffer[]): Buffer {
    let bytes = 0;
    for (let index = from; index < to; index += 1) bytes += this.#sizes[index] as number;
    const copy = allocate(bytes, pooled);
    let position = 0;
    // Texts that follow one another are written together, as those of keep-alives: each write leaves JavaScript.
    let text = '';
    for (let index = from; index < to; index += 1) {
      const source = this.#sources[index];
      if (typeof source === 'string') {
        text += source;
        continue;
      }
      if (text !== '') position += copy.write(text, position, 'latin1');
      text = '';
      const start = this.#starts[index] as number;
      const end = this.#ends[index] as number;
      if (source instanceof Uint8Array) {
        copyBytes(source, copy, position, start, end);
        position += end - start;
      } else if (source !== undefined) {
        position = copyValues(source, start, end, copy, position);
      }
    }
    if (text !== '') copy.write(text, position, 'latin1');
    return copy;
  }

  #add(source: string | Buffer | BatchValues, start: number, end: number, size: number): void {
    this.#sources.push(source);
    this.#starts.push(start);
    this.#ends.push(end);
    this.#sizes.push(size);
    this.size += size;
  }
}

function allocate(bytes: number, pooled: Buffer[]): Buffer {
  if (bytes < pooledBytesMinimum || bytes > pooledBytesMaximum) return Buffer.allocUnsafe(bytes);
  const memory = freeBuffers.pop() ?? Buffer.allocUnsafeSlow(pooledBytesMaximum);
  pooled.push(memory);
  return memory.subarray(0, bytes);
}

/** Returns the position after the last value. */
function copyValues(batch: BatchValues, from: number, to: number, copy: Buffer, position: number): number {
  const { bytes, valueStarts, valueEnds } = batch;
  let end = position;
  for (let index = from; index < to; index += 1) {
    if (index > from) {
      copy[end] = comma;
      end += 1;
    }
    const start = valueStarts[index] as number;
    const valueEnd = valueEnds[index] as number;
    copyBytes(bytes, copy, end, start, valueEnd);
    end += valueEnd - start;
  }
  return end;
}
