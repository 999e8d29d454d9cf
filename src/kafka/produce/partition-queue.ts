import type { Offset, TopicPartition } from '../../ports/event-log.ts';
import { LendstreamError } from '../../errors.ts';
import { BatchToSend } from './batch-to-send.ts';
import type { PendingAppend } from './pending-append.ts';
import { encodeRecordBatch, renumberBatch } from '../protocol/record-batches/encoding.ts';
import { batchHeaderBytes } from '../protocol/record-batches/layout.ts';
import { sequenceAfter } from '../protocol/record-batches/sequence-numbers.ts';
import type { ProducerIdentity } from '../protocol/transaction-requests.ts';

/**
 * Several appends are merged into one batch up to this size. A single append is one batch, however large it is. Bytes.
 */
const mergedBytesMaximum = 1024 * 1024;

const pauseMillisecondsMinimum = 5;
const pauseMillisecondsMaximum = 200;

/** One record batch. It is sent again with the same sequence number until its outcome is known. */
export interface ProduceBatch {
  readonly content: BatchToSend;
  /** Whole appends only: an append is never split over batches, because one could be stored and another not. */
  readonly appends: readonly PendingAppend[];
  isSent: boolean;
  /** Some attempt to store it got no response that rules out that it was stored. */
  mayBeStored: boolean;
}

/**
 * The appends to one partition, in order, and the one batch that is being stored. Does no I/O: producer.ts passes on
 * the brokers' responses.
 */
