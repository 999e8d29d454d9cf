import { noValue } from '../../ports/event-log.ts';
import type { Offset, RecordBatch, RecordPositions, TopicPartition } from '../../ports/event-log.ts';
import type { SharedBuffer } from '../../ports/shared-buffer.ts';
import { field, flag, headerBytes } from './layout.ts';

/** The position of a batch and when it was appended: columns of its row, repeated in its body. */
export interface BatchPosition {
  readonly partitionId: number;
  readonly baseOffset: Offset;
  /** At or above the offset of the last record. It is above when compaction removed records at the end. */
  readonly lastOffset: Offset;
  /** Milliseconds since the epoch. */
  readonly appendedAt: number;
}

/** A decoded batch and the range of offsets it covers. */
export interface StoredBatch extends RecordBatch {
  readonly position: BatchPosition;
  /** The size of its body. Bytes. */
  readonly bodyBytes: number;
  /** The memory that this batch takes, without the memory of its run. Bytes. */
  readonly memoryBytes: number;
  /** The memory that it shares with other batches, if it does. */
  readonly sharedBuffer: SharedBuffer | undefined;
}

/** Where the parts of a body begin in its memory. The index is behind the header. */
export interface BodyParts {
  readonly headAt: number;
  readonly valuesAt: number;
  readonly keysAt: number;
}

type Lists = Pick<RecordBatch, 'offsets' | 'valueStarts' | 'valueEnds'>;

/**
 * A batch as positions in the memory of its body, which is not compressed and known to be sound. Its lists are made
 * when they are first read: for every batch, they took a tenth of the time that a stream takes on the main thread.
 */
export class DecodedBatch implements StoredBatch, RecordPositions {
  readonly topic: string;
  readonly partition: number;
  readonly position: BatchPosition;
  readonly count: number;
  readonly bodyBytes: number;
  readonly appendedAt: number;
  readonly bytes: Buffer;
  readonly contiguous: boolean;
  readonly memoryBytes: number;
  readonly sharedBuffer: SharedBuffer | undefined;
  readonly release: (() => void) | undefined;
  readonly #parts: BodyParts;
  /** The end of each value, counted from the start of the values. */
  readonly #ends: Uint32Array;
  readonly #deltas: Uint32Array | undefined;
  #lists: Lists | undefined;
  #keyEnds: Uint32Array | undefined;

  /**
   * @param body The memory of the body, and of others if it is shared.
   * @param sharedBuffer Has room for the lists behind the keys, from the next multiple of 8 on.
   */
  constructor(
    { topic, partition }: TopicPartition,
    body: Buffer,
    parts: BodyParts,
    sharedBuffer: SharedBuffer | undefined,
  ) {
    const { headAt } = parts;
    const count = body.readUInt32LE(headAt + field.count);
    const indexBytes = indexBytesOf(body, headAt);
    this.topic = topic;
    this.partition = partition;
    this.position = {
      partitionId: body.readUInt32LE(headAt + field.partitionId),
      baseOffset: body.readDoubleLE(headAt + field.baseOffset),
      lastOffset: body.readDoubleLE(headAt + field.lastOffset),
      appendedAt: body.readDoubleLE(headAt + field.appendedAt),
    };
    this.count = count;
    this.bodyBytes =
      headerBytes +
      indexBytes +
      body.readUInt32LE(headAt + field.valuesBytes) +
      body.readUInt32LE(headAt + field.keysBytes);
    this.appendedAt = this.position.appendedAt;
    this.bytes = body;
    this.memoryBytes =
      sharedBuffer === undefined ? body.length + decodedBytesPerRecord * count + objectBytes : objectBytes;
    this.sharedBuffer = sharedBuffer;
    this.release = sharedBuffer?.release;
    this.#parts = parts;
    const indexAt = headAt + headerBytes;
    this.#ends = indexView(body, indexAt, count);
    const hasDeltas = ((body[headAt + field.flags] ?? 0) & flag.offsetDeltas) !== 0;
    this.#deltas = hasDeltas ? indexView(body, indexAt + indexBytes - 4 * count, count) : undefined;
    this.contiguous = !this.#ends.includes(noValue);
  }

  get positions(): RecordPositions {
    return this;
  }

