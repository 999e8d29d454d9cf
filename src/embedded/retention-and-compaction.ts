import type { Offset } from '../ports/event-log.ts';
import { type Clock, type Timer, every } from '../clock.ts';
import type { BatchCache } from './batch-cache.ts';
import type { RetentionRequest, RowReplacement, WriterRequests } from './thread/messages.ts';
import type { MaintenanceThread } from './maintenance-thread.ts';
import type { LogThread } from './thread/log-thread.ts';
import type { PartitionState, TopicState, TopicTable } from './partition-state.ts';

/**
 * A partition is compacted automatically when this many records were added to it, and at least as many as the last
 * compaction kept, or when the topic says that they are old enough.
 */
const addedRecordsMinimum = 10_000;

/** Higher than any offset. */
const aboveEveryOffset = Number.MAX_SAFE_INTEGER;

export interface RetentionAndCompactionOptions {
  readonly thread: MaintenanceThread;
  readonly writer: LogThread<WriterRequests>;
  readonly topics: TopicTable;
  readonly cache: BatchCache;
  readonly clock: Clock;
  /** How often retention and compaction run. Milliseconds. */
  readonly maintenanceMilliseconds: number;
  /** Age at which a compaction removes tombstones. Milliseconds. */
  readonly tombstoneMilliseconds: number;
  /** The most memory for the keys of a compaction. Bytes. */
  readonly compactionBytesMaximum: number;
  /** Topics whose records leave no bytes in the files when retention removes them. */
  readonly overwrittenTopics: ReadonlySet<string>;
}

/**
 * Retention, compaction and the removal of the records of deleted topics. All run in the background, in small steps.
 */
export class RetentionAndCompaction {
  readonly #options: RetentionAndCompactionOptions;
  readonly #timers: Timer[] = [];
  #running: Promise<void> = Promise.resolve();
  /**
   * Whether the write-ahead log may still have bytes that must be gone: a reader, such as a backup, was in the way, or
   * the process before this one ended too early.
   */
  #isWalToBeEmptied = true;
  /** Whether a process before this one may have left rows that it was removing. */
  #mayHaveLeftOvers = true;

