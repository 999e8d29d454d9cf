/**
 * The embedded store: both ports on one machine.
 * In: appends, reads and commits. Out: records in one SQLite file; sessions and ownership in memory.
 * Start with `EmbeddedLog` below; `coordination.ts` has the other port. An append passes `append-queue.ts` on its way
 * to the thread that writes. A read (`log-reader.ts`) takes batches from `batch-cache.ts`, older ones from another
 * thread.
 */

import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import { Health, type HealthPart } from '../health.ts';
import { type DamageReport, IntegrityCheck, type IntegrityProgress } from '../integrity/integrity-check.ts';
import type { Logger } from '../logger.ts';
import { noValue, recordBytesMaximum } from '../ports/event-log.ts';
import type {
  AppendResult,
  EventLog,
  FencedWriter,
  Offset,
  PartitionBounds,
  PartitionEnd,
  PartitionRecords,
  ReadOptions,
  ReadResult,
  TopicAlteration,
  TopicConfiguration,
  TopicPartition,
} from '../ports/event-log.ts';
import { packedForm } from '../ports/packed-records.ts';
import { AppendQueue } from './append-queue.ts';
import type { AppendPart } from './append-queue.ts';
import { BatchCache, cacheBytesMaximumDefault, isWorthCaching } from './batch-cache.ts';
import { lockDataFolder } from './data-folder.ts';
import type { DataFolderLock } from './data-folder.ts';
import { EmbeddedWriter } from './fenced-writer.ts';
import { GroupOffsets } from './consumer-group-offsets.ts';
import type { PersistedState, WriterRequests } from './thread/messages.ts';
import { LogReader } from './log-reader.ts';
import { startLogThread } from './thread/log-thread.ts';
import type { LogThread } from './thread/log-thread.ts';
import { MaintenanceThread } from './maintenance-thread.ts';
import { RetentionAndCompaction } from './retention-and-compaction.ts';
import { WriteAheadLog } from './write-ahead-log.ts';
import { findPartition } from './partition-state.ts';
import { unknownPartition } from './unknown-partition.ts';
import type { PartitionState } from './partition-state.ts';
import { RowMemory } from './records/row-memory.ts';
import { oversizedRecordBytes } from './records/record-sizes.ts';
import { diskReserveBytes } from './thread/files-and-disk-space.ts';
import { StorageHealth } from './storage-health.ts';
import { TopicCatalogue } from './topic-catalogue.ts';

export interface EmbeddedLogOptions {
  /** The folder of the log. Created when missing. */
  readonly dataFolder: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** The health that the log reports to. When the writer thread ends, so does the process. */
  readonly health?: Health;
  /** Bytes of records that may wait to be written. Beyond it, appends fail with OVERLOADED. Default 64 MiB. */
  readonly queuedBytesMaximum?: number;
  /** Memory for batches that were appended or read lately. Bytes. Default 128 MiB. */
  readonly cacheBytesMaximum?: number;
  /**
   * The largest size of the database file. Bytes. Beyond it, appends fail with LOG_FULL. Default: the size of the disk.
   */
  readonly databaseBytesMaximum?: number;
  /** Free disk space that appends must leave. Bytes. Below it, they fail with LOG_FULL. Default 64 MiB. */
  readonly diskReserveBytes?: number;
  /** How often retention and compaction run. Milliseconds. Default one minute. */
  readonly maintenanceMilliseconds?: number;
  /** How often the write-ahead log is copied into the database file. Milliseconds. Default one second. */
  readonly checkpointMilliseconds?: number;
  /** Age at which compaction removes tombstones. Milliseconds. Default one day. */
  readonly tombstoneMilliseconds?: number;
  /**
   * Topics whose records leave no bytes in the files when retention removes them: those that may be about people, are
   * few, and go one by one. Default none.
   */
  readonly overwrittenTopics?: readonly string[];
  /** When the first check of the file begins. Milliseconds after the start. Default ten seconds. */
  readonly firstCheckMilliseconds?: number;
  /** Memory for the keys of a compaction. With more keys it takes several passes. Bytes. Default 64 MiB. */
  readonly compactionBytesMaximum?: number;
  /**
   * Whether an append waits for the disk. Default true. Only tests set false: a loss of power would take what was
   * acknowledged. No setting of the service leads here.
   */
  readonly syncsToDisk?: boolean;
}

const queuedBytesMaximumDefault = 64 * 1024 * 1024;
const compactionBytesMaximumDefault = 64 * 1024 * 1024;
const minuteMilliseconds = 60_000;
const dayMilliseconds = 24 * 60 * minuteMilliseconds;