export class PartitionQueue implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  /** What producer.ts is doing with it. */
  state: 'ready' | 'preparing' | 'sending' | 'pausing' = 'ready';
  #waiting: PendingAppend[] = [];
  #batch: ProduceBatch | undefined;
  #identity: ProducerIdentity | undefined;
  #isIdentitySpent = true;
  #nextSequence = 0;
  /**
   * The size up to which appends are merged into a batch; smaller after the topic has refused a larger batch. Bytes.
   */
  #batchBytesMaximum = mergedBytesMaximum;
  /**
   * How many of the next appends are sent in a batch of their own each, because one of them made a shared batch fail.
   */
  #aloneCount = 0;
  #lastError: LendstreamError | undefined;
  #pauseMilliseconds = pauseMillisecondsMinimum;

  constructor({ topic, partition }: TopicPartition) {
    this.topic = topic;
    this.partition = partition;
  }

  get isEmpty(): boolean {
    return this.#batch === undefined && this.#waiting.length === 0;
  }

  /** The batch being stored. */
  get batch(): ProduceBatch | undefined {
    return this.#batch;
  }

  /** The identity under which its batches are numbered, even when it is spent. */
  get identity(): ProducerIdentity | undefined {
    return this.#identity;
  }

  get needsIdentity(): boolean {
    return this.#isIdentitySpent;
  }

  /** Returns how long to wait after this failure: longer each time, until something is stored. Milliseconds. */
  nextPauseMilliseconds(): number {
    const pause = this.#pauseMilliseconds;
    this.#pauseMilliseconds = Math.min(2 * pause, pauseMillisecondsMaximum);
    return pause;
  }

  add(append: PendingAppend): void {
    this.#waiting.push(append);
  }

  /** From now on numbers batches under this identity, from zero, including the batch that is being stored. */
  adopt(identity: ProducerIdentity): void {
    this.#identity = identity;
    this.#isIdentitySpent = false;
    this.#nextSequence = 0;
    if (this.#batch !== undefined) renumberBatch(this.#batch.content.bytes, { ...identity, firstSequence: 0 });
  }

  /**
   * Returns the batch to send next: the one being stored, or a new one. Undefined when there is nothing to send, or no
   * identity to send it under.
   * @param timestamp Of new records. Milliseconds since the epoch.
   */
  nextBatch(timestamp: number): ProduceBatch | undefined {
    if (this.#identity === undefined || this.#isIdentitySpent) return undefined;
    this.#batch ??= this.#build(this.#identity, timestamp);
    return this.#batch;
  }

  /**
   * The batch was stored.
   * @param baseOffset The offset of its first record; -1 when the broker knows that it was stored, but no longer where.
   */
  stored(baseOffset: Offset): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#batch = undefined;
    this.#nextSequence = sequenceAfter(this.#nextSequence, batch.content.count);
    this.#lastError = undefined;
    this.#pauseMilliseconds = pauseMillisecondsMinimum;
    let offset = baseOffset;
    for (const append of batch.appends) {
      if (baseOffset < 0) append.fail(this.#outcomeUnknown());
      else append.storedAt(offset);
      offset += append.records.length;
    }
  }

  /**
   * This attempt failed, and the batch has to be sent again.
   * @param mayBeStored False when the response says that this attempt stored nothing.
   */
  failed(error: LendstreamError, mayBeStored: boolean): void {
    this.#lastError = error;
    if (this.#batch !== undefined && mayBeStored) this.#batch.mayBeStored = true;
  }

  /** The broker does not accept the identity or the sequence number of the batch. */
  refusedIdentity(error: LendstreamError): void {
    if (this.#batch?.mayBeStored === true) this.giveUp(error);
    this.#lastError = error;
    this.#isIdentitySpent = true;
  }

  /**
   * The batch is larger than the topic accepts: its appends are sent again in smaller batches.
   * @param error For an append that is too large alone.
   */
  refusedSize(error: LendstreamError): void {
    const batch = this.#batch;
    if (batch === undefined || batch.mayBeStored || batch.appends.length === 1) return this.refused(error);
    this.#batchBytesMaximum = Math.floor(batch.content.encodedBytes / 2);
    this.#requeue(batch);
  }

  /** The broker will not store the batch, however often it is sent. */
  refused(error: LendstreamError): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    if (batch.mayBeStored) return this.giveUp(error);
    if (batch.appends.length > 1) {
      this.#aloneCount = batch.appends.length;
      return this.#requeue(batch);
    }
    this.#drop(batch);
    for (const append of batch.appends) append.fail(error);
    return undefined;
  }

  /** It can no longer be found out whether the batch was stored. */
  giveUp(error: LendstreamError): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#drop(batch);
    for (const append of batch.appends) append.fail(this.#outcomeUnknown(error));
  }

  /** Fails every append that waits too long. A batch with no waiting caller left is dropped, unless it is under way. */
  expire(now: number): void {
    this.#waiting = this.#waiting.filter((append) => {
      if (!append.isExpired(now, false)) return !append.isCompleted;
      append.fail(this.#unavailable());
      return false;
    });
    const batch = this.#batch;
    if (batch === undefined) return;
    const isUnderWay = this.state === 'sending';
    const isSent = batch.isSent || isUnderWay;
    const expired = batch.appends.filter((append) => !append.isCompleted && append.isExpired(now, isSent));
    const isUnknown = batch.mayBeStored || isUnderWay;
    for (const append of expired) append.fail(isUnknown ? this.#outcomeUnknown() : this.#unavailable());
    if (isUnderWay) return;
    if (batch.appends.every(({ isCompleted }) => isCompleted)) this.#drop(batch);
    // An append that failed as not stored must not be sent again with the others of its batch.
    else if (!isUnknown && expired.length > 0) this.#requeue(batch);
  }

  /** Fails every append with this error, or with an unknown outcome where it may be stored. */
  failAll(error: LendstreamError): void {
    const batch = this.#batch;
    if (batch?.mayBeStored === true || this.state === 'sending') this.giveUp(error);
    const appends = [...(this.#batch?.appends ?? []), ...this.#waiting];
    if (this.#batch !== undefined) this.#drop(this.#batch);
    this.#waiting = [];
    for (const append of appends) append.fail(error);
  }

  /**
   * The batch is not sent again. No other batch gets its sequence number, even when it was refused. If a broker had
   * stored it all the same, the broker would treat the other as a repetition and acknowledge it without storing it.
   */
  #drop(batch: ProduceBatch): void {
    this.#batch = undefined;
    if (batch.isSent || this.state === 'sending') this.#isIdentitySpent = true;
  }

  #build(identity: ProducerIdentity, timestamp: number): ProduceBatch | undefined {
    const appends: PendingAppend[] = [];
    let bytes = batchHeaderBytes;
    let removedCount = 0;
    for (const append of this.#waiting) {
      const isFull = bytes + append.bytes > this.#batchBytesMaximum;
      if (appends.length > 0 && (this.#aloneCount > 0 || isFull)) break;
      if (!append.isCompleted) {
        appends.push(append);
        bytes += append.bytes;
      }
      removedCount += 1;
    }
    this.#waiting.splice(0, removedCount);
    if (appends.length === 0) return undefined;
    this.#aloneCount = Math.max(0, this.#aloneCount - 1);
    const [first] = appends;
    const records = appends.length === 1 && first ? first.records : appends.flatMap((append) => append.records);
    const encoded = encodeRecordBatch(records, {
      producerId: identity.producerId,
      producerEpoch: identity.producerEpoch,
      firstSequence: this.#nextSequence,
      timestamp,
      isTransactional: false,
    });
    return { content: new BatchToSend(encoded, records.length), appends, isSent: false, mayBeStored: false };
  }

  /** Puts the batch's appends back at the front of the queue. */
  #requeue(batch: ProduceBatch): void {
    this.#drop(batch);
    this.#waiting = [...batch.appends, ...this.#waiting];
  }

  #outcomeUnknown(error = this.#lastError): LendstreamError {
    const reason = error === undefined ? '' : ` ${error.message}`;
    return new LendstreamError(
      'OUTCOME_UNKNOWN',
      `It is not known whether the records for topic ${this.topic}, partition ${this.partition}, were stored.${reason}`,
      { details: { topic: this.topic, partition: this.partition }, cause: error },
    );
  }

  #unavailable(): LendstreamError {
    const error = this.#lastError;
    const reason = error === undefined ? 'Too much was before them.' : error.message;
    return new LendstreamError(
      'LOG_UNAVAILABLE',
      `The records for topic ${this.topic}, partition ${this.partition}, were not stored. ${reason}`,
      { details: { topic: this.topic, partition: this.partition }, cause: error },
    );
  }
}
