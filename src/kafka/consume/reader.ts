/**
 * Reading from Kafka: many waiting reads share a few fetch requests to each broker.
 * In: positions to read from. Out: record batches that hold no aborted records.
 * Start with the class below; `lanes.ts` has the connections, `backoff.ts` the partitions that failed.
 */

import type { Offset, PartitionBounds, ReadOptions, ReadResult, TopicPartition } from '../../ports/event-log.ts';
import type { Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { BrokerAddress, KafkaConnections } from '../connection/connections.ts';
import { ChunkMemory, createChunk, partOf } from './chunks.ts';
import { BrokerLanes } from './lanes.ts';
import type { Asked, LanesListener } from './lanes.ts';
import { PartitionReads } from './positions.ts';
import type { ReadPosition } from './positions.ts';
import type { FetchAnswer, FetchedPartition } from '../protocol/fetch-request.ts';
import { ReadTroubles } from './backoff.ts';
import { topicMessageBytesMaximum } from '../protocol/limits.ts';
import { type ClusterMetadata, unknownPartition } from '../connection/metadata.ts';
import { errorOf, protocolError } from '../protocol/errors.ts';
import { decodeRecordBatches } from '../protocol/record-batch-decoding.ts';

export interface KafkaReaderOptions {
  readonly connections: KafkaConnections;
  readonly metadata: ClusterMetadata;
  /** Looks up the bounds of partitions, as {@link EventLog.bounds} does. */
  readonly bounds: (partitions: readonly TopicPartition[]) => Promise<PartitionBounds[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The least that is requested of one partition, so that most batches fit beside others. Bytes. */
const partitionBytesMinimum = 64 * 1024;

/** The factor by which a partition's request grows when its next batch did not fit. */
const growthFactor = 4;

/** A response shorter than this was not cut short by its own limit. Bytes. */
const roomyAnswerBytes = 1024 * 1024;

/** Memory for recently fetched records, for readers that follow each other. Bytes. */
const chunkMemoryBytesMaximum = 16 * 1024 * 1024;

/** How long fetched records may be read again without asking Kafka. Milliseconds. */
const chunkAgeMillisecondsMaximum = 1_000;

/** How often aged memory is freed. Milliseconds. */
const sweepMilliseconds = 500;

/**
 * How long a read whose time is up is retried in spite of trouble: a hung broker is noticed after half of it.
 * Milliseconds.
 */
const troubleMillisecondsMaximum = 10_000;

/**
 * How long a topic has to be unknown before that is believed: brokers learn of a new topic at different times.
 * Milliseconds.
 */
const unknownMilliseconds = 100;

/**
 * The reading side of the event log: everything that the process reads from Kafka, over a few connections to each
 * broker.
 *
 * Nothing is fetched unless a read is pending for it. A read of recently fetched records is served from memory. The
 * others share requests by broker, partition and position.
 */
export class KafkaReader implements LanesListener {
  readonly #options: KafkaReaderOptions;
  readonly #partitions = new Map<string, Map<number, PartitionReads>>();
  readonly #brokers = new Map<string, BrokerLanes>();
  /** The lanes to the leader of each partition, as far as it was looked up. */
  readonly #leaders = new Map<PartitionReads, BrokerLanes>();
  readonly #locating = new Set<PartitionReads>();
  readonly #memory = new ChunkMemory(chunkMemoryBytesMaximum, chunkAgeMillisecondsMaximum);
  readonly #troubles: ReadTroubles;
  #sweeper: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: KafkaReaderOptions) {
    this.#options = options;
    this.#troubles = new ReadTroubles(
      options.logger,
      () => this.#now(),
      (reads) => this.#retry(reads),
    );
  }

  /**
   * Reads one partition from a position, see {@link EventLog.read}. Waits for leaders that move and for brokers that do
   * not respond. A read without time does so for up to {@link troubleMillisecondsMaximum}, a read that waits for as
   * long as it waits.
   * @throws OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION, CORRUPT_BATCH, LOG_UNAVAILABLE, LOG_CLOSED
   */
  read(from: TopicPartition & { readonly offset: Offset }, options: ReadOptions): Promise<ReadResult> {
    if (this.#isClosed) return Promise.reject(logClosed());
    const reads = this.#readsOf(from);
    const remembered = reads.chunks.read(from.offset, options.bytesMaximum);
    if (remembered !== undefined) return Promise.resolve(remembered);
    const result = reads.join(from.offset, options, this.#now());
    const position = reads.positions.get(from.offset);
    // No request could hold this offset, and no other read must fail because of it.
    if (position !== undefined && !Number.isSafeInteger(from.offset)) void this.#judgeRange(reads, position);
    else this.#place(reads);
    return result;
  }

  /** Drops what is in memory of a topic that was deleted. */
  forget(topic: string): void {
    for (const { chunks } of this.#partitions.get(topic)?.values() ?? []) this.#memory.removeAllOf(chunks);
  }

  /** Fails every pending read with LOG_CLOSED. */
  close(): void {
    this.#isClosed = true;
    this.#troubles.clear();
    clearInterval(this.#sweeper);
    for (const partitions of this.#partitions.values()) {
      for (const reads of partitions.values()) reads.failAll(logClosed());
    }
    this.#partitions.clear();
  }

  answered(asked: Asked, fetched: FetchedPartition, answer: FetchAnswer): void {
    if (this.#isClosed) return;
    const { reads, position, isLook } = asked;
    if (fetched.errorCode !== protocolError.none) {
      this.#refused(asked, fetched.errorCode);
      return;
    }
    this.#troubles.end(reads);
    reads.unknownSince = undefined;
    reads.end = fetched.lastStableOffset;
    if (fetched.end > fetched.start) {
      this.#received(asked, fetched, answer);
    } else if (fetched.lastStableOffset > position.offset && answer.hasRecords) {
      this.#foundNoRoom(asked, answer);
    } else if (isLook) {
      position.endLookEmpty();
      reads.forgetIfEmpty(position);
    }
    this.#place(reads);
  }

  passedOver(asked: Asked): void {
    this.#putBack(asked);
    this.#place(asked.reads);
  }

  unanswered(asked: Asked, error: unknown): void {
    this.#putBack(asked);
    this.#begin(asked.reads, error);
  }

  #received({ reads, position, isLook }: Asked, fetched: FetchedPartition, answer: FetchAnswer): void {
    const { offset } = position;
    reads.bytesMinimum = partitionBytesMinimum;
    // Another lane may have brought the same records, and there may be no read left for them.
    if (reads.positions.size > 0 && !reads.chunks.has(offset)) {
      const { bytes, start, end } = partOf(answer.bytes, fetched);
      try {
        const decoded = decodeRecordBatches(reads, bytes, start, end, offset, fetched.abortedTransactions);
        if (decoded.nextOffset > offset) {
          this.#memory.add(createChunk(offset, decoded, bytes, this.#now()), reads.chunks);
        }
      } catch (error) {
        reads.fail(position, error);
        return;
      }
    }
    reads.serve();
    if (isLook) position.endLookEmpty();
    reads.forgetIfEmpty(position);
  }

  /** There are records, but no whole batch of them fitted into the partition's limit or beside the other partitions. */
  #foundNoRoom(asked: Asked, answer: FetchAnswer): void {
    const { reads, position } = asked;
    if (answer.bytes.length < roomyAnswerBytes) {
      reads.bytesMinimum = Math.min(growthFactor * reads.bytesMinimum, topicMessageBytesMaximum);
    }
    this.#putBack(asked);
    position.lookAgain();
  }

  #refused(asked: Asked, errorCode: number): void {
    const { reads, position } = asked;
    const { topic, partition } = reads;
    this.#putBack(asked);
    const error = errorOf(errorCode, `Reading topic ${topic}, partition ${partition},`, { topic, partition });
    if (errorCode === protocolError.offsetOutOfRange) {
      void this.#judgeRange(reads, position);
    } else if (errorCode === protocolError.corruptMessage) {
      reads.fail(position, error);
    } else {
      this.#begin(reads, error);
    }
  }

  /** The refusal does not say which offsets exist, and a new leader may lag behind what an old one has delivered. */
  async #judgeRange(reads: PartitionReads, position: ReadPosition): Promise<void> {
    position.isHeld = true;
    const { topic, partition } = reads;
    const { offset } = position;
    try {
      const [bounds] = await this.#options.bounds([{ topic, partition }]);
      if (bounds === undefined || (offset >= bounds.earliest && offset <= bounds.latest)) {
        this.#begin(reads, errorOf(protocolError.offsetOutOfRange, `Reading topic ${topic}, partition ${partition},`));
      } else {
        reads.fail(position, outOfRange(bounds, offset));
      }
    } catch (error) {
      if (isLendstreamError(error) && !error.retriable) reads.fail(position, error);
      else this.#begin(reads, error);
    } finally {
      position.isHeld = false;
      position.lookAgain();
      this.#place(reads);
    }
  }

  #putBack({ reads, position, isLook }: Asked): void {
    if (!isLook) return;
    position.returnLook();
    reads.forgetIfEmpty(position);
  }

  /** Asks the leader, and looks it up first when it is unknown. A partition in trouble waits for its next attempt. */
  #place(reads: PartitionReads): void {
    if (this.#isClosed || reads.trouble?.isTrying === false || reads.positions.size === 0) return;
    const leader = this.#leaders.get(reads);
    if (leader !== undefined) {
      leader.place(reads);
      return;
    }
    const known = this.#options.metadata.knownLeader(reads);
    if (known === undefined) void this.#locate(reads);
    else this.#settle(reads, known);
  }

  #settle(reads: PartitionReads, { host, port }: BrokerAddress): void {
    const name = `${host}:${port}`;
    let lanes = this.#brokers.get(name);
    if (lanes === undefined) {
      lanes = new BrokerLanes({ host, port }, this.#options.connections, this, () => this.#now());
      this.#brokers.set(name, lanes);
    }
    this.#leaders.set(reads, lanes);
    lanes.place(reads);
  }

  async #locate(reads: PartitionReads): Promise<void> {
    if (this.#locating.has(reads)) return;
    this.#locating.add(reads);
    try {
      const leader = await this.#options.metadata.leaderOf(reads);
      if (!this.#isClosed) this.#settle(reads, leader);
    } catch (error) {
      this.#begin(reads, error);
      if (isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) this.#believeUnknown(reads);
    } finally {
      this.#locating.delete(reads);
    }
  }

  /** The brokers say that the partition does not exist: that counts when it lasts for a while. */
  #believeUnknown(reads: PartitionReads): void {
    if (reads.unknownSince === undefined || this.#now() - reads.unknownSince < unknownMilliseconds) return;
    reads.unknownSince = undefined;
    this.#memory.removeAllOf(reads.chunks);
    reads.failAll(unknownPartition(reads));
    this.#troubles.end(reads);
  }

  #begin(reads: PartitionReads, error: unknown): void {
    if (this.#isClosed) return;
    const isUnknown = isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION');
    reads.unknownSince = isUnknown ? (reads.unknownSince ?? this.#now()) : undefined;
    this.#options.metadata.forgetLeaders(reads.topic);
    this.#leaders.get(reads)?.forget(reads);
    this.#leaders.delete(reads);
    this.#troubles.begin(reads, error);
  }

  #retry(reads: PartitionReads): void {
    const { trouble } = reads;
    if (trouble === undefined) return;
    const latest = this.#now() - troubleMillisecondsMaximum;
    for (const position of reads.positions.values()) {
      position.failDueBefore(latest, () => unavailable(reads, trouble.error));
      reads.forgetIfEmpty(position);
    }
    trouble.isTrying = true;
    this.#place(reads);
  }

  #readsOf({ topic, partition }: TopicPartition): PartitionReads {
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepMilliseconds).unref();
    let partitions = this.#partitions.get(topic);
    if (partitions === undefined) {
      partitions = new Map();
      this.#partitions.set(topic, partitions);
    }
    let reads = partitions.get(partition);
    if (reads === undefined) {
      reads = new PartitionReads({ topic, partition }, partitionBytesMinimum);
      partitions.set(partition, reads);
    }
    return reads;
  }

  /** Frees aged memory, and partitions that have no readers any more. */
  #sweep(): void {
    this.#memory.removeAged(this.#now());
    for (const [topic, partitions] of this.#partitions) {
      for (const [partition, reads] of partitions) {
        if (reads.positions.size > 0 || !reads.chunks.isEmpty || this.#locating.has(reads)) continue;
        this.#troubles.end(reads);
        this.#leaders.get(reads)?.forget(reads);
        this.#leaders.delete(reads);
        partitions.delete(partition);
      }
      if (partitions.size === 0) this.#partitions.delete(topic);
    }
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}

function outOfRange({ topic, partition, earliest, latest }: PartitionBounds, offset: Offset): LendstreamError {
  return new LendstreamError(
    'OFFSET_OUT_OF_RANGE',
    `Topic ${topic}, partition ${partition}, holds offsets from ${earliest}, and the next is ${latest}; ` +
      `${offset} is outside.`,
    { details: { topic, partition, earliest, latest } },
  );
}

function unavailable({ topic, partition }: TopicPartition, cause: unknown): LendstreamError {
  return new LendstreamError('LOG_UNAVAILABLE', `Topic ${topic}, partition ${partition}, cannot be read now.`, {
    details: { topic, partition },
    cause,
  });
}

function logClosed(): LendstreamError {
  return new LendstreamError('LOG_CLOSED', 'The log is closed.');
}
