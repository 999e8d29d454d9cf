import type { LendstreamError } from '../errors.ts';

/**
 * The event log: the port behind which Kafka (cluster) or an embedded store (one machine) keeps every record.
 *
 * The port promises no more than a Kafka log can keep:
 * - Offsets of a partition only grow, but they may have holes (transaction markers, aborted transactions, compaction).
 *   Nobody may compute a record's offset from another's; `nextOffset` of a read says where to go on.
 * - Order holds within a partition, never across partitions.
 * - An append is all or nothing per partition, never across partitions; only a fenced writer's transaction is atomic
 *   over several topics.
 * - An unanswered append is an unknown outcome, not a failure (`OUTCOME_UNKNOWN`).
 *
 * Errors are {@link LendstreamError}s. Each method lists the codes it may throw; every method may also throw
 * `LOG_UNAVAILABLE` (retriable) and `LOG_CLOSED`.
 */

/** Where a record lies. Exact integers below 2^53. */
export type Offset = number;

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** How a topic gives up old records: by age and size, or by keeping only the newest record of each key, or both. */
export type CleanupPolicy = 'delete' | 'compact' | 'compact_and_delete';

export interface TopicConfiguration {
  readonly name: string;
  /** 1..{@link partitionsPerTopicMaximum}. */
  readonly partitionCount: number;
  readonly cleanupPolicy: CleanupPolicy;
  /** Age at which records of a `delete` topic may go; Infinity keeps them whatever their age. Ignored for `compact`. */
  readonly retentionMilliseconds: number;
  /** Size per partition above which the oldest records of a `delete` topic may go; absent means no limit. */
  readonly retentionBytes?: number;
}

/** What may change in the life of a topic: partitions only grow. */
export type TopicAlteration = Partial<Omit<TopicConfiguration, 'name'>>;

/** A record to append. A null value on a compacted topic deletes its key (a tombstone). */
export interface LogRecord {
  readonly key: string | null;
  readonly value: Buffer | null;
}

/**
 * Records for one partition: they are stored all or none, in this order, with no other record between them. A log takes
 * at least {@link appendBytesMaximum} of them at once.
 */
export interface PartitionRecords extends TopicPartition {
  readonly records: readonly LogRecord[];
}

/** What became of one partition's records; results stand in the order of the request. */
export type AppendResult =
  | (TopicPartition & { readonly outcome: 'appended'; readonly baseOffset: Offset })
  /**
   * `RECORD_TOO_LARGE` (one of them, or all together), `UNPROCESSABLE` (no key on a compacted topic),
   * `UNKNOWN_TOPIC_OR_PARTITION`, `OVERLOADED`, `LOG_FULL`, `LOG_UNAVAILABLE`: nothing was stored.
   * `OUTCOME_UNKNOWN`: the records may have been stored.
   */
  | (TopicPartition & { readonly outcome: 'failed'; readonly error: LendstreamError });

/** The first offset still held and the offset the next record will get, as a committed reader sees them. */
export interface PartitionBounds extends TopicPartition {
  readonly earliest: Offset;
  readonly latest: Offset;
}

export interface BoundsOptions {
  /**
   * Puts `latest` after what is written, not after what a reader may see by now. A commit may be acknowledged a moment
   * before its records are visible everywhere: whoever must not miss one that was reads up to here. Records of an open
   * transaction count too, so that reading up to here may wait for its end. Default false.
   */
  readonly includeUncommitted?: boolean;
}

/**
 * Records that were stored together, as positions in the bytes they were read into: no object per record.
 * Values are spliced into answers without being parsed.
 */
export interface RecordBatch extends TopicPartition {
  readonly count: number;
  /** When the records were appended. Milliseconds since the epoch. */
  readonly appendedAt: number;
  /** The memory that all values lie in. Treat as immutable: it may be shared between readers. */
  readonly bytes: Buffer;
  /** Offset of each record, ascending, not necessarily without holes. */
  readonly offsets: Float64Array;
  /** Start of each value in `bytes`; {@link noValue} marks a tombstone. */
  readonly valueStarts: Uint32Array;
  /** End (exclusive) of each value in `bytes`. */
  readonly valueEnds: Uint32Array;
  /**
   * Whether each value is followed in `bytes` by exactly one comma and the next value, so that a run of records is
   * spliced with one copy. False when record framing lies between the values, or when any value is a tombstone.
   */
  readonly contiguous: boolean;
  /**
   * Which records somebody else's producer wrote, past this product: 1 at the index of each, 0 at the others. Absent
   * means none, as always on the embedded backend. Nobody has looked at the value of such a record: it may be no UTF-8
   * and no JSON. Readers must check it before they splice it.
   */
  readonly foreign?: Uint8Array;
  key(index: number): string | null;
  /**
   * Tells that whoever got this batch from a read looks at it no more, once for each read that answered it: its memory
   * may be used for other batches then. Not calling it is no fault. Absent where nothing is used again.
   */
  readonly release?: (() => void) | undefined;
}

/** In `valueStarts`: the record has no value. */
export const noValue = 0xffffffff;

export interface ReadResult {
  /**
   * In order; possibly none, also when the read waited: moving `nextOffset` over a hole is an answer. Records before
   * the asked offset are not among them.
   */
  readonly batches: readonly RecordBatch[];
  /** Where the next read goes on. Never below the asked offset; may jump over holes. */
  readonly nextOffset: Offset;
}

