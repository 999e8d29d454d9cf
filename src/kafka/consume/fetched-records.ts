import { noValue } from '../../ports/event-log.ts';
import type { Offset, ReadResult } from '../../ports/event-log.ts';
import type { SharedBuffer } from '../../ports/shared-buffer.ts';
import type { DecodedBatches, FetchedBatch } from '../protocol/record-batches/decoding.ts';

/** The decoded records of one partition from one fetch: everything visible in [from, to). */
export interface Chunk {
  readonly from: Offset;
  /** Where the next fetch continues; above `from`. */
  readonly to: Offset;
  readonly batches: readonly FetchedBatch[];
  /** The memory it uses, positions included. Bytes. */
  readonly memoryBytes: number;
  /** Monotonic milliseconds. */
  readonly fetchedAt: number;
  /** The memory of its batches, if that is used again. */
  readonly memory: SharedBuffer | undefined;
}

/** A part of a response may keep at most this many times its own size in memory before it is copied. */
const pinnedFactorMaximum = 8;

/** The memory that a chunk needs on top of its records. Bytes. */
const chunkOverheadBytes = 1_024;

const positionBytesPerRecord = 20;

/** @param bytes The memory that contains the batches, unless they were compressed. */
export function createChunk(
  from: Offset,
  { batches, nextOffset }: DecodedBatches,
  bytes: Buffer,
  fetchedAt: number,
  memory?: SharedBuffer,
): Chunk {
  let memoryBytes = chunkOverheadBytes + bytes.length;
  for (const batch of batches) {
    memoryBytes += positionBytesPerRecord * batch.count;
    if (batch.bytes.buffer !== bytes.buffer) memoryBytes += batch.bytes.length;
  }
  return { from, to: nextOffset, batches, memoryBytes, fetchedAt, memory };
}

interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns a partition's part of a response. A few events that a slow stream keeps must not keep megabytes of other
 * partitions in memory, so a small part is copied out of the response. What is kept is at most
 * {@link pinnedFactorMaximum} times what is read.
 */
export function partOf(response: Buffer, { start, end }: ByteRange): ByteRange & { bytes: Buffer } {
  if (pinnedFactorMaximum * (end - start) >= response.length) return { bytes: response, start, end };
  return { bytes: Buffer.from(response.subarray(start, end)), start: 0, end: end - start };
}

/** The chunks of one partition that are still in memory, in the order in which they came. They may overlap. */
export class PartitionChunks {
  readonly #chunks: Chunk[] = [];

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  has(offset: Offset): boolean {
    return this.#find(offset) !== undefined;
  }

  add(chunk: Chunk): void {
    this.#chunks.push(chunk);
  }

  /** @param chunk One of them. */
  remove(chunk: Chunk): void {
    this.#chunks.splice(this.#chunks.indexOf(chunk), 1);
  }

  /**
   * Returns as many whole batches as it takes to reach `bytesMaximum`; undefined when the position is not in memory.
   * They have to be retained when they are passed on (see {@link retained}).
   */
  read(from: Offset, bytesMaximum: number): DecodedBatches | undefined {
    const batches: FetchedBatch[] = [];
    let bytes = 0;
    let nextOffset = from;
    for (let chunk = this.#find(from); chunk !== undefined; chunk = this.#find(nextOffset)) {
      for (const batch of chunk.batches) {
        const last = batch.offsets[batch.count - 1] as Offset;
        if (last < nextOffset) continue;
        batches.push(recordsFrom(batch, nextOffset));
        bytes += valueBytes(batch);
        nextOffset = last + 1;
        if (bytes >= bytesMaximum) return { batches, nextOffset };
      }
      nextOffset = chunk.to;
    }
    return nextOffset > from ? { batches, nextOffset } : undefined;
  }

  /** Most reads are at the end of the partition, where the newest chunk is. */
  #find(offset: Offset): Chunk | undefined {
    return this.#chunks.findLast(({ from, to }) => from <= offset && offset < to);
  }
}

/**
 * The chunks of all partitions, so that one fetch serves readers that follow each other closely. The oldest go first,
 * and none stays long: records that retention or a deletion removed must not stay readable for ever.
 */
export class ChunkCache {
  readonly #bytesMaximum: number;
  readonly #ageMillisecondsMaximum: number;
  /** The oldest first. */
  readonly #chunks = new Map<Chunk, PartitionChunks>();
  #bytes = 0;

  constructor(bytesMaximum: number, ageMillisecondsMaximum: number) {
    this.#bytesMaximum = bytesMaximum;
    this.#ageMillisecondsMaximum = ageMillisecondsMaximum;
  }

  /** Adds a chunk, even one larger than the whole memory limit: the read that asked for it takes it from here. */
  add(chunk: Chunk, owner: PartitionChunks): void {
    chunk.memory?.retain();
    owner.add(chunk);
    this.#chunks.set(chunk, owner);
    this.#bytes += chunk.memoryBytes;
    for (const oldest of this.#chunks.keys()) {
      if (this.#bytes <= this.#bytesMaximum || oldest === chunk) break;
      this.#remove(oldest);
    }
  }

  removeAged(now: number): void {
    for (const chunk of this.#chunks.keys()) {
      if (now - chunk.fetchedAt < this.#ageMillisecondsMaximum) break;
      this.#remove(chunk);
    }
  }

  /** Removes everything of one partition. */
  removeAllOf(owner: PartitionChunks): void {
    for (const [chunk, chunkOwner] of this.#chunks) if (chunkOwner === owner) this.#remove(chunk);
  }

  #remove(chunk: Chunk): void {
    this.#chunks.get(chunk)?.remove(chunk);
    this.#chunks.delete(chunk);
    this.#bytes -= chunk.memoryBytes;
    chunk.memory?.release();
  }
}

/** The result for one more reader: its batches stay in memory until the reader releases them. */
export function retained(result: DecodedBatches): ReadResult {
  for (const { memory } of result.batches) memory?.retain();
  return result;
}

/** The batch without its records below `from`. At least one of its records is at or above it. */
function recordsFrom(batch: FetchedBatch, from: Offset): FetchedBatch {
  const { offsets, count, external } = batch;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] as Offset) < from) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return batch;
  const first = low;
  return {
    ...batch,
    count: count - first,
    offsets: offsets.subarray(first),
    valueStarts: batch.valueStarts.subarray(first),
    valueEnds: batch.valueEnds.subarray(first),
    ...(external !== undefined && { external: external.subarray(first) }),
    key: (index) => batch.key(first + index),
  };
}

/** The bytes from the first value to the last, with the framing between them. */
function valueBytes({ valueStarts, valueEnds }: FetchedBatch): number {
  const start = valueStarts.find((at) => at !== noValue) ?? 0;
  const end = valueEnds.findLast((at) => at !== noValue) ?? 0;
  return end - start;
}
