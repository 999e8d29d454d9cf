/**
 * Reading from Kafka: many waiting reads share a few fetch requests to each broker.
 * In: positions to read from. Out: record batches that hold no aborted records.
 * Start with the class below; `broker-fetcher.ts` has the fetch requests, `partition-backoff.ts` the partitions that
 * failed.
 */

import type { Offset, PartitionBounds, ReadOptions, ReadResult, TopicPartition } from '../../ports/event-log.ts';
import { type Clock, type Timer, every } from '../../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { BrokerAddress, RequestSender } from '../connection/connections.ts';
import { ChunkCache, createChunk, partOf, retained } from './fetched-records.ts';
import { BrokerFetcher } from './broker-fetcher.ts';
import type { RequestedPartition, FetchListener } from './broker-fetcher.ts';
import { PartitionReads } from './reads-by-position.ts';
import type { ReadPosition } from './reads-by-position.ts';
import type { FetchResponse, FetchedPartition } from '../protocol/fetch-request.ts';
import { PartitionBackoffs } from './partition-backoff.ts';
import { topicMessageBytesMaximum } from '../protocol/limits.ts';
import type { ClusterMetadata } from '../connection/cluster-metadata.ts';
import { unknownPartition } from '../connection/unknown-partition.ts';
import { errorOf, protocolError } from '../protocol/error-codes.ts';
import { decodeRecordBatches } from '../protocol/record-batches/decoding.ts';

export interface KafkaReaderOptions {
  readonly connections: RequestSender;
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
const roomyResponseBytes = 1024 * 1024;

/** Memory for recently fetched records, for readers that follow each other. Bytes. */
const chunkCacheBytesMaximum = 16 * 1024 * 1024;

/** How long fetched records may be read again without asking Kafka. Milliseconds. */
const chunkAgeMillisecondsMaximum = 1_000;

/** How often aged memory is freed. Milliseconds. */
const sweepMilliseconds = 500;

/**
 * How long a read whose time is up is retried in spite of failures: a hung broker is noticed after half of it.
 * Milliseconds.
 */
const retryMillisecondsMaximum = 10_000;

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
export class KafkaReader implements FetchListener {
  readonly #options: KafkaReaderOptions;
  readonly #partitions = new Map<string, Map<number, PartitionReads>>();
  readonly #fetchers = new Map<string, BrokerFetcher>();
  /** The fetcher of each partition's leader, as far as it was looked up. */
  readonly #leaders = new Map<PartitionReads, BrokerFetcher>();
  readonly #findingLeader = new Set<PartitionReads>();
  readonly #chunkCache = new ChunkCache(chunkCacheBytesMaximum, chunkAgeMillisecondsMaximum);
  readonly #backoffs: PartitionBackoffs;
  #sweeper: Timer | undefined;
  #isClosed = false;

  constructor(options: KafkaReaderOptions) {
    this.#options = options;
    this.#backoffs = new PartitionBackoffs(options.logger, options.clock, (reads) => this.#retry(reads));
  }

