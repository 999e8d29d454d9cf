import type { LendstreamError } from '../errors.ts';
import type { ReadSignal } from './read-signal.ts';

/**
 * The event log: the port behind which Kafka (cluster) or an embedded store (one machine) keeps every record.
 * In: records to append, and positions to read from. Out: their offsets, and batches of records in the order of their
 * partition. Start with `EventLog` below; `coordination.ts` is the other port, `published-ids.ts` a small third one.
 *
 * The port promises no more than a Kafka log can keep:
 * - Offsets of a partition only grow, but they may have holes (transaction markers, aborted transactions, compaction).
 *   Never compute a record's offset from another's; `nextOffset` of a read says where the next read continues.
 * - Order is guaranteed within a partition, never across partitions.
 * - An append is all or nothing per partition, never across partitions; only a fenced writer's transaction is atomic
 *   over several topics.
 * - An append without a response has an unknown outcome (`OUTCOME_UNKNOWN`): do not treat it as a failure.
 *
 * Errors are {@link LendstreamError}s. Each method lists the codes it may throw; every method may also throw
 * `LOG_UNAVAILABLE` (retriable) and `LOG_CLOSED`.
 */

/** The position of a record in its partition. Exact integers below 2^53. */
export type Offset = number;

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** How a topic drops old records: by age and size, or by keeping only the newest record of each key, or both. */
export type CleanupPolicy = 'delete' | 'compact' | 'compact_and_delete';

export interface TopicConfiguration {
  readonly name: string;
  /** 1..{@link partitionsPerTopicMaximum}. */
  readonly partitionCount: number;
  readonly cleanupPolicy: CleanupPolicy;
  /** Age at which records of a `delete` topic may be deleted; Infinity means no limit. Ignored for `compact`. */
  readonly retentionMilliseconds: number;
  /** Size per partition above which the oldest records of a `delete` topic may be deleted; absent: no limit. Bytes. */
  readonly retentionBytes?: number;
  /**
   * Age at which a record of a compacted topic that a later one of its key replaced or deleted is due to be removed,
   * also when there are few of them; absent: the log decides by their number. From then on its bytes are gone from the
   * files of the log as soon as the log has compacted, for which it may wait until the partition gets another record.
   * Infinity in an alteration removes the limit.
   */
  readonly compactionLagMilliseconds?: number;
}

/** The settings that may change during the life of a topic. The number of partitions can only grow. */
export type TopicAlteration = Partial<Omit<TopicConfiguration, 'name'>>;

/** A record to append. A null value on a compacted topic deletes its key (a tombstone). */
export interface LogRecord {
  readonly key: string | null;
  readonly value: Buffer | null;
}

/**
 * Records for one partition. They are stored all or none, in this order, with no other record between them. A log
 * accepts at least {@link appendBytesMaximum} bytes of them at once.
 */
export interface PartitionRecords extends TopicPartition {
  readonly records: readonly LogRecord[];
}

/** The outcome for one partition's records. Results are in the order of the request. */
export type AppendResult =
  | (TopicPartition & { readonly outcome: 'appended'; readonly baseOffset: Offset })
  /**
   * `RECORD_TOO_LARGE` (one of them, or all together), `UNPROCESSABLE` (no key on a compacted topic),
   * `UNKNOWN_TOPIC_OR_PARTITION`, `OVERLOADED`, `LOG_FULL`, `LOG_UNAVAILABLE`: nothing was stored.
   * `OUTCOME_UNKNOWN`: the records may have been stored.
   */
  | (TopicPartition & { readonly outcome: 'failed'; readonly error: LendstreamError });

/** The offset that the next record will get, as a committed reader sees it. */
export interface PartitionEnd extends TopicPartition {
  readonly latest: Offset;
}

/** The first offset still stored, and the end. */
export interface PartitionBounds extends PartitionEnd {
  readonly earliest: Offset;
}

export interface BoundsOptions {
  /**
   * Makes `latest` the end of all written records, not of those that readers can see by now. A commit may be
   * acknowledged a moment before its records are visible everywhere. A caller that must not miss an acknowledged record
   * therefore reads up to this offset. Records of an open transaction count too, so reading this far may have to wait
   * for its end. Default false.
   */
  readonly includeUncommitted?: boolean;
}

/** Where each record of a batch is: see the lists of {@link RecordBatch}. */
export interface RecordPositions {
  offsetAt(index: number): Offset;
  valueStartAt(index: number): number;
  valueEndAt(index: number): number;
}

