import { LendstreamError } from '../errors.ts';
import type { Offset, TopicConfiguration, TopicPartition } from '../ports/event-log.ts';
import type { StoredBatch } from './records/batch-format.ts';
import type { PersistedPartition, PersistedTopic } from './thread/messages.ts';

/** A read that waits for its partition to grow. */
export interface ReadWaiter {
  wake(reason: WakeReason): void;
  fail(failure: Error): void;
}

/** Why a wait ended: there may be something to read, the time was up, or the caller gave up. */
export type WakeReason = 'grown' | 'timeout' | 'aborted';

/** What the main thread knows of a partition. This process is the only one that changes the log, so it is the truth. */
export interface PartitionState extends TopicPartition {
  readonly id: number;
  /** The first offset held. */
  earliest: Offset;
  /** The offset the next record gets; everything below it is durable. */
  latest: Offset;
  /** Set when the deletion of its topic begins. */
  isDeleted: boolean;
  compactedTo: Offset;
  compactedRecordCount: number;
  /** Reads that wait for the next record. */
  readonly waiters: Set<ReadWaiter>;
  /** A read has waited here: somebody follows what is appended. */
  isFollowed: boolean;
  /** Batches held in memory, by ascending offset (see batch-cache.ts). */
  readonly cachedBatches: StoredBatch[];
}

export interface TopicState {
  readonly id: number;
  configuration: TopicConfiguration;
  readonly partitions: PartitionState[];
  /** Set while the deletion is on its way to the disk. */
  isDeleting: boolean;
}

/** The topics by name. */
export type TopicTable = Map<string, TopicState>;

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
    waiters: new Set(),
    isFollowed: false,
    cachedBatches: [],
  };
}

/** @throws UNKNOWN_TOPIC_OR_PARTITION */
export function findPartition(topics: TopicTable, { topic, partition }: TopicPartition): PartitionState {
  const state = topics.get(topic);
  const found = state === undefined || state.isDeleting ? undefined : state.partitions[partition];
  if (found === undefined) throw unknownPartition({ topic, partition });
  return found;
}

export function unknownPartition({ topic, partition }: TopicPartition): LendstreamError {
  return new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', `There is no partition ${partition} of topic ${topic}.`, {
    details: { topic, partition },
  });
}

export function unknownTopic(topic: string): LendstreamError {
  return new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', `There is no topic ${topic}.`, { details: { topic } });
}

export function toPersistedTopic(configuration: TopicConfiguration): PersistedTopic {
  return { ...configuration, retentionBytes: configuration.retentionBytes ?? null };
}

export function toConfiguration(persisted: PersistedTopic): TopicConfiguration {
  const { name, partitionCount, cleanupPolicy, retentionMilliseconds, retentionBytes } = persisted;
  return {
    name,
    partitionCount,
    cleanupPolicy,
    retentionMilliseconds,
    ...(retentionBytes === null ? {} : { retentionBytes }),
  };
}
