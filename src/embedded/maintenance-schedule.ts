import type { Offset } from '../ports/event-log.ts';
import { type Clock, type Timer, every } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { HealthPart } from '../health.ts';
import type { Logger } from '../logger.ts';
import type { BatchCache } from './batch-cache.ts';
import type { MaintenanceRequests, RetentionRequest, RowReplacement, WriterRequests } from './thread/messages.ts';
import { startLogThread } from './thread/log-thread.ts';
import type { LogThread } from './thread/log-thread.ts';
import type { PartitionState, TopicState, TopicTable } from './partition-state.ts';

/** How often the write-ahead log is copied into the database file. Milliseconds. */
const checkpointMilliseconds = 1_000;

/**
 * A write-ahead log larger than this is restarted while appends wait. Without a pause in writing it would never
 * restart. Only a little is left after a checkpoint, and the more frequent the checkpoints, the shorter the wait.
 * Bytes.
 */
const walBytesMaximum = 64 * 1024 * 1024;

/**
 * The pause after a restart that failed because a reader, such as a backup, was still active: each try blocks writing.
 * Milliseconds.
 */
const walRestartPauseMilliseconds = 10_000;

/**
 * A partition is compacted automatically when this many records were added to it, and at least as many as the last
 * compaction kept.
 */
const addedRecordsMinimum = 10_000;

/** Higher than any offset. */
const aboveEveryOffset = Number.MAX_SAFE_INTEGER;

export interface MaintenanceOptions {
  readonly databasePath: string;
  readonly writer: LogThread<WriterRequests>;
  readonly topics: TopicTable;
  readonly cache: BatchCache;
  readonly clock: Clock;
  readonly health: HealthPart;
  readonly logger: Logger;
  /** How often retention and compaction run. Milliseconds. */
  readonly maintenanceMilliseconds: number;
  /** Age at which a compaction removes tombstones. Milliseconds. */
  readonly tombstoneMilliseconds: number;
  /** The most memory for the keys of a compaction. Bytes. */
  readonly compactionBytesMaximum: number;
}

/**
 * Checkpoints, retention, compaction and the removal of the records of deleted topics. All run in the background, in
 * small steps.
 */