export interface ReadOptions {
  /**
   * How much to read. At least one batch is returned when there is one, however large; batches are never cut, so a
   * result may exceed this by less than one batch.
   */
  readonly bytesMaximum: number;
  /**
   * How long to wait when nothing is there. 0 returns at once, Infinity waits until there is something or `signal`
   * aborts.
   */
  readonly waitMilliseconds: number;
  readonly signal?: StopSignal;
}

/**
 * The part of an AbortSignal that a read needs. Who holds thousands of them can give something smaller than the real
 * one, which takes more than 1 KB.
 */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options: { readonly once: true }): void;
}

export interface EventLog {
  /**
   * Creates a topic, ready for appends and reads when this returns.
   * @throws TOPIC_ALREADY_EXISTS, UNPROCESSABLE (a name or partition count that no backend takes)
   */
  createTopic(configuration: TopicConfiguration): Promise<void>;

  /**
   * Changes what is given and keeps the rest. Partitions can only be added.
   * @throws UNKNOWN_TOPIC_OR_PARTITION, UNPROCESSABLE (fewer partitions than now)
   */
  alterTopic(name: string, alteration: TopicAlteration): Promise<void>;

  /** Deletes a topic and its records. Pending reads of it fail; other topics are not disturbed.
   * @throws UNKNOWN_TOPIC_OR_PARTITION */
  deleteTopic(name: string): Promise<void>;

  listTopics(): Promise<TopicConfiguration[]>;

  /** @throws UNKNOWN_TOPIC_OR_PARTITION when any of them is unknown */
  bounds(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionBounds[]>;

  /**
   * Appends to any number of partitions and returns when each is durable or has failed. Each partition is all or
   * nothing; a failure of one does not hinder the others.
   */
  append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]>;

  /**
   * Deletes the records of a partition that lie below `before.offset` and were appended before a time: the oldest
   * first, and not necessarily all of them at once. None at the offset or above it, and none that is younger.
   * @param before Its offset is at most the end of the partition.
   * @param appendedBefore Milliseconds since the epoch.
   * @throws UNKNOWN_TOPIC_OR_PARTITION
   */
  deleteRecords(before: TopicPartition & { readonly offset: Offset }, appendedBefore: number): Promise<void>;

  /**
   * Reads one partition from a position. Sees only committed records: never those of an open or aborted transaction.
   * An aborted `signal` ends the wait with an empty result.
   * @throws OFFSET_OUT_OF_RANGE (details: earliest, latest) when `offset` is below the first held or beyond the end;
   *   UNKNOWN_TOPIC_OR_PARTITION, also when the topic is deleted during the wait;
   *   CORRUPT_BATCH (details: topic, partition, baseOffset): stored bytes do not match their checksum
   */
  read(from: TopicPartition & { readonly offset: Offset }, options: ReadOptions): Promise<ReadResult>;

  /**
   * Opens the writer of this name and fences off every earlier one of the same name: their open transaction is aborted
   * and their next step fails. Returns after that is so.
   * @param partitions Where they may have written: what they committed there is visible when this returns.
   */
  openWriter(writerId: string, partitions?: readonly TopicPartition[]): Promise<FencedWriter>;

  /**
   * Publishes the positions of a named group for the usual lag tools. An export: never read back by the product.
   * @param group The subscription's id.
   * @param positions The next offset the group will consume, per partition.
   */
  exportGroupOffsets(
    group: string,
    positions: readonly (TopicPartition & { readonly offset: Offset })[],
  ): Promise<void>;

  /** What was last exported for this group. */
  groupOffsets(group: string): Promise<(TopicPartition & { readonly offset: Offset })[]>;

  /** Fails pending reads with LOG_CLOSED, waits for appends under way, releases everything. */
  close(): Promise<void>;
}

/**
 * The only writer of its name. Holds at most one open transaction. After any error its outcome is unknown to the
 * caller and the writer is spent: open a new one and read back from the log what happened.
 */
export interface FencedWriter {
  readonly writerId: string;

  /**
   * Adds records to the open transaction, opening one when none is. Not visible to readers before the commit.
   * @throws WRITER_FENCED, UNKNOWN_TOPIC_OR_PARTITION, RECORD_TOO_LARGE, UNPROCESSABLE (no key on a compacted topic),
   *   OVERLOADED (the transaction is too large), OUTCOME_UNKNOWN
   */
  append(partitions: readonly PartitionRecords[]): Promise<void>;

  /**
   * Makes everything appended since the last commit or abort visible at once, durably, over all topics.
   * @throws WRITER_FENCED (nothing was committed), LOG_FULL, OUTCOME_UNKNOWN
   */
  commit(): Promise<void>;

  /** Forgets everything appended since the last commit or abort.
   * @throws WRITER_FENCED, OUTCOME_UNKNOWN */
  abort(): Promise<void>;

  close(): Promise<void>;
}

export const partitionsPerTopicMaximum = 1_000;

/** The largest key plus value a record may have. Bytes. Events are limited below it (see publishing). */
export const recordBytesMaximum = 8 * 1024 * 1024;

/** How large the records for one partition may be together, by {@link appendBytes}, in one append. Bytes. */
export const appendBytesMaximum = 8 * 1024 * 1024;

/** What every log needs for a record beside key and value, at most. Bytes. */
const framingBytesMaximum = 48;

/** A character of a key has at most three bytes. */
const bytesPerCharacterMaximum = 3;

/** What a record counts in an append of several: quickly told, and no less than it takes. Bytes. */
export function appendBytes({ key, value }: LogRecord): number {
  return bytesPerCharacterMaximum * (key?.length ?? 0) + (value?.length ?? 0) + framingBytesMaximum;
}
