import type { LogRecord, Offset, PartitionRecords, TopicPartition } from '../../../ports/event-log.ts';
import type { Clock } from '../../../clock.ts';
import { type LendstreamError, isLendstreamError } from '../../../errors.ts';
import type { RequestSender } from '../../connection/connections.ts';
import { produceBytesMaximum, topicMessageBytesMaximum } from '../../protocol/limits.ts';
import type { BrokerNode } from '../../protocol/metadata-request.ts';
import type { ClusterMetadata } from '../../connection/cluster-metadata.ts';
import { keyOf } from '../../protocol/partitions-by-topic.ts';
import { type ProduceResult, produceRequest } from '../../protocol/produce-request.ts';
import { BatchToSend } from '../batch-to-send.ts';
import { outcomeOf } from '../produce-outcome.ts';
import { errorOf, protocolError } from '../../protocol/error-codes.ts';
import { encodeRecordBatch } from '../../protocol/record-batches/encoding.ts';
import { encodedRecordBytes } from '../../protocol/record-batches/record-sizes.ts';
import { batchHeaderBytes } from '../../protocol/record-batches/layout.ts';
import { sequenceAfter } from '../../protocol/record-batches/sequence-numbers.ts';
import { Retry, orTransientError } from '../../connection/retry.ts';
import type { ProducerIdentity } from '../../protocol/transaction-requests.ts';

export interface TransactionOutputOptions {
  readonly connections: RequestSender;
  readonly metadata: ClusterMetadata;
  readonly clock: Clock;
}

/**
 * How long records of a transaction are retried; well below the time after which the transaction is aborted.
 * Milliseconds.
 */
const produceMilliseconds = 10_000;
const firstPauseMilliseconds = 2;
const pauseMillisecondsMaximum = 200;

/** The records that one append writes to one partition. */
interface PartitionOutput extends TopicPartition {
  readonly key: string;
  readonly records: LogRecord[];
  /** The first record that is not stored yet. */
  next: number;
  /** The batch that begins with it, sent until it is known to be stored. */
  batch: BatchToSend | undefined;
  /** The offset after the last batch stored, if the broker reported it. */
  nextOffset: Offset | undefined;
}

/** A partition that has all of its records. */
export interface WrittenPartition extends TopicPartition {
  /** The offset after its last record; undefined if no broker reported it, because the records were sent before. */
  readonly nextOffset: Offset | undefined;
}

/** Writes the records of one writer's transactions. Each batch is stored once, however often it has to be sent. */
export class TransactionOutput {
  readonly #options: TransactionOutputOptions;
  readonly #writerId: string;
  readonly #identity: ProducerIdentity;
  /**
   * The sequence number of the next record of each partition. The numbers continue from one transaction to the next.
   */
  readonly #sequences = new Map<string, number>();
  #batchBytesMaximum = topicMessageBytesMaximum;

  constructor(options: TransactionOutputOptions, writerId: string, identity: ProducerIdentity) {
    this.#options = options;
    this.#writerId = writerId;
    this.#identity = identity;
  }