export class LogMaintenance {
  readonly #options: MaintenanceOptions;
  readonly #timers: Timer[] = [];
  #thread: Promise<LogThread<MaintenanceRequests>> | undefined;
  #running: Promise<void> = Promise.resolve();
  #hasWrites = false;
  #isCheckpointing = false;
  #walRestartAllowedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    const { clock, maintenanceMilliseconds } = options;
    const repeat = (milliseconds: number, action: () => Promise<void>): void => {
      this.#timers.push(every(clock, milliseconds, () => void this.#logged(action)));
    };
    repeat(checkpointMilliseconds, () => this.#checkpoint());
    repeat(maintenanceMilliseconds, () => this.runRetention(clock.now()));
    repeat(maintenanceMilliseconds, () => this.#compact(clock.now(), isWorthCompacting));
  }

  /** Must be called after each commit. Without new commits a checkpoint has nothing to do. */
  recordWrite(): void {
    this.#hasWrites = true;
  }

  /** Removes records beyond the retention time or size of their topics, as of `now` (milliseconds since the epoch). */
  runRetention(now: number): Promise<void> {
    return this.#runSerially(async () => {
      for (const topic of this.#options.topics.values()) {
        if (topic.configuration.cleanupPolicy === 'compact') continue;
        for (const partition of topic.partitions) await this.#applyRetention(topic, partition, now);
      }
      await this.#shrink();
    });
  }

  /** Removes records below an offset that were appended before that time (milliseconds since the epoch). */
  deleteRecords(partition: PartitionState, below: Offset, appendedBefore: number): Promise<void> {
    return this.#runSerially(() => this.#removeOldest(partition, { below, appendedBefore, bytesMaximum: null }));
  }

  /** Compacts every partition of every compacted topic, as of `now` (milliseconds since the epoch). */
  runCompaction(now: number): Promise<void> {
    return this.#compact(now, () => true);
  }

  /** Removes the rows of deleted partitions. */
  removePartitions(partitionIds: readonly number[]): Promise<void> {
    return this.#logged(() =>
      this.#runSerially(async () => {
        for (const partitionId of partitionIds) await this.#deleteRows(partitionId, aboveEveryOffset);
        await this.#shrink();
      }),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    await this.#running;
    const thread = await this.#thread?.catch(() => undefined);
    if (thread === undefined) return;
    await this.#logged(async () => {
      await thread.call('close', null);
    });
    await thread.end();
  }

  async #checkpoint(): Promise<void> {
    // A thread that ended is started again even if there is nothing to do.
    if ((!this.#hasWrites && this.#options.health.ready) || this.#isCheckpointing || this.#isClosed) return;
    this.#isCheckpointing = true;
    this.#hasWrites = false;
    try {
      const thread = await this.#startedThread();
      const { walBytes } = await thread.call('checkpoint', null);
      if (walBytes > walBytesMaximum) await this.#restartWal();
    } finally {
      this.#isCheckpointing = false;
    }
  }

  async #restartWal(): Promise<void> {
    const { writer, clock } = this.#options;
    if (clock.monotonic() >= this.#walRestartAllowedAt) {
      const { isRestarted } = await writer.call('restartWal', null);
      if (isRestarted) return;
      this.#walRestartAllowedAt = clock.monotonic() + walRestartPauseMilliseconds;
    }
    // Try again even if nothing more is written: a file that grew during a backup must not keep that size.
    this.#hasWrites = true;
  }

  #applyRetention({ configuration }: TopicState, partition: PartitionState, now: number): Promise<void> {
    return this.#removeOldest(partition, {
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
    const thread = await this.#startedThread();
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
    await this.#deleteRows(partition.id, earliest);
  }

  #compact(now: number, isDue: (partition: PartitionState) => boolean): Promise<void> {
    return this.#runSerially(async () => {
      for (const topic of this.#options.topics.values()) {
        if (topic.configuration.cleanupPolicy === 'delete') continue;
        for (const partition of topic.partitions.filter(isDue)) await this.#compactPartition(partition, now);
      }
      await this.#shrink();
    });
  }

  async #compactPartition(partition: PartitionState, now: number): Promise<void> {
    const { tombstoneMilliseconds } = this.#options;
    if (this.#isStopped(partition) || partition.latest === 0) return;
    const { latest } = partition;
    const tombstonesBefore = now - tombstoneMilliseconds;
    do await this.#compactSome(partition, latest, tombstonesBefore);
    while (!this.#isStopped(partition) && partition.compactedTo < latest);
  }

  /** Compacts as many of the records below `latest` as the memory for their keys allows. */
  async #compactSome(partition: PartitionState, latest: Offset, tombstonesBefore: number): Promise<void> {
    const { writer, compactionBytesMaximum: keyBytesMaximum } = this.#options;
    const { topic, partition: number, id: partitionId, compactedTo } = partition;
    const thread = await this.#startedThread();
    const range = { topic, partition: number, partitionId, compactedTo, latest };
    const { toOffset } = await thread.call('beginCompaction', { ...range, keyBytesMaximum, tombstonesBefore });
    for (;;) {
      const { isDone, rows, recordCount } = await thread.call('nextCompaction', null);
      if (this.#isStopped(partition)) return;
      await this.#replace(partition, rows);
      if (!isDone) continue;
      await writer.call('saveCompaction', { partitionId, toOffset, recordCount });
      partition.compactedTo = toOffset;
      partition.compactedRecordCount = recordCount;
      return;
    }
  }

  async #replace(partition: PartitionState, rows: readonly RowReplacement[]): Promise<void> {
    const last = rows.at(-1);
    if (last === undefined) return;
    const bodies = rows.flatMap(({ body }) => (body === null ? [] : [body]));
    await this.#options.writer.call('replaceRows', { rows }, bodies);
    this.#options.cache.forget(partition, last.lastOffset + 1);
  }

  async #deleteRows(partitionId: number, below: number): Promise<void> {
    while (!this.#isClosed) {
      const { isDone } = await this.#options.writer.call('deleteSome', { partitionId, below });
      if (isDone) return;
    }
  }

  async #shrink(): Promise<void> {
    while (!this.#isClosed) {
      const { freedPages } = await this.#options.writer.call('shrinkFile', null);
      if (freedPages === 0) return;
    }
  }

  #isStopped(partition: PartitionState): boolean {
    return this.#isClosed || partition.isDeleted;
  }

  /** Starts the thread when it is first needed. */
  #startedThread(): Promise<LogThread<MaintenanceRequests>> {
    if (this.#isClosed) return Promise.reject(new LendstreamError('LOG_CLOSED', 'The log is closed.'));
    this.#thread ??= this.#startThread();
    return this.#thread;
  }

  async #startThread(): Promise<LogThread<MaintenanceRequests>> {
    const { databasePath, health, logger } = this.#options;
    const thread = startLogThread<MaintenanceRequests>(new URL('./thread/maintenance.js', import.meta.url), (error) => {
      logger.error({ error: describeError(error) }, 'The thread that maintains the log ended; restarting it');
      health.reportNotReady(`The thread that maintains the log ended; restarting it: ${describeError(error)}.`);
      this.#thread = undefined;
    });
    try {
      await thread.call('open', { path: databasePath });
      health.reportReady();
      return thread;
    } catch (error) {
      this.#thread = undefined;
      await thread.end();
      throw error;
    }
  }

  /** One maintenance task at a time. */
  #runSerially(action: () => Promise<void>): Promise<void> {
    const result = this.#running.then(async () => {
      if (!this.#isClosed) await action();
    });
    this.#running = result.catch(() => undefined);
    return result;
  }

  /** For tasks that nothing waits for: a failure is logged, and the next round tries again. */
  async #logged(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (this.#isClosed) return;
      this.#options.logger.warn({ error: describeError(error) }, 'Maintenance of the log failed; retrying');
    }
  }
}

function isWorthCompacting({ latest, compactedTo, compactedRecordCount }: PartitionState): boolean {
  return latest - compactedTo >= Math.max(addedRecordsMinimum, compactedRecordCount);
}
