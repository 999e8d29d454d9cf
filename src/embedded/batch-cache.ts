import type { CleanupPolicy, Offset } from '../ports/event-log.ts';
import type { StoredBatch } from './records/batch-format.ts';
import type { PartitionState } from './partition-state.ts';
import type { RunMemory } from './records/run-memory.ts';

/** What goes out of memory at once: a batch, or all batches that are kept of a run. */
interface Entry {
  readonly partition: PartitionState;
  /** By ascending offset. */
  readonly batches: StoredBatch[];
}

/**
 * Decoded batches that were appended or read lately, shared by all readers: many readers of one position cost one read,
 * and readers at the end of a partition never touch the disk. The least recently used batches go first; those of a run
 * go together, because that is when its memory can be used again.
 */
export class BatchCache {
  readonly #bytesMaximum: number;
  /** In order of use, the longest unused first; a run under its memory, any other batch under itself. */
  readonly #byUse = new Map<RunMemory | StoredBatch, Entry>();
  /** The key of what was used last: most uses are of the run that was used before. */
  #lastUsed: RunMemory | StoredBatch | undefined;
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
    this.#noteUse(batch.run ?? batch);
    return batch;
  }

  add(partition: PartitionState, batch: StoredBatch): void {
    const { run } = batch;
    if (batch.memoryBytes + bytesOf(run) > this.#bytesMaximum || partition.isDeleted) return;
    const batches = partition.cachedBatches;
    const index = indexAtOrAbove(batches, batch.position.lastOffset);
    const present = batches[index];
    if (present !== undefined && present.position.baseOffset <= batch.position.lastOffset) return;
    if (index === batches.length) batches.push(batch);
    else batches.splice(index, 0, batch);
    this.#bytes += batch.memoryBytes;
    const entry = this.#byUse.get(run ?? batch);
    if (entry === undefined) {
      this.#bytes += bytesOf(run);
      run?.hold();
      this.#byUse.set(run ?? batch, { partition, batches: [batch] });
      this.#lastUsed = run ?? batch;
    } else {
      entry.batches.push(batch);
      this.#noteUse(run ?? batch);
    }
    while (this.#bytes > this.#bytesMaximum) this.#evictLeastRecentlyUsed();
  }

  /** Forgets what lies wholly below the offset: all of the partition when none is given. */
  forget(partition: PartitionState, below: Offset = Infinity): void {
    const count = indexAtOrAbove(partition.cachedBatches, below);
    for (const batch of partition.cachedBatches.splice(0, count)) {
      this.#bytes -= batch.memoryBytes;
      const key = batch.run ?? batch;
      const kept = this.#byUse.get(key)?.batches;
      kept?.splice(kept.indexOf(batch), 1);
      if (kept?.length === 0) this.#letGo(key, batch.run);
    }
  }

  #noteUse(key: RunMemory | StoredBatch): void {
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
    const [key, { partition, batches }] = first.value;
    for (const { memoryBytes } of batches) this.#bytes -= memoryBytes;
    takeOut(partition.cachedBatches, batches);
    this.#letGo(key, batches[0]?.run);
  }

  #letGo(key: RunMemory | StoredBatch, run: RunMemory | undefined): void {
    this.#byUse.delete(key);
    if (this.#lastUsed === key) this.#lastUsed = undefined;
    this.#bytes -= bytesOf(run);
    run?.release();
  }
}

function bytesOf(run: RunMemory | undefined): number {
  return run === undefined ? 0 : run.memory.byteLength;
}

/** Takes batches out of a list that has all of them, most often side by side; both by ascending offset. */
function takeOut(list: StoredBatch[], batches: readonly StoredBatch[]): void {
  const index = indexAtOrAbove(list, batches[0]?.position.lastOffset ?? 0);
  if (index === 0 && batches.length === 1) {
    // Costs less than from the middle.
    list.shift();
  } else if (list[index + batches.length - 1] === batches.at(-1)) {
    list.splice(index, batches.length);
  } else {
    for (const { position } of batches) list.splice(indexAtOrAbove(list, position.lastOffset), 1);
  }
}

/**
 * Whether somebody is likely to read soon what was just appended. A compacted topic that nobody follows is a store that
 * is read at the start and only written then, as the mirror of committed offsets is: its batches would crowd out
 * events.
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