  get offsets(): Float64Array {
    return (this.#lists ??= this.#makeLists()).offsets;
  }

  get valueStarts(): Uint32Array {
    return (this.#lists ??= this.#makeLists()).valueStarts;
  }

  get valueEnds(): Uint32Array {
    return (this.#lists ??= this.#makeLists()).valueEnds;
  }

  offsetAt(index: number): Offset {
    return this.position.baseOffset + (this.#deltas === undefined ? index : (this.#deltas[index] as number));
  }

  valueStartAt(index: number): number {
    if (!this.contiguous) return this.valueStarts[index] as number;
    return this.#parts.valuesAt + (index === 0 ? 0 : (this.#ends[index - 1] as number) + 1);
  }

  valueEndAt(index: number): number {
    const end = this.#ends[index] as number;
    return end === noValue ? noValue : this.#parts.valuesAt + end;
  }

  key(index: number): string | null {
    const { headAt, keysAt } = this.#parts;
    if (((this.bytes[headAt + field.flags] ?? 0) & flag.keys) === 0) return null;
    this.#keyEnds ??= indexView(this.bytes, headAt + headerBytes + 4 * this.count, this.count);
    return keyAt(this.bytes, keysAt, this.#keyEnds, index);
  }

  #makeLists(): Lists {
    const { count, bytes, sharedBuffer } = this;
    const { keysAt, headAt, valuesAt } = this.#parts;
    // One piece of memory for all three lists: three pieces would cost the collector more than their contents.
    const memory = sharedBuffer === undefined ? new ArrayBuffer(decodedBytesPerRecord * count) : sharedBuffer.memory;
    const listsAt = sharedBuffer === undefined ? 0 : alignedEnd(keysAt, bytes.readUInt32LE(headAt + field.keysBytes));
    const offsets = new Float64Array(memory, listsAt, count);
    const valueStarts = new Uint32Array(memory, listsAt + 8 * count, count);
    const valueEnds = new Uint32Array(memory, listsAt + 12 * count, count);
    let nextStart = valuesAt;
    for (let index = 0; index < count; index += 1) {
      offsets[index] = this.offsetAt(index);
      const end = this.#ends[index] as number;
      if (end === noValue) {
        valueStarts[index] = noValue;
        valueEnds[index] = noValue;
      } else {
        valueStarts[index] = nextStart;
        valueEnds[index] = valuesAt + end;
        nextStart = valuesAt + end + 1;
      }
    }
    return { offsets, valueStarts, valueEnds };
  }
}

/** The memory that a decoded batch takes for each record, apart from its body: an offset, a start and an end. Bytes. */
export const decodedBytesPerRecord = 16;

/**
 * The size of the objects of a decoded batch and of its place in the cache, without the contents of its lists, as
 * measured on Node 20: between that without lists and that with them. Bytes.
 */
const objectBytes = 1_100;

/** Where the lists of a body begin in the memory of a run: after the body, aligned for the widest number. */
export function alignedEnd(start: number, bodyBytes: number): number {
  return Math.ceil((start + bodyBytes) / 8) * 8;
}

/** The bytes of the index of a body. */
export function indexBytesOf(body: Buffer, headAt: number): number {
  const flags = body[headAt + field.flags] ?? 0;
  const lists = 1 + ((flags & flag.keys) === 0 ? 0 : 1) + ((flags & flag.offsetDeltas) === 0 ? 0 : 1);
  return 4 * lists * body.readUInt32LE(headAt + field.count);
}

/** A part of the body's index as a view, or as a copy when the body is not aligned. */
function indexView(body: Buffer, at: number, count: number): Uint32Array {
  const start = body.byteOffset + at;
  return start % 4 === 0
    ? new Uint32Array(body.buffer, start, count)
    : new Uint32Array(body.buffer.slice(start, start + 4 * count));
}

function keyAt(body: Buffer, keysAt: number, keyEnds: Uint32Array, at: number): string | null {
  const end = keyEnds[at];
  if (end === undefined || end === noValue) return null;
  let start = 0;
  for (let before = at - 1; before >= 0; before -= 1) {
    const previousEnd = keyEnds[before] as number;
    if (previousEnd === noValue) continue;
    start = previousEnd;
    break;
  }
  return body.toString('utf8', keysAt + start, keysAt + end);
}