  /**
   * Reads one partition from a position, see {@link EventLog.read}. Waits for leaders that move and for brokers that do
   * not respond. A read without time does so for up to {@link retryMillisecondsMaximum}, a read that waits for as
   * long as it waits.
   * @throws OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION, CORRUPT_BATCH, LOG_UNAVAILABLE, LOG_CLOSED
   */
  read(from: TopicPartition & { readonly offset: Offset }, options: ReadOptions): Promise<ReadResult> {
    if (this.#isClosed) return Promise.reject(logClosed());
    const reads = this.#readsOf(from);
    const cached = reads.chunks.read(from.offset, options.bytesMaximum);
    if (cached !== undefined) return Promise.resolve(retained(cached));
    const result = reads.join(from.offset, options, this.#options.clock);
    const position = reads.positions.get(from.offset);
    // No request could hold this offset, and no other read must fail because of it.
    if (position !== undefined && !Number.isSafeInteger(from.offset)) void this.#checkRange(reads, position);
    else this.#schedule(reads);
    return result;
  }

  /** Drops what is in memory of a topic that was deleted. */
  forget(topic: string): void {
    for (const { chunks } of this.#partitions.get(topic)?.values() ?? []) this.#chunkCache.removeAllOf(chunks);
  }

  /** Fails every pending read with LOG_CLOSED. */
  close(): void {
    this.#isClosed = true;
    this.#backoffs.clear();
    this.#sweeper?.cancel();
    for (const partitions of this.#partitions.values()) {
      for (const reads of partitions.values()) reads.failAll(logClosed());
    }
  }

  onResponse(requested: RequestedPartition, fetched: FetchedPartition, response: FetchResponse): void {
    if (this.#isClosed) return;
    const { reads, position, isImmediate } = requested;
    if (fetched.errorCode !== protocolError.none) {
      this.#onErrorCode(requested, fetched.errorCode);
      return;
    }
    this.#backoffs.end(reads);
    reads.unknownSince = undefined;
    reads.end = fetched.lastStableOffset;
    if (fetched.end > fetched.start) {
      this.#onRecords(requested, fetched, response);
    } else if (fetched.lastStableOffset > position.offset && response.hasRecords) {
      this.#growRequest(requested, response);
    } else if (isImmediate) {
      position.endImmediateFetchEmpty();
      reads.forgetIfEmpty(position);
    }
    this.#schedule(reads);
  }

  onOmitted(requested: RequestedPartition): void {
    this.#requeue(requested);
    this.#schedule(requested.reads);
  }

  onFailure(requested: RequestedPartition, error: unknown): void {
    this.#requeue(requested);
    this.#backOff(requested.reads, error);
  }

  #onRecords(
    { reads, position, isImmediate }: RequestedPartition,
    fetched: FetchedPartition,
    response: FetchResponse,
  ): void {
    const { offset } = position;
    reads.bytesMinimum = partitionBytesMinimum;
    // Another fetch may have brought the same records, and there may be no read left for them.
    if (reads.positions.size > 0 && !reads.chunks.has(offset)) {
      const { bytes, start, end } = partOf(response.bytes, fetched);
      try {
        const memory = bytes === response.bytes ? response.memory : undefined;
        // The response has no other reader.
        const options = { joinValues: true, memory };
        const decoded = decodeRecordBatches(reads, bytes, start, end, offset, fetched.abortedTransactions, options);
        if (decoded.nextOffset > offset) {
          this.#chunkCache.add(createChunk(offset, decoded, bytes, this.#now(), memory?.shared), reads.chunks);
        }
      } catch (error) {
        reads.fail(position, error);
        return;
      }
    }
    reads.serve();
    if (isImmediate) position.endImmediateFetchEmpty();
    reads.forgetIfEmpty(position);
  }

  /** There are records, but no whole batch of them fitted into the partition's limit or beside the other partitions. */
  #growRequest(requested: RequestedPartition, response: FetchResponse): void {
    const { reads, position } = requested;
    if (response.bytes.length < roomyResponseBytes) {
      reads.bytesMinimum = Math.min(growthFactor * reads.bytesMinimum, topicMessageBytesMaximum);
    }
    this.#requeue(requested);
    position.requeueWaiting();
  }

  #onErrorCode(requested: RequestedPartition, errorCode: number): void {
    const { reads, position } = requested;
    const { topic, partition } = reads;
    this.#requeue(requested);
    const error = errorOf(errorCode, `Reading topic ${topic}, partition ${partition},`, { topic, partition });
    if (errorCode === protocolError.offsetOutOfRange) {
      void this.#checkRange(reads, position);
    } else if (errorCode === protocolError.corruptMessage) {
      reads.fail(position, error);
      this.#schedule(reads);
    } else {
      this.#backOff(reads, error);
    }
  }

  /** The refusal does not say which offsets exist, and a new leader may lag behind what an old one has delivered. */
  async #checkRange(reads: PartitionReads, position: ReadPosition): Promise<void> {
    position.isSuspended = true;
    const { topic, partition } = reads;
    const { offset } = position;
    try {
      const [bounds] = await this.#options.bounds([{ topic, partition }]);
      if (bounds === undefined || (offset >= bounds.earliest && offset <= bounds.latest)) {
        this.#backOff(
          reads,
          errorOf(protocolError.offsetOutOfRange, `Reading topic ${topic}, partition ${partition},`),
        );
      } else {
        reads.fail(position, outOfRange(bounds, offset));
      }
    } catch (error) {
      if (isLendstreamError(error) && !error.retriable) reads.fail(position, error);
      else this.#backOff(reads, error);
    } finally {
      position.isSuspended = false;
      position.requeueWaiting();
      this.#schedule(reads);
    }
  }

