/**
 * Writing to Kafka: one request under way to each leader, and transactions.
 * In: records for partitions. Out: their offsets, or why they were not stored, or that the outcome is unknown.
 * Start with the class below; `transactions/` has the fenced writers.
 */

import type { AppendResult, Offset, PartitionRecords, TopicPartition } from '../../ports/event-log.ts';
import { type Clock, type Timer, after, giveWay, withTimeout } from '../../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { RequestSender } from '../connection/connections.ts';
import { produceBytesMaximum, topicMessageBytesMaximum } from '../protocol/limits.ts';
import type { BrokerNode } from '../protocol/metadata-request.ts';
import type { ClusterMetadata } from '../connection/cluster-metadata.ts';
import { keyOf } from '../protocol/partitions-by-topic.ts';
import { PartitionQueue, type ProduceBatch } from './partition-queue.ts';
import { PendingAppend } from './pending-append.ts';
import { type ProduceOutcome, outcomeOf } from './produce-outcome.ts';
import { type ProduceResult, produceRequest } from '../protocol/produce-request.ts';
import { ProducerIdentities } from './producer-identity.ts';
import { errorOf, protocolError } from '../protocol/error-codes.ts';
import { recordBatchBytes } from '../protocol/record-batches/record-sizes.ts';
import { type CleanupPolicyOf, checkRecords } from './record-checks.ts';

export interface KafkaProducerOptions {
  readonly connections: RequestSender;
  readonly metadata: ClusterMetadata;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cleanupPolicyOf: CleanupPolicyOf;
  /** Bytes of records that may wait to be stored. Beyond it appends fail with OVERLOADED. Default 64 MiB. */
  readonly queuedBytesMaximum?: number | undefined;
}

const queuedBytesMaximumDefault = 64 * 1024 * 1024;

/** How often to check for appends that have waited too long. Milliseconds. */
const expiryMilliseconds = 100;

/**
 * How long closing waits for appends under way: less than an append waits to be sent, so that closing is what ends the
 * queued ones. Milliseconds.
 */
const closeMilliseconds = 4_500;

/**
 * Appends outside of transactions. Each is stored once, however often it has to be sent: the batches of a partition are
 * numbered under a producer id, and a batch whose response is lost is sent again with its number.
 *
 * One request is under way to each leader. Appends that arrive during it go into the next one, merged into one batch
 * per partition.
 */
