import type { CleanupPolicy, Offset } from '../broker/event-log.ts';
import type { StoredBatch } from './batch-format.ts';
import type { PartitionState } from './partition-state.ts';

/**
 * Decoded batches that were appended or read lately, shared by all readers: many readers of one position cost one read,
 * and readers at the end of a partition never touch the disk. The least recently used batches go first.
 */
export class BatchCache {
  readonly #bytesMaximum: number;
  /** In order of use, the longest unused first. */
  readonly #byUse = new Map<StoredBatch, PartitionState>();
  #bytes = 0;

  /** @param bytesMaximum Memory that cached batches may take, measured by `memoryBytes`, with that of their runs. */
  constructor(bytesMaximum: number) {
    this.#bytesMaximum = bytesMaximum;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The batch that holds this offset (or the hole it fell into), when it is in memory. */
  find(partition: PartitionState, offset: Offset): StoredBatch | undefined {
    const batch = partition.cachedBatches[indexAtOrAbove(partition.cachedBatches, offset)];
    if (batch === undefined || batch.position.baseOffset > offset) return undefined;
    this.#byUse.delete(batch);
    this.#byUse.set(batch, partition);
    return batch;
  }

  add(partition: PartitionState, batch: StoredBatch): void {
    const runBytes = batch.run === undefined ? 0 : batch.run.memory.byteLength;
    if (batch.memoryBytes + runBytes > this.#bytesMaximum || partition.isDeleted) return;
    const batches = partition.cachedBatches;
    const index = indexAtOrAbove(batches, batch.position.lastOffset);
    const present = batches[index];
    if (present !== undefined && present.position.baseOffset <= batch.position.lastOffset) return;
    if (index === batches.length) batches.push(batch);
    else batches.splice(index, 0, batch);
    this.#keep(partition, batch);
    while (this.#bytes > this.#bytesMaximum) this.#evictLeastRecentlyUsed();
  }

  /** Forgets what lies wholly below the offset: all of the partition when none is given. */
  forget(partition: PartitionState, below: Offset = Infinity): void {
    const count = indexAtOrAbove(partition.cachedBatches, below);
    for (const batch of partition.cachedBatches.splice(0, count)) this.#letGo(batch);
  }

  /** A run's memory counts as a whole from its first batch on until its last one goes: that is how long it is there. */
  #keep(partition: PartitionState, batch: StoredBatch): void {
    this.#byUse.set(batch, partition);
    this.#bytes += batch.memoryBytes;
    const { run } = batch;
    if (run === undefined) return;
    run.cachedBatches += 1;
    if (run.cachedBatches > 1) return;
    this.#bytes += run.memory.byteLength;
    run.hold();
  }

  #letGo(batch: StoredBatch): void {
    this.#byUse.delete(batch);
    this.#bytes -= batch.memoryBytes;
    const { run } = batch;
    if (run === undefined) return;
    run.cachedBatches -= 1;
    if (run.cachedBatches > 0) return;
    this.#bytes -= run.memory.byteLength;
    run.release();
  }

  #evictLeastRecentlyUsed(): void {
    const first = this.#byUse.entries().next();
    if (first.done === true) return;
    const [batch, partition] = first.value;
    this.#letGo(batch);
    const batches = partition.cachedBatches;
    // Most often the oldest of its partition, which costs less to take off than one from the middle.
    if (batches[0] === batch) batches.shift();
    else batches.splice(indexAtOrAbove(batches, batch.position.lastOffset), 1);
  }
}

/**
 * Whether somebody is likely to read soon what was just appended. A compacted topic that nobody follows is a store that
 * is read at the start and only written then, as the mirror of committed offsets is: its batches would crowd out events.
 */
export function isWorthKeeping({ isFollowed }: PartitionState, cleanupPolicy: CleanupPolicy | undefined): boolean {
  return isFollowed || cleanupPolicy !== 'compact';
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