/**
 * Records that were stored together, as positions in the bytes they were read into: no object per record.
 * Values are spliced into responses without being parsed.
 */
export interface RecordBatch extends TopicPartition {
  readonly count: number;
  /** When the records were appended. Milliseconds since the epoch. */
  readonly appendedAt: number;
  /** The memory that contains all values. Treat as immutable: it may be shared between readers. */
  readonly bytes: Buffer;
  /** Offset of each record, ascending, not necessarily without holes. */
  readonly offsets: Float64Array;
  /** Start of each value in `bytes`; {@link noValue} marks a tombstone. */
  readonly valueStarts: Uint32Array;
  /** End (exclusive) of each value in `bytes`. */
  readonly valueEnds: Uint32Array;
  /**
   * The same for one record, in batches that make the three lists only when they are read. Most batches are sent as a
   * whole, and need no list. Call the functions of `record-positions.ts`, which take any batch.
   */
  readonly positions?: RecordPositions;
  /**
   * Whether each value is followed in `bytes` by exactly one comma and the next value, so that a run of records can be
   * spliced with one copy. False when there is record framing between the values, or when any value is a tombstone.
   */
  readonly contiguous: boolean;
  /**
   * Marks external records, written to the topic by a producer outside this product: 1 at the index of each, 0 at the
   * others. Absent means none, as always on the embedded backend. The value of such a record is unchecked: it may be
   * neither UTF-8 nor JSON. Readers must check it before they splice it.
   */
  readonly external?: Uint8Array;
  key(index: number): string | null;
  /**
   * Says that a reader has finished with this batch. Called once for each read that returned it: its memory may then be
   * used for other batches. Calling it is optional. Absent where memory is never reused.
   */
  readonly release?: (() => void) | undefined;
}

/** In `valueStarts`: the record has no value. */
export const noValue = 0xffffffff;

export interface ReadResult {
  /**
   * In order. There may be none, even after a wait: a read that only moves `nextOffset` over a hole returns as well.
   * Records before the requested offset are not included.
   */
  readonly batches: readonly RecordBatch[];
  /** Where the next read continues. Never below the requested offset; may jump over holes. */
  readonly nextOffset: Offset;
}

export interface ReadOptions {
  /**
   * How much to read. Bytes. At least one batch is returned when there is one, however large. Batches are never cut, so
   * a result may exceed this by less than one batch.
   */
  readonly bytesMaximum: number;
  /**
   * How long to wait when there are no records. 0 returns at once, Infinity waits until there are some or `signal`
   * aborts. Milliseconds.
   */
  readonly waitMilliseconds: number;
  readonly signal?: ReadSignal;
}

export interface EventLog {
  /**
   * Creates a topic. It is ready for appends and reads when this returns.
   * @throws TOPIC_ALREADY_EXISTS, UNPROCESSABLE (a name or partition count that no backend accepts)
   */
  createTopic(configuration: TopicConfiguration): Promise<void>;

  /**
   * Changes the given settings and keeps the rest. Partitions can only be added. When this returns, {@link listTopics}
   * of every process returns the new settings.
   * @throws UNKNOWN_TOPIC_OR_PARTITION, UNPROCESSABLE (fewer partitions than now)
   */
  alterTopic(name: string, alteration: TopicAlteration): Promise<void>;

  /** Deletes a topic and its records. Pending reads of it fail; other topics are not affected.
   * @throws UNKNOWN_TOPIC_OR_PARTITION */
  deleteTopic(name: string): Promise<void>;

  /**
   * The topics with these names, as far as they exist, or all topics. Naming them costs a cluster with many topics much
   * less.
   */
  listTopics(names?: readonly string[]): Promise<TopicConfiguration[]>;