export class KafkaProducer {
  readonly #options: KafkaProducerOptions;
  readonly #identities: ProducerIdentities;
  readonly #queues = new Map<string, PartitionQueue>();
  /** Queues that are not empty, the one served longest ago first. */
  readonly #active = new Set<PartitionQueue>();
  readonly #busyLeaders = new Set<number>();
  #queuedBytes = 0;
  /** Appends that have begun and have no result yet. */
  #pendingCount = 0;
  #onIdle: (() => void) | undefined;
  #isDispatching = false;
  #expiry: Timer | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: KafkaProducerOptions) {
    this.#options = options;
    this.#identities = new ProducerIdentities(options.metadata);
  }

  /**
   * Appends as the port specifies. Appends that are under way at the same time may be stored in either order.
   *
   * Records for one partition are stored in one batch. If they are more than the topic accepts, none of them is stored.
   * @throws LOG_CLOSED
   */
  append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]> {
    if (this.#closing !== undefined) return Promise.reject(logClosed());
    return Promise.all(partitions.map((request) => this.#appendOne(request)));
  }

  /** Waits a while for the appends under way. Later appends fail. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #appendOne(request: PartitionRecords): Promise<AppendResult> {
    const { topic, partition } = request;
    this.#pendingCount += 1;
    try {
      if (request.records.length === 0) throw new LendstreamError('UNPROCESSABLE', 'An append needs a record.');
      await checkRecords(request, this.#options.cleanupPolicyOf);
      const result = await this.#enqueue(request);
      if (result instanceof LendstreamError) return { topic, partition, outcome: 'failed', error: result };
      return { topic, partition, outcome: 'appended', baseOffset: result };
    } catch (error) {
      if (!isLendstreamError(error)) throw error;
      return { topic, partition, outcome: 'failed', error };
    } finally {
      this.#pendingCount -= 1;
      if (this.#pendingCount === 0) this.#onIdle?.();
    }
  }

  #enqueue(request: PartitionRecords): Promise<Offset | LendstreamError> {
    const maximum = this.#options.queuedBytesMaximum ?? queuedBytesMaximumDefault;
    return new Promise((resolve, reject) => {
      const append = new PendingAppend(request.records, this.#options.clock.monotonic(), (result) => {
        this.#queuedBytes -= append.bytes;
        resolve(result);
      });
      // Its bytes are an upper bound, so that the exact size is seldom computed.
      if (append.bytes > topicMessageBytesMaximum && recordBatchBytes(request.records) > topicMessageBytesMaximum) {
        return reject(tooLargeTogether(request));
      }
      if (this.#queuedBytes > 0 && this.#queuedBytes + append.bytes > maximum) {
        const detail = `More than ${maximum} bytes wait to be stored. Nothing was stored; try again later.`;
        return reject(new LendstreamError('OVERLOADED', detail));
      }
      this.#queuedBytes += append.bytes;
      const queue = this.#queueOf(request);
      queue.add(append);
      this.#active.add(queue);
      this.#dispatchSoon();
      this.#expiry ??= this.#expireLater();
    });
  }

  #queueOf({ topic, partition }: TopicPartition): PartitionQueue {
    const key = keyOf({ topic, partition });
    let queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, (queue = new PartitionQueue({ topic, partition })));
    return queue;
  }

  /** Appends of the same turn of the event loop belong in the same request. */
  #dispatchSoon(): void {
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    void giveWay().then(() => {
      this.#isDispatching = false;
      this.#sendReady();
    });
  }

  #sendReady(): void {
    const groups = new Map<BrokerNode, PartitionQueue[]>();
    for (const queue of this.#active) {
      if (queue.isEmpty) this.#active.delete(queue);
      if (queue.isEmpty || queue.state !== 'ready') continue;
      const leader = queue.needsIdentity ? undefined : this.#options.metadata.knownLeader(queue);
      if (leader === undefined) {
        void this.#prepare(queue);
      } else if (!this.#busyLeaders.has(leader.nodeId)) {
        const group = groups.get(leader);
        if (group === undefined) groups.set(leader, [queue]);
        else group.push(queue);
      }
    }
    for (const [leader, queues] of groups) void this.#send(leader, queues);
  }

  /** Gets what the queue needs before its batches can be sent: an identity, the leader. */
  async #prepare(queue: PartitionQueue): Promise<void> {
    const { metadata } = this.#options;
    queue.state = 'preparing';
    try {
      await metadata.leaderOf(queue);
      if (queue.needsIdentity) queue.adopt(await this.#identities.after(queue.identity));
      this.#resume(queue);
    } catch (error) {
      const failure = asLendstreamError(error);
      if (failure.code === 'LOG_UNAVAILABLE') {
        queue.failed(failure, false);
        this.#pause(queue);
        return;
      }
      queue.failAll(failure);
      // The partition has counted under its identity, and the next queue of that name would count from zero again.
      this.#identities.retire(queue.identity);
      this.#queues.delete(keyOf(queue));
    }
  }

  async #send(leader: BrokerNode, queues: readonly PartitionQueue[]): Promise<void> {
    const { connections, clock } = this.#options;
    const sent: { queue: PartitionQueue; batch: ProduceBatch }[] = [];
    let bytes = 0;
    for (const queue of queues) {
      if (bytes >= produceBytesMaximum) break;
      const batch = queue.nextBatch(clock.now());
      if (batch === undefined) continue;
      bytes += batch.content.encodedBytes;
      queue.state = 'sending';
      sent.push({ queue, batch });
      // Served queues move to the back, so that those left out now are served first next time.
      this.#active.delete(queue);
      this.#active.add(queue);
    }
    if (sent.length === 0) return;
    this.#busyLeaders.add(leader.nodeId);
    try {
      await Promise.all(sent.map(({ batch }) => batch.content.finish()));
      const parts = sent.map(({ queue: { topic, partition }, batch: { content } }) => {
        return { topic, partition, bytes: content.bytes };
      });
      const results = await connections.send(leader, 'produce', produceRequest(parts, null));
      const byKey = new Map(results.map((result) => [keyOf(result), result]));
      for (const { queue, batch } of sent) this.#applyResult(queue, batch, byKey.get(keyOf(queue)));
    } catch (error) {
      this.#options.logger.debug({ leader, error: describeError(error) }, 'A produce request got no response');
      for (const { queue, batch } of sent) this.#requestFailed(queue, batch, asLendstreamError(error));
    }
    this.#busyLeaders.delete(leader.nodeId);
    this.#dispatchSoon();
  }

  #requestFailed(queue: PartitionQueue, batch: ProduceBatch, failure: LendstreamError): void {
    const wasSent = failure.code !== 'LOG_UNAVAILABLE';
    if (wasSent) batch.isSent = true;
    queue.failed(failure, wasSent);
    this.#options.metadata.forgetLeaders(queue.topic);
    this.#pause(queue);
  }

  #applyResult(queue: PartitionQueue, batch: ProduceBatch, result: ProduceResult | undefined): void {
    const { metadata, logger } = this.#options;
    const { topic, partition } = queue;
    batch.isSent = true;
    const outcome: ProduceOutcome = result === undefined ? 'unknown' : outcomeOf(result.errorCode);
    if (outcome === 'stored') {
      queue.stored(result?.baseOffset ?? -1);
      return this.#resume(queue);
    }
    const details = { topic, partition };
    const error = errorOf(
      result?.errorCode ?? protocolError.unknownServerError,
      `Appending to topic ${topic}, partition ${partition},`,
      details,
    );
    logger.debug({ topic, partition, verdict: outcome, error: error.message }, 'A produce request was refused');
    switch (outcome) {
      case 'again':
      case 'again_elsewhere':
        queue.failed(error, false);
        break;
      case 'perhaps_stored':
      case 'perhaps_stored_elsewhere':
        queue.failed(error, true);
        break;
      case 'identity_refused':
        queue.refusedIdentity(error);
        break;
      case 'too_large':
        queue.refusedSize(error);
        break;
      case 'refused':
        queue.refused(error);
        break;
      case 'unknown':
        queue.giveUp(error);
        break;
    }
    if (outcome === 'again_elsewhere' || outcome === 'perhaps_stored_elsewhere') metadata.forgetLeaders(topic);
    return outcome === 'too_large' || outcome === 'refused' ? this.#resume(queue) : this.#pause(queue);
  }

  #resume(queue: PartitionQueue): void {
    queue.state = 'ready';
    this.#dispatchSoon();
  }

  #pause(queue: PartitionQueue): void {
    queue.state = 'pausing';
    after(this.#options.clock, queue.nextPauseMilliseconds(), () => this.#resume(queue));
  }

  #expire(): void {
    this.#expiry = undefined;
    const now = this.#options.clock.monotonic();
    for (const queue of this.#active) queue.expire(now);
    this.#dispatchSoon();
    if (this.#active.size > 0) this.#expiry = this.#expireLater();
  }

  #expireLater(): Timer {
    return after(this.#options.clock, expiryMilliseconds, () => this.#expire());
  }

  async #close(): Promise<void> {
    if (this.#pendingCount > 0) {
      const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
      await withTimeout(this.#options.clock, idle, closeMilliseconds, () => undefined);
    }
    this.#expiry?.cancel();
    for (const queue of this.#active) queue.failAll(logClosed());
    this.#active.clear();
  }
}

function asLendstreamError(error: unknown): LendstreamError {
  if (isLendstreamError(error)) return error;
  return new LendstreamError('OUTCOME_UNKNOWN', `Appending failed unexpectedly: ${describeError(error)}`, {
    cause: error,
  });
}

/** No append is split over batches, because one could be stored and another not. */
function tooLargeTogether({ topic, partition, records }: PartitionRecords): LendstreamError {
  return new LendstreamError(
    'RECORD_TOO_LARGE',
    `The records for topic ${topic}, partition ${partition}, have ${recordBatchBytes(records)} bytes together; ` +
      `the maximum for one append is ${topicMessageBytesMaximum}.`,
    { details: { topic, partition } },
  );
}

function logClosed(): LendstreamError {
  return new LendstreamError('LOG_CLOSED', 'The log is closed.');
}