  /**
   * Returns when all of the records are stored. Their partitions have to belong to the open transaction. Records of
   * several leaders are stored at the same time.
   * @throws WRITER_FENCED, UNKNOWN_TOPIC_OR_PARTITION, RECORD_TOO_LARGE, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
   */
  async write(partitions: readonly PartitionRecords[]): Promise<readonly WrittenPartition[]> {
    const outputs = outputsOf(partitions);
    let pending = outputs;
    const retry = new Retry(this.#options.clock, {
      forMilliseconds: produceMilliseconds,
      firstPauseMilliseconds,
      pauseMillisecondsMaximum,
    });
    while (pending.length > 0) {
      const errors = await this.#round(pending);
      pending = pending.filter(({ next, records }) => next < records.length);
      if (errors[0] !== undefined) await retry.after(errors[0]);
    }
    return outputs;
  }

  /** Sends one request to each leader. Returns the errors for which a retry may help. */
  async #round(outputs: readonly PartitionOutput[]): Promise<LendstreamError[]> {
    const { metadata } = this.#options;
    const errors: LendstreamError[] = [];
    const groups = new Map<BrokerNode, PartitionOutput[]>();
    for (const output of outputs) {
      const leader = metadata.knownLeader(output) ?? (await orTransientError(metadata.leaderOf(output)));
      if (isLendstreamError(leader)) errors.push(leader);
      else groups.set(leader, [...(groups.get(leader) ?? []), output]);
    }
    const requests = [...groups].map(([leader, ofLeader]) => this.#send(leader, ofLeader));
    return [...errors, ...(await Promise.all(requests)).flat()];
  }

  async #send(leader: BrokerNode, outputs: readonly PartitionOutput[]): Promise<LendstreamError[]> {
    const sent: { output: PartitionOutput; batch: BatchToSend }[] = [];
    let bytes = 0;
    for (const output of outputs) {
      if (bytes >= produceBytesMaximum) break;
      const batch = (output.batch ??= this.#build(output));
      sent.push({ output, batch });
      bytes += batch.encodedBytes;
    }
    await Promise.all(sent.map(({ batch }) => batch.finish()));
    const parts = sent.map(({ output: { topic, partition }, batch }) => ({ topic, partition, bytes: batch.bytes }));
    const request = produceRequest(parts, this.#writerId);
    const results = await orTransientError(this.#options.connections.send(leader, 'produce', request));
    if (!isLendstreamError(results)) {
      const byKey = new Map(results.map((result) => [keyOf(result), result]));
      return sent.flatMap(({ output }) => this.#applyResult(output, byKey.get(output.key)) ?? []);
    }
    for (const { topic } of parts) this.#options.metadata.forgetLeaders(topic);
    return [results];
  }

  /**
   * Returns the error if a retry may help.
   * @throws any other error
   */
  #applyResult(output: PartitionOutput, result: ProduceResult | undefined): LendstreamError | undefined {
    const { topic, partition, key, batch } = output;
    if (batch === undefined) return undefined;
    const errorCode = result?.errorCode ?? protocolError.unknownServerError;
    const outcome = outcomeOf(errorCode);
    if (outcome === 'stored') {
      this.#sequences.set(key, sequenceAfter(this.#sequences.get(key) ?? 0, batch.count));
      output.next += batch.count;
      output.batch = undefined;
      const baseOffset = result?.baseOffset ?? unknownOffset;
      output.nextOffset = baseOffset === unknownOffset ? undefined : baseOffset + batch.count;
      return undefined;
    }
    const error = errorOf(errorCode, `Appending to topic ${topic}, partition ${partition},`, { topic, partition });
    if (outcome === 'too_large' && batch.count > 1) {
      this.#batchBytesMaximum = Math.floor(batch.encodedBytes / 2);
      output.batch = undefined;
      return undefined;
    }
    const isLeaderStale = outcome === 'again_elsewhere' || outcome === 'perhaps_stored_elsewhere';
    if (isLeaderStale) this.#options.metadata.forgetLeaders(topic);
    if (isLeaderStale || outcome === 'again' || outcome === 'perhaps_stored') return error;
    throw error;
  }

  #build({ key, records, next }: PartitionOutput): BatchToSend {
    const end = batchEnd(records, next, this.#batchBytesMaximum);
    const bytes = encodeRecordBatch(next === 0 && end === records.length ? records : records.slice(next, end), {
      firstSequence: this.#sequences.get(key) ?? 0,
      timestamp: this.#options.clock.now(),
      isTransactional: true,
      ...this.#identity,
    });
    return new BatchToSend(bytes, end - next);
  }
}

/** The base offset in a response when the broker has the batch already and no longer knows where it is. */
const unknownOffset = -1;

/** Returns one output for each partition, with all of its records in order. */
function outputsOf(partitions: readonly PartitionRecords[]): PartitionOutput[] {
  const outputs = new Map<string, PartitionOutput>();
  for (const { topic, partition, records } of partitions) {
    if (records.length === 0) continue;
    const key = keyOf({ topic, partition });
    const output = outputs.get(key);
    if (output === undefined)
      outputs.set(key, {
        topic,
        partition,
        key,
        records: [...records],
        next: 0,
        batch: undefined,
        nextOffset: undefined,
      });
    else output.records.push(...records);
  }
  return [...outputs.values()];
}

/**
 * Returns where a batch ends (exclusive) that begins with the record at `from` and has at most this many bytes. It
 * contains at least one record.
 */
function batchEnd(records: readonly LogRecord[], from: number, bytesMaximum: number): number {
  let bytes = batchHeaderBytes;
  let end = from;
  while (end < records.length) {
    bytes += encodedRecordBytes(records[end] as LogRecord);
    if (end > from && bytes > bytesMaximum) break;
    end += 1;
  }
  return end;
}