/** The event log of a single machine: one SQLite file, written by one process. */
export class EmbeddedLog implements EventLog {
  readonly #lock: DataFolderLock;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #writerThread: LogThread<WriterRequests>;
  readonly #catalogue: TopicCatalogue;
  readonly #cache: BatchCache;
  readonly #queue: AppendQueue;
  readonly #reader: LogReader;
  readonly #groupOffsets: GroupOffsets;
  readonly #maintenanceThread: MaintenanceThread;
  readonly #writeAheadLog: WriteAheadLog;
  readonly #retention: RetentionAndCompaction;
  readonly #storage: StorageHealth;
  readonly #integrity: IntegrityCheck;
  readonly #writers = new Map<string, EmbeddedWriter>();
  #closing: Promise<void> | undefined;

  /**
   * Opens the log and locks its data folder.
   * @throws DATA_FOLDER_UNUSABLE: cannot be created or written, or its database is damaged
   * @throws DATA_FOLDER_IN_USE: another process holds it
   */
  static async open(options: EmbeddedLogOptions): Promise<EmbeddedLog> {
    const lock = lockDataFolder(options.dataFolder);
    const health = options.health ?? new Health(options.clock ?? systemClock);
    const writerHealth = health.part('log-writer');
    const onFailure = (error: Error): void => {
      options.logger.error({ error: describeError(error) }, 'The thread that writes the log ended; nothing is stored');
      writerHealth.reportFailed(`The thread that writes the log ended: ${describeError(error)}.`);
    };
    const writerThread = startLogThread<WriterRequests>(new URL('./thread/writer.js', import.meta.url), onFailure);
    try {
      const state = await writerThread.call('open', {
        path: databasePathIn(lock),
        databaseBytesMaximum: options.databaseBytesMaximum,
        diskReserveBytes: options.diskReserveBytes ?? diskReserveBytes,
        syncsToDisk: options.syncsToDisk,
      });
      return new EmbeddedLog(options, health, lock, writerThread, state);
    } catch (error) {
      await writerThread.end();
      lock.release();
      throw error;
    }
  }