  #requeue({ reads, position, isImmediate }: RequestedPartition): void {
    if (!isImmediate) return;
    position.retryImmediateFetch();
    reads.forgetIfEmpty(position);
  }

  /** Asks the leader, and looks it up first when it is unknown. A failing partition waits for its next attempt. */
  #schedule(reads: PartitionReads): void {
    if (this.#isClosed || reads.backoff?.isRetrying === false || reads.positions.size === 0) return;
    const fetcher = this.#leaders.get(reads);
    if (fetcher !== undefined) {
      fetcher.schedule(reads);
      return;
    }
    const known = this.#options.metadata.knownLeader(reads);
    if (known === undefined) void this.#findLeader(reads);
    else this.#assignLeader(reads, known);
  }

  #assignLeader(reads: PartitionReads, { host, port }: BrokerAddress): void {
    const name = `${host}:${port}`;
    let fetcher = this.#fetchers.get(name);
    if (fetcher === undefined) {
      fetcher = new BrokerFetcher({ host, port }, this.#options.connections, this, this.#options.clock);
      this.#fetchers.set(name, fetcher);
    }
    this.#leaders.set(reads, fetcher);
    fetcher.schedule(reads);
  }

  async #findLeader(reads: PartitionReads): Promise<void> {
    if (this.#findingLeader.has(reads)) return;
    this.#findingLeader.add(reads);
    try {
      const leader = await this.#options.metadata.leaderOf(reads);
      if (!this.#isClosed) this.#assignLeader(reads, leader);
    } catch (error) {
      this.#backOff(reads, error);
      if (isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) this.#confirmUnknown(reads);
    } finally {
      this.#findingLeader.delete(reads);
    }
  }

  /** The brokers say that the partition does not exist: that counts when it lasts for a while. */
  #confirmUnknown(reads: PartitionReads): void {
    if (reads.unknownSince === undefined || this.#now() - reads.unknownSince < unknownMilliseconds) return;
    reads.unknownSince = undefined;
    this.#chunkCache.removeAllOf(reads.chunks);
    reads.failAll(unknownPartition(reads));
    this.#backoffs.end(reads);
  }

  #backOff(reads: PartitionReads, error: unknown): void {
    if (this.#isClosed) return;
    const isUnknown = isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION');
    reads.unknownSince = isUnknown ? (reads.unknownSince ?? this.#now()) : undefined;
    this.#options.metadata.forgetLeaders(reads.topic);
    this.#leaders.get(reads)?.forget(reads);
    this.#leaders.delete(reads);
    this.#backoffs.begin(reads, error);
  }

  #retry(reads: PartitionReads): void {
    const { backoff } = reads;
    if (backoff === undefined) return;
    const latest = this.#now() - retryMillisecondsMaximum;
    for (const position of reads.positions.values()) {
      position.failDueBefore(latest, () => unavailable(reads, backoff.error));
      reads.forgetIfEmpty(position);
    }
    backoff.isRetrying = true;
    this.#schedule(reads);
  }

  #readsOf({ topic, partition }: TopicPartition): PartitionReads {
    this.#sweeper ??= every(this.#options.clock, sweepMilliseconds, () => this.#sweep());
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
    this.#chunkCache.removeAged(this.#now());
    for (const [topic, partitions] of this.#partitions) {
      for (const [partition, reads] of partitions) {
        if (reads.positions.size > 0 || !reads.chunks.isEmpty || this.#findingLeader.has(reads)) continue;
        this.#backoffs.end(reads);
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
  return new LendstreamError(
    'LOG_UNAVAILABLE',
    `Topic ${topic}, partition ${partition}, cannot be read now: ${describeError(cause)}`,
    {
      details: { topic, partition },
      cause,
    },
  );
}

function logClosed(): LendstreamError {
  return new LendstreamError('LOG_CLOSED', 'The log is closed.');
}
