import type { Offset, TopicConfiguration, TopicPartition } from '../ports/event-log.ts';
import type { StoredBatch } from './records/decoded-batch.ts';
import type { PersistedPartition } from './thread/messages.ts';
import { WaitingReads } from './waiting-reads.ts';
import { unknownPartition } from './unknown-partition.ts';

/** The state of a partition on the main thread. Only this process changes the log, so this state is the truth. */
export interface PartitionState extends TopicPartition {
  readonly id: number;
  /** The first offset that is still held. */
  earliest: Offset;
  /** The offset of the next record. Everything below it is durable. */
  latest: Offset;
  /** Set when the deletion of its topic begins. */
  isDeleted: boolean;
  compactedTo: Offset;
  compactedRecordCount: number;
  /**
   * When the first record that is not compacted was appended; undefined when there is none, or before it is looked up.
   * Milliseconds since the epoch.
   */
  uncompactedSince: number | undefined;
  /** Reads that wait for the next record. */
  readonly waiting: WaitingReads;
  /** Batches kept in memory, by ascending offset (see batch-cache.ts). */
  cachedBatches: StoredBatch[];
}

export interface TopicState {
  readonly id: number;
  configuration: TopicConfiguration;
  readonly partitions: PartitionState[];
  /** True while the deletion is being written to the disk. */
  isDeleting: boolean;
}

/** The topics by name. */
export type TopicTable = Map<string, TopicState>;

/** The state of a partition as persisted, without waiting reads and cached batches. */
export function newPartitionState(topic: string, persisted: PersistedPartition): PartitionState {
  return {
    topic,
    partition: persisted.number,
    id: persisted.id,
    earliest: persisted.earliest,
    latest: persisted.latest,
    isDeleted: false,
    compactedTo: persisted.compactedTo,
    compactedRecordCount: persisted.compactedRecordCount,
    uncompactedSince: undefined,
    waiting: new WaitingReads(),
    cachedBatches: [],
  };
}

/**
 * The state of a partition whose topic is not being deleted.
 * @throws UNKNOWN_TOPIC_OR_PARTITION
 */
export function findPartition(topics: TopicTable, { topic, partition }: TopicPartition): PartitionState {
  const state = topics.get(topic);
  const found = state === undefined || state.isDeleting ? undefined : state.partitions[partition];
  if (found === undefined) throw unknownPartition({ topic, partition });
  return found;
}