  private constructor(
    options: EmbeddedLogOptions,
    health: Health,
    lock: DataFolderLock,
    writerThread: LogThread<WriterRequests>,
    state: PersistedState,
  ) {
    const databasePath = databasePathIn(lock);
    this.#lock = lock;
    this.#logger = options.logger;
    this.#clock = options.clock ?? systemClock;
    this.#writerThread = writerThread;
    this.#catalogue = new TopicCatalogue(writerThread, state);
    this.#cache = new BatchCache(options.cacheBytesMaximum);
    this.#reader = new LogReader(databasePath, this.#cache, health.part('log-reader'), this.#clock, options.logger);
    this.#storage = new StorageHealth(writerThread, health, this.#clock, options.logger);
    this.#groupOffsets = new GroupOffsets(writerThread, state.groupOffsets, this.#clock, options.logger);
    const maintenanceHealth = health.part('log-maintenance');
    this.#maintenanceThread = new MaintenanceThread({
      databasePath,
      health: maintenanceHealth,
      logger: options.logger,
    });
    this.#writeAheadLog = new WriteAheadLog({
      thread: this.#maintenanceThread,
      writer: writerThread,
      clock: this.#clock,
      health: maintenanceHealth,
      ...(options.checkpointMilliseconds === undefined
        ? {}
        : { checkpointMilliseconds: options.checkpointMilliseconds }),
    });
    this.#retention = new RetentionAndCompaction({
      thread: this.#maintenanceThread,
      writer: writerThread,
      topics: this.#catalogue.topics,
      cache: this.#cache,
      clock: this.#clock,
      maintenanceMilliseconds: options.maintenanceMilliseconds ?? minuteMilliseconds,
      tombstoneMilliseconds: options.tombstoneMilliseconds ?? dayMilliseconds,
      compactionBytesMaximum: options.compactionBytesMaximum ?? compactionBytesMaximumDefault,
      overwrittenTopics: new Set(options.overwrittenTopics),
    });
    void this.#retention.removePartitions(state.orphanedPartitionIds);
    const integrityHealth = health.part('log-integrity');
    this.#integrity = new IntegrityCheck({
      path: databasePath,
      script: new URL('./thread/log-check.js', import.meta.url),
      clock: this.#clock,
      logger: options.logger,
      ...(options.firstCheckMilliseconds === undefined
        ? {}
        : { firstCheckMilliseconds: options.firstCheckMilliseconds }),
      onDamages: (damages) => reportDamages(integrityHealth, damages),
    });
    this.#queue = new AppendQueue({
      writer: writerThread,
      clock: this.#clock,
      rowMemory: new RowMemory(options.cacheBytesMaximum ?? cacheBytesMaximumDefault),
      queuedBytesMaximum: options.queuedBytesMaximum ?? queuedBytesMaximumDefault,
      onGrowth: (partition, batches) => {
        const policy = this.#catalogue.topics.get(partition.topic)?.configuration.cleanupPolicy;
        if (isWorthCaching(partition, policy)) for (const batch of batches) this.#cache.add(partition, batch);
        partition.waiting.wake(({ offset, options: wanted, dueAt }) =>
          this.#readOrWait(partition, offset, wanted, dueAt),
        );
        this.#writeAheadLog.recordWrite();
      },
      onFailure: () => this.#storage.check(),
    });
  }

  async createTopic(configuration: TopicConfiguration): Promise<void> {
    this.#assertOpen();
    await this.#catalogue.create(configuration);
  }

  async alterTopic(name: string, alteration: TopicAlteration): Promise<void> {
    this.#assertOpen();
    await this.#catalogue.alter(name, alteration);
  }

  async deleteTopic(name: string): Promise<void> {
    this.#assertOpen();
    const deletedPartitions = await this.#catalogue.delete(name);
    this.#groupOffsets.forgetTopic(name);
    for (const partition of deletedPartitions) {
      this.#cache.forget(partition);
      partition.waiting.fail(unknownPartition(partition));
    }
    void this.#retention.removePartitions(deletedPartitions.map(({ id }) => id));
  }

  listTopics(names?: readonly string[]): Promise<TopicConfiguration[]> {
    return this.#fromMemory(() => this.#catalogue.list(names));
  }

  bounds(partitions: readonly TopicPartition[]): Promise<PartitionBounds[]> {
    return this.#fromMemory(() =>
      partitions.map(({ topic, partition }) => {
        const { earliest, latest } = findPartition(this.#catalogue.topics, { topic, partition });
        return { topic, partition, earliest, latest };
      }),
    );
  }

  endOffsets(partitions: readonly TopicPartition[]): Promise<PartitionEnd[]> {
    return this.#fromMemory(() =>
      partitions.map(({ topic, partition }) => {
        const { latest } = findPartition(this.#catalogue.topics, { topic, partition });
        return { topic, partition, latest };
      }),
    );
  }

  async offsetsAt(
    partitions: readonly TopicPartition[],
    time: number,
  ): Promise<(TopicPartition & { readonly offset: Offset })[]> {
    this.#assertOpen();
    const found = partitions.map((partition) => findPartition(this.#catalogue.topics, partition));
    return Promise.all(
      found.map(async (partition, index) => {
        const { topic, partition: number } = partitions[index] as TopicPartition;
        return { topic, partition: number, offset: await this.#reader.offsetAt(partition, time) };
      }),
    );
  }

  async append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]> {
    this.#assertOpen();
    return Promise.all(partitions.map((records) => this.#appendOne(records)));
  }

  async #appendOne(request: PartitionRecords): Promise<AppendResult> {
    const { topic, partition } = request;
    try {
      const [baseOffset] = await this.#queue.add([this.#resolvePart(request)]);
      return { topic, partition, outcome: 'appended', baseOffset: baseOffset as Offset };
    } catch (error) {
      if (!(error instanceof LendstreamError)) throw error;
      return { topic, partition, outcome: 'failed', error };
    }
  }

  /** @throws UNKNOWN_TOPIC_OR_PARTITION, RECORD_TOO_LARGE, UNPROCESSABLE (no key on a compacted topic) */
  #resolvePart(request: PartitionRecords): AppendPart {
    const { topic, partition } = request;
    const state = findPartition(this.#catalogue.topics, request);
    const records = packedForm(request);
    const bytes = oversizedRecordBytes(records);
    if (bytes !== undefined) {
      throw new LendstreamError(
        'RECORD_TOO_LARGE',
        `A record for topic ${topic} has ${bytes} bytes; the largest allowed is ${recordBytesMaximum}.`,
        { details: { topic, partition } },
      );
    }
    const needsKeys = this.#catalogue.topics.get(topic)?.configuration.cleanupPolicy !== 'delete';
    if (needsKeys && records.keyEnds.includes(noValue)) {
      throw new LendstreamError('UNPROCESSABLE', `Records of the compacted topic ${topic} need a key.`, {
        details: { topic, partition },
      });
    }
    return { partition: state, records };
  }

  async deleteRecords(before: TopicPartition & { readonly offset: Offset }, appendedBefore: number): Promise<void> {
    this.#assertOpen();
    const partition = findPartition(this.#catalogue.topics, before);
    await this.#retention.deleteRecords(partition, before.offset, appendedBefore);
  }

  read(from: TopicPartition & { readonly offset: Offset }, options: ReadOptions): Promise<ReadResult> {
    try {
      this.#assertOpen();
      return this.#readOrWait(
        findPartition(this.#catalogue.topics, from),
        from.offset,
        options,
        this.#clock.monotonic() + options.waitMilliseconds,
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Not an async function: its frame would be kept as long as the read waits, 600 bytes for each partition of a stream.
   * @param dueAt When the wait ends; Infinity waits without limit. Monotonic milliseconds.
   */
  #readOrWait(partition: PartitionState, offset: Offset, options: ReadOptions, dueAt: number): Promise<ReadResult> {
    this.#assertOpen();
    if (partition.isDeleted) throw unknownPartition(partition);
    if (!(offset >= partition.earliest && offset <= partition.latest)) throw outOfRange(partition, offset);
    if (offset < partition.latest) {
      const read = this.#reader.read(partition, offset, options.bytesMaximum);
      return read.then((result) => result ?? this.#readOrWait(partition, offset, options, dueAt));
    }
    if (dueAt <= this.#clock.monotonic() || options.signal?.aborted === true) {
      return Promise.resolve({ batches: [], nextOffset: offset });
    }
    return partition.waiting.add(this.#clock, offset, options, dueAt);
  }

  async openWriter(writerId: string): Promise<FencedWriter> {
    this.#assertOpen();
    this.#writers.get(writerId)?.fence();
    const writer: EmbeddedWriter = new EmbeddedWriter({
      writerId,
      queue: this.#queue,
      resolveParts: (partitions) => partitions.map((records) => this.#resolvePart(records)),
      onClose: () => {
        if (this.#writers.get(writerId) === writer) this.#writers.delete(writerId);
      },
    });
    this.#writers.set(writerId, writer);
    try {
      const { epoch } = await this.#writerThread.call('openWriter', { writerId });
      writer.setEpoch(epoch);
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  exportGroupOffsets(
    group: string,
    positions: readonly (TopicPartition & { readonly offset: Offset })[],
  ): Promise<void> {
    return this.#fromMemory(() => this.#groupOffsets.export(group, positions));
  }

  groupOffsets(group: string): Promise<(TopicPartition & { readonly offset: Offset })[]> {
    return this.#fromMemory(() => this.#groupOffsets.of(group));
  }

  /**
   * Removes at once the records that are too old or exceed the size limit. Runs by itself every
   * `maintenanceMilliseconds`.
   */
  async runRetention(now: number = this.#clock.now()): Promise<void> {
    this.#assertOpen();
    await this.#retention.runRetention(now);
  }

  /** Compacts every compacted topic at once. Runs by itself when enough has been added since the last time. */
  async runCompaction(now: number = this.#clock.now()): Promise<void> {
    this.#assertOpen();
    await this.#retention.runCompaction(now);
  }

  /** How far the check of the file is, which runs in the background. */
  get integrity(): IntegrityProgress {
    return this.#integrity.progress;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const writer of this.#writers.values()) writer.invalidate(logClosed());
    for (const { partitions } of this.#catalogue.topics.values()) {
      for (const partition of partitions) partition.waiting.fail(logClosed());
    }
    await this.#integrity.close();
    await this.#queue.drained();
    await this.#storage.close();
    this.#maintenanceThread.stop();
    this.#writeAheadLog.close();
    await this.#retention.close();
    await this.#maintenanceThread.close();
    await this.#groupOffsets.close();
    await this.#reader.close();
    try {
      await this.#writerThread.call('close', null);
    } catch (error) {
      this.#logger.error({ error: describeError(error) }, 'Closing the log failed; it recovers when it is next opened');
    }
    await this.#writerThread.end();
    this.#lock.release();
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw logClosed();
  }

  /** Returns a value from memory as a promise, so that errors are always rejections. */
  async #fromMemory<Value>(compute: () => Value): Promise<Value> {
    this.#assertOpen();
    return compute();
  }
}

function databasePathIn({ path }: DataFolderLock): string {
  return join(path, 'log.db');
}

function reportDamages(health: HealthPart, { count, first }: DamageReport): void {
  if (first === null) health.reportReady();
  else {
    const others = count === 1 ? '' : ` ${count - 1} more damages were found.`;
    health.reportNotReady(`The log is damaged and must be restored from a copy. ${first}${others}`);
  }
}

function logClosed(): LendstreamError {
  return new LendstreamError('LOG_CLOSED', 'The log is closed.');
}

function outOfRange({ topic, partition, earliest, latest }: PartitionState, offset: Offset): LendstreamError {
  return new LendstreamError(
    'OFFSET_OUT_OF_RANGE',
    `Topic ${topic}, partition ${partition}, holds offsets from ${earliest}, and the next is ${latest}; ` +
      `${offset} is outside.`,
    { details: { topic, partition, earliest, latest } },
  );
}