  constructor(options: RetentionAndCompactionOptions) {
    this.#options = options;
    const { thread, clock, maintenanceMilliseconds } = options;
    const repeat = (milliseconds: number, action: () => Promise<void>): void => {
      this.#timers.push(every(clock, milliseconds, () => void thread.runInBackground(action)));
    };
    repeat(maintenanceMilliseconds, () => this.runRetention(clock.now()));
    repeat(maintenanceMilliseconds, () => this.#compact(clock.now(), (...args) => this.#isDue(...args)));
  }

  /** Removes records beyond the retention time or size of their topics, as of `now` (milliseconds since the epoch). */
  runRetention(now: number): Promise<void> {
    return this.#runSerially(async () => {
      await this.#options.writer.call('beginMaintenance', null);
      for (const topic of this.#options.topics.values()) {
        if (topic.configuration.cleanupPolicy === 'compact') continue;
        for (const partition of topic.partitions) await this.#applyRetention(topic, partition, now);
      }
      this.#mayHaveLeftOvers = false;
      await this.#shrink();
    });
  }

  /** Removes records below an offset that were appended before that time (milliseconds since the epoch). */
  deleteRecords(partition: PartitionState, below: Offset, appendedBefore: number): Promise<void> {
    return this.#runSerially(() => this.#removeOldest(partition, { below, appendedBefore, bytesMaximum: null }));
  }

  /** Compacts every partition of every compacted topic, as of `now` (milliseconds since the epoch). */
  runCompaction(now: number): Promise<void> {
    return this.#compact(now, () => Promise.resolve(true));
  }

  /** Removes the rows of deleted partitions. */
  removePartitions(partitionIds: readonly number[]): Promise<void> {
    return this.#options.thread.runInBackground(() =>
      this.#runSerially(async () => {
        for (const partitionId of partitionIds) await this.#deleteRows(partitionId, aboveEveryOffset, false);
        await this.#shrink();
      }),
    );
  }

  /** Returns when the work under way has ended. To be called after the thread was stopped. */
  async close(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await this.#running;
  }

  async #applyRetention({ configuration }: TopicState, partition: PartitionState, now: number): Promise<void> {
    if (this.#mayHaveLeftOvers && this.#overwrites(partition) && partition.earliest > 0) {
      await this.#deleteRows(partition.id, partition.earliest, true);
    }
    await this.#removeOldest(partition, {
      below: partition.latest,
      appendedBefore: now - configuration.retentionMilliseconds,
      bytesMaximum: configuration.retentionBytes ?? null,
    });
  }

  async #removeOldest(
    partition: PartitionState,
    { below, ...limits }: Pick<RetentionRequest, 'appendedBefore' | 'bytesMaximum'> & { readonly below: Offset },
  ): Promise<void> {
    const { writer, cache } = this.#options;
    if (this.#isStopped(partition) || partition.earliest === partition.latest) return;
    const thread = await this.#options.thread.started();
    const { earliest } = await thread.call('planRetention', {
      partitionId: partition.id,
      earliest: partition.earliest,
      latest: Math.min(below, partition.latest),
      ...limits,
    });
    if (earliest <= partition.earliest || this.#isStopped(partition)) return;
    await writer.call('raiseEarliest', { partitionId: partition.id, earliest, latest: partition.latest });
    partition.earliest = earliest;
    cache.forget(partition, earliest);
    await this.#deleteRows(partition.id, earliest, this.#overwrites(partition));
  }

  #compact(
    now: number,
    isDue: (topic: TopicState, partition: PartitionState, now: number) => Promise<boolean>,
  ): Promise<void> {
    return this.#runSerially(async () => {
      for (const topic of this.#options.topics.values()) {
        if (topic.configuration.cleanupPolicy === 'delete') continue;
        for (const partition of topic.partitions) {
          if (await isDue(topic, partition, now)) await this.#compactPartition(topic, partition, now);
        }
      }
      await this.#shrink();
      if (!this.#isWalToBeEmptied || this.#options.thread.isStopped) return;
      await this.#returnFreePages();
      const { isEmpty } = await this.#options.writer.call('emptyWal', null);
      this.#isWalToBeEmptied = !isEmpty;
    });
  }

  async #isDue({ configuration }: TopicState, partition: PartitionState, now: number): Promise<boolean> {
    if (isWorthCompacting(partition)) return true;
    const { compactionLagMilliseconds } = configuration;
    if (compactionLagMilliseconds === undefined || partition.compactedTo === partition.latest) return false;
    if (partition.uncompactedSince === undefined && !this.#isStopped(partition)) {
      const thread = await this.#options.thread.started();
      const { appendedAt } = await thread.call('appendedAtFrom', {
        partitionId: partition.id,
        from: partition.compactedTo,
      });
      partition.uncompactedSince = appendedAt ?? undefined;
    }
    return partition.uncompactedSince !== undefined && now - partition.uncompactedSince >= compactionLagMilliseconds;
  }

  async #compactPartition(topic: TopicState, partition: PartitionState, now: number): Promise<void> {
    const { tombstoneMilliseconds } = this.#options;
    if (this.#isStopped(partition) || partition.latest === 0) return;
    const { latest } = partition;
    const tombstonesBefore = now - tombstoneMilliseconds;
    do await this.#compactSome(topic, partition, latest, tombstonesBefore);
    while (!this.#isStopped(partition) && partition.compactedTo < latest);
  }

  /** Compacts as many of the records below `latest` as the memory for their keys allows. */
  async #compactSome(
    { configuration }: TopicState,
    partition: PartitionState,
    latest: Offset,
    tombstonesBefore: number,
  ): Promise<void> {
    const { writer, compactionBytesMaximum: keyBytesMaximum } = this.#options;
    const { topic, partition: number, id: partitionId, compactedTo } = partition;
    const overwrites = configuration.compactionLagMilliseconds !== undefined;
    const thread = await this.#options.thread.started();
    const range = { topic, partition: number, partitionId, compactedTo, latest };
    const { toOffset } = await thread.call('beginCompaction', { ...range, keyBytesMaximum, tombstonesBefore });
    for (;;) {
      const { isDone, rows, recordCount } = await thread.call('nextCompaction', null);
      if (this.#isStopped(partition)) return;
      await this.#replace(partition, rows, overwrites);
      if (!isDone) continue;
      await writer.call('saveCompaction', { partitionId, toOffset, recordCount });
      partition.compactedTo = toOffset;
      partition.compactedRecordCount = recordCount;
      partition.uncompactedSince = undefined;
      return;
    }
  }

  async #replace(partition: PartitionState, rows: readonly RowReplacement[], overwrites: boolean): Promise<void> {
    const last = rows.at(-1);
    if (last === undefined) return;
    if (overwrites) this.#isWalToBeEmptied = true;
    const bodies = rows.flatMap(({ body }) => (body === null ? [] : [body]));
    const { hasSurplus } = await this.#options.writer.call('replaceRows', { rows, overwrites }, bodies);
    this.#options.cache.forget(partition, last.lastOffset + 1);
    if (hasSurplus) await this.#shrink();
  }

  #overwrites({ topic }: PartitionState): boolean {
    return this.#options.overwrittenTopics.has(topic);
  }

  async #deleteRows(partitionId: number, below: number, overwrites: boolean): Promise<void> {
    if (overwrites) this.#isWalToBeEmptied = true;
    while (!this.#options.thread.isStopped) {
      const { isDone, hasSurplus } = await this.#options.writer.call('deleteSome', { partitionId, below, overwrites });
      if (hasSurplus) await this.#shrink();
      if (isDone) return;
    }
  }

  async #shrink(): Promise<void> {
    while (!this.#options.thread.isStopped) {
      const { freedPages } = await this.#options.writer.call('shrinkFile', null);
      if (freedPages === 0) return;
    }
  }

  /** What was removed before the limit was set may be in pages that are free now, as nothing overwrote it then. */
  async #returnFreePages(): Promise<void> {
    while (!this.#options.thread.isStopped) {
      const { freedPages } = await this.#options.writer.call('returnPages', null);
      if (freedPages === 0) return;
    }
  }

  #isStopped(partition: PartitionState): boolean {
    return this.#options.thread.isStopped || partition.isDeleted;
  }

  /** One maintenance task at a time. */
  #runSerially(action: () => Promise<void>): Promise<void> {
    const result = this.#running.then(async () => {
      if (!this.#options.thread.isStopped) await action();
    });
    this.#running = result.catch(() => undefined);
    return result;
  }
}

function isWorthCompacting({ latest, compactedTo, compactedRecordCount }: PartitionState): boolean {
  return latest - compactedTo >= Math.max(addedRecordsMinimum, compactedRecordCount);
}