  /** @throws UNKNOWN_TOPIC_OR_PARTITION when any of them is unknown */
  bounds(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionBounds[]>;

  /**
   * The ends alone, for which a cluster needs half of the requests.
   * @throws UNKNOWN_TOPIC_OR_PARTITION when any of them is unknown
   */
  endOffsets(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionEnd[]>;

  /**
   * Where to begin reading to get the records of a time and all later ones: of each partition, the first offset whose
   * record was appended then or later, and the end where there is none. Records that were appended together have one
   * time. If the clock was set back in between, it is the first of some run of such records.
   * @param time Milliseconds since the epoch.
   * @throws UNKNOWN_TOPIC_OR_PARTITION when any of them is unknown
   */
  offsetsAt(
    partitions: readonly TopicPartition[],
    time: number,
  ): Promise<(TopicPartition & { readonly offset: Offset })[]>;

  /**
   * Appends to any number of partitions and returns when each is durable or has failed. Each partition is all or
   * nothing; a failure of one does not affect the others. Once all of them are appended, the log reads the records no
   * more, so that their memory may be used again. After a failure it may still send them.
   */
  append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]>;

  /**
   * Deletes the records of a partition that are below `before.offset` and were appended before a given time: the oldest
   * first, and not necessarily all of them at once. Records at or above the offset, and younger ones, always stay.
   * @param before Its offset is at most the end of the partition.
   * @param appendedBefore Milliseconds since the epoch.
   * @throws UNKNOWN_TOPIC_OR_PARTITION
   */
  deleteRecords(before: TopicPartition & { readonly offset: Offset }, appendedBefore: number): Promise<void>;

  /**
   * Reads one partition from a position. Sees only committed records: never those of an open or aborted transaction.
   * An aborted `signal` ends the wait with an empty result.
   * @throws OFFSET_OUT_OF_RANGE (details: earliest, latest) when `offset` is below the first stored record or beyond
   *   the end;
   *   UNKNOWN_TOPIC_OR_PARTITION, also when the topic is deleted during the wait;
   *   CORRUPT_BATCH (details: topic, partition, baseOffset) when stored bytes do not match their checksum
   */
  read(from: TopicPartition & { readonly offset: Offset }, options: ReadOptions): Promise<ReadResult>;

  /**
   * How often records that were read before have come to be shown in another way: what was read ahead is then to be
   * read again. Absent where that never happens.
   */
  readonly changeCount?: () => number;

  /**
   * Opens the writer with this name and fences off every earlier one with the same name: its open transaction is
   * aborted and its next step fails. Returns once this is done.
   * @param partitions Where earlier writers may have written. Everything they committed there is visible on return.
   */
  openWriter(writerId: string, partitions?: readonly TopicPartition[]): Promise<FencedWriter>;

  /**
   * Publishes the positions of a named group for the usual lag tools. This is an export: the product never reads it
   * back.
   * @param group The subscription's id.
   * @param positions The next offset the group will consume, per partition.
   */
  exportGroupOffsets(
    group: string,
    positions: readonly (TopicPartition & { readonly offset: Offset })[],
  ): Promise<void>;

  /** @returns the positions that were last exported for this group */
  groupOffsets(group: string): Promise<(TopicPartition & { readonly offset: Offset })[]>;

  /** Fails pending reads with LOG_CLOSED, waits for appends in progress, then releases all resources. */
  close(): Promise<void>;
}

/**
 * The only writer with its name. Has at most one open transaction. After any error the outcome of the transaction is
 * unknown to the caller and the writer is unusable: open a new one and read back from the log what happened.
 */
export interface FencedWriter {
  readonly writerId: string;

  /**
   * Adds records to the open transaction, or opens one first. Readers do not see them before the commit.
   * @throws WRITER_FENCED, UNKNOWN_TOPIC_OR_PARTITION, RECORD_TOO_LARGE, UNPROCESSABLE (no key on a compacted topic),
   *   OVERLOADED (the transaction is too large), OUTCOME_UNKNOWN
   */
  append(partitions: readonly PartitionRecords[]): Promise<void>;

  /**
   * Makes everything appended since the last commit or abort durable and visible at once, in all topics.
   * @returns where the records are. A partition of which the log did not learn the offsets is left out.
   * @throws WRITER_FENCED (nothing was committed), LOG_FULL, OUTCOME_UNKNOWN
   */
  commit(): Promise<readonly CommittedPartition[]>;

  /** Discards everything appended since the last commit or abort.
   * @throws WRITER_FENCED, OUTCOME_UNKNOWN */
  abort(): Promise<void>;

  close(): Promise<void>;
}

/** A partition that a commit wrote to. */
export interface CommittedPartition extends TopicPartition {
  /** The offset after the last record of the commit. */
  readonly nextOffset: Offset;
}

export const partitionsPerTopicMaximum = 1_000;

/** The largest key plus value a record may have. Bytes. The limit for events is lower (see publishing). */
export const recordBytesMaximum = 8 * 1024 * 1024;

/** The largest total size of one partition's records in one append, as {@link appendBytes} counts them. Bytes. */
export const appendBytesMaximum = 8 * 1024 * 1024;
