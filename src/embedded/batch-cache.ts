import type { CleanupPolicy, Offset } from '../ports/event-log.ts';
import type { StoredBatch } from './records/decoded-batch.ts';
import type { PartitionState } from './partition-state.ts';
import type { SharedBuffer } from '../ports/shared-buffer.ts';

/** The memory of a cache unless another is given. Bytes. */
export const cacheBytesMaximumDefault = 128 * 1024 * 1024;

/** The unit of eviction: one batch, or all cached batches whose memory is shared, by partition. */
type Entry = PartOfEntry[];

interface PartOfEntry {
  readonly partition: PartitionState;
  /** By ascending offset. */
  readonly batches: StoredBatch[];
}

/**
 * Decoded batches that were appended or read lately, shared by all readers. Many readers of one position cost one read,
 * and readers at the end of a partition never touch the disk. The least recently used batches are evicted first. Those
 * of a run are evicted together, because only then can its memory be reused.
 */
export class BatchCache {
  readonly #bytesMaximum: number;
  /**
   * In order of use, the longest unused first. The key of a run is its memory, that of any other batch is the batch.
   */
  readonly #byUse = new Map<SharedBuffer | StoredBatch, Entry>();
  /** The key that was used last: most uses are of the same run as the one before. */
  #lastUsed: SharedBuffer | StoredBatch | undefined;
  #bytes = 0;

  /**
   * @param bytesMaximum The most memory that cached batches may take: their `memoryBytes` and the memory of their runs.
   */
  constructor(bytesMaximum = cacheBytesMaximumDefault) {
    this.#bytesMaximum = bytesMaximum;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The cached batch that contains this offset (or the hole at this offset). */
  find(partition: PartitionState, offset: Offset): StoredBatch | undefined {
    const batch = partition.cachedBatches[indexAtOrAbove(partition.cachedBatches, offset)];
    if (batch === undefined || batch.position.baseOffset > offset) return undefined;
    this.#markUsed(batch.sharedBuffer ?? batch);
    return batch;
  }

  add(partition: PartitionState, batch: StoredBatch): void {
    const { sharedBuffer } = batch;
    if (batch.memoryBytes + bytesOf(sharedBuffer) > this.#bytesMaximum || partition.isDeleted) return;
    const batches = partition.cachedBatches;
    const index = placeOf(batches, batch.position.lastOffset);
    const present = batches[index];
    if (present !== undefined && present.position.baseOffset <= batch.position.lastOffset) return;
    if (index === batches.length) batches.push(batch);
    else batches.splice(index, 0, batch);
    this.#bytes += batch.memoryBytes;
    const key = sharedBuffer ?? batch;
    const entry = this.#byUse.get(key);
    if (entry === undefined) {
      this.#bytes += bytesOf(sharedBuffer);
      sharedBuffer?.retain();
      this.#byUse.set(key, [{ partition, batches: [batch] }]);
      this.#lastUsed = key;
    } else {
      const part = entry.find((each) => each.partition === partition);
      if (part === undefined) entry.push({ partition, batches: [batch] });
      else part.batches.push(batch);
      this.#markUsed(key);
    }
    while (this.#bytes > this.#bytesMaximum) this.#evictLeastRecentlyUsed();
  }

  /** Drops the batches that end below the offset, or all batches of the partition when none is given. */
  forget(partition: PartitionState, below: Offset = Infinity): void {
    const count = indexAtOrAbove(partition.cachedBatches, below);
    for (const batch of partition.cachedBatches.splice(0, count)) {
      this.#bytes -= batch.memoryBytes;
      const key = batch.sharedBuffer ?? batch;
      const entry = this.#byUse.get(key);
      const index = entry?.findIndex((each) => each.partition === partition) ?? -1;
      const part = entry?.[index];
      if (entry === undefined || part === undefined) continue;
      part.batches.splice(part.batches.indexOf(batch), 1);
      if (part.batches.length === 0) entry.splice(index, 1);
      if (entry.length === 0) this.#release(key, batch.sharedBuffer);
    }
  }

  #markUsed(key: SharedBuffer | StoredBatch): void {
    if (key === this.#lastUsed) return;
    const entry = this.#byUse.get(key);
    if (entry === undefined) return;
    this.#byUse.delete(key);
    this.#byUse.set(key, entry);
    this.#lastUsed = key;
  }

  #evictLeastRecentlyUsed(): void {
    const first = this.#byUse.entries().next();
    if (first.done === true) return;
    const [key, parts] = first.value;
    for (const { partition, batches } of parts) {
      for (const { memoryBytes } of batches) this.#bytes -= memoryBytes;
      partition.cachedBatches = withoutBatches(partition.cachedBatches, batches);
    }
    this.#release(key, parts[0]?.batches[0]?.sharedBuffer);
  }

  #release(key: SharedBuffer | StoredBatch, sharedBuffer: SharedBuffer | undefined): void {
    this.#byUse.delete(key);
    if (this.#lastUsed === key) this.#lastUsed = undefined;
    this.#bytes -= bytesOf(sharedBuffer);
    sharedBuffer?.release();
  }
}

function bytesOf(sharedBuffer: SharedBuffer | undefined): number {
  return sharedBuffer === undefined ? 0 : sharedBuffer.memory.byteLength;
}

/**
 * Removes batches from a list that contains all of them, most often next to each other at its start. Both are in
 * ascending order of offsets.
 * @returns the list, or a new one: the engine notes each element that moves within an old list for its collector
 */
function withoutBatches(list: StoredBatch[], batches: readonly StoredBatch[]): StoredBatch[] {
  const index = indexAtOrAbove(list, batches[0]?.position.lastOffset ?? 0);
  const isRun = list[index + batches.length - 1] === batches.at(-1);
  if (index === 0 && batches.length === 1) {
    // This is cheaper than a removal from the middle.
    list.shift();
  } else if (index === 0 && isRun) {
    return list.slice(batches.length);
  } else if (isRun) {
    list.splice(index, batches.length);
  } else {
    for (const { position } of batches) list.splice(indexAtOrAbove(list, position.lastOffset), 1);
  }
  return list;
}

/**
 * Whether records that were just appended are likely to be read soon. A compacted topic without a consumer is a store
 * that is read at the start and then only written, such as the mirror of committed offsets. Its batches would crowd out
 * events.
 */
export function isWorthCaching({ waiting }: PartitionState, cleanupPolicy: CleanupPolicy | undefined): boolean {
  return waiting.isFollowed || cleanupPolicy !== 'compact';
}

/** The index of the first batch that ends at or above the offset. */
function indexAtOrAbove(batches: readonly StoredBatch[], offset: Offset): number {
  let low = 0;
  let high = batches.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((batches[middle] as StoredBatch).position.lastOffset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same, which most often is behind all of them. */
function placeOf(batches: readonly StoredBatch[], offset: Offset): number {
  const last = batches.at(-1);
  return last !== undefined && last.position.lastOffset < offset ? batches.length : indexAtOrAbove(batches, offset);
}
