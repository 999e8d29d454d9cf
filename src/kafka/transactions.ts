import type { FencedWriter, PartitionRecords, TopicPartition } from '../broker/event-log.ts';
import { type ErrorCode, LendstreamError, describeError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { keyOf } from './topic-partitions.ts';
import { type CleanupPolicyOf, checkRecords, recordBytesBound } from './record-checks.ts';
import { passing } from './retry.ts';
import { TransactionCoordination, type TransactionCoordinationOptions } from './transaction-coordination.ts';
import { TransactionOutput, type TransactionOutputOptions } from './transaction-output.ts';
import type { ProducerIdentity } from './transaction-requests.ts';

export interface KafkaWriterOptions extends TransactionCoordinationOptions, TransactionOutputOptions {
  readonly logger: Logger;
  readonly cleanupPolicyOf: CleanupPolicyOf;
  /** Told when the writer is closed. */
  readonly onClosed?: (writer: FencedWriter) => void;
}

/** What a transaction may hold; beyond it an append answers OVERLOADED. Bytes. */
const transactionBytesMaximum = 64 * 1024 * 1024;

/** After these errors the next writer of the name, or the transaction's coordinator in time, aborts what is open. */
const leftToOthers = new Set<ErrorCode | undefined>(['WRITER_FENCED', 'LOG_UNAVAILABLE', 'OUTCOME_UNKNOWN']);

/**
 * Opens the writer of a name; the name is its transactional id. Earlier writers of the name are fenced off from here on.
 * @throws WRITER_FENCED when another one is opened at the same time, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
 */
export async function openKafkaWriter(options: KafkaWriterOptions, writerId: string): Promise<FencedWriter> {
  const coordination = new TransactionCoordination(options, writerId);
  const identity = await coordination.begin();
  return new KafkaWriter(options, writerId, coordination, identity);
}

/**
 * Writes with each append what belongs to the transaction, so that an append already meets a fence, and that a commit is
 * one request.
 */
class KafkaWriter implements FencedWriter {
  readonly writerId: string;
  readonly #options: KafkaWriterOptions;
  readonly #identity: ProducerIdentity;
  readonly #coordination: TransactionCoordination;
  readonly #output: TransactionOutput;
  /** Partitions of the open transaction; none when no transaction is open. */
  readonly #partitions = new Set<string>();
  #transactionBytes = 0;
  /** Why no further step is possible. */
  #spent: LendstreamError | undefined;
  #lastStep: Promise<void> = Promise.resolve();

  constructor(
    options: KafkaWriterOptions,
    writerId: string,
    coordination: TransactionCoordination,
    identity: ProducerIdentity,
  ) {
    this.writerId = writerId;
    this.#options = options;
    this.#identity = identity;
    this.#coordination = coordination;
    this.#output = new TransactionOutput(options, writerId, identity);
  }

  append(partitions: readonly PartitionRecords[]): Promise<void> {
    return this.#step(() => this.#append(partitions));
  }

  commit(): Promise<void> {
    return this.#step(() => this.#end(true));
  }

  abort(): Promise<void> {
    return this.#step(() => this.#end(false));
  }

  /** Aborts what is open, unless it is not this writer's any more or Kafka is in trouble: others do it then. */
  async close(): Promise<void> {
    const closed = new LendstreamError('LOG_CLOSED', `The writer ${this.writerId} is closed.`);
    await this.#step(() => Promise.reject(closed)).catch(() => closed);
    this.#options.onClosed?.(this);
    if (this.#partitions.size === 0 || leftToOthers.has(this.#spent?.code)) return;
    this.#partitions.clear();
    try {
      await this.#coordination.abandon(this.#identity);
    } catch (error) {
      const { writerId } = this;
      this.#options.logger.debug({ writerId, error: describeError(error) }, 'An open transaction was not aborted');
    }
  }

  async #append(partitions: readonly PartitionRecords[]): Promise<void> {
    const { metadata, cleanupPolicyOf } = this.#options;
    for (const request of partitions) {
      await checkRecords(request, cleanupPolicyOf);
      for (const record of request.records) this.#transactionBytes += recordBytesBound(record);
    }
    if (this.#transactionBytes > transactionBytesMaximum) {
      throw new LendstreamError(
        'OVERLOADED',
        `The transaction of writer ${this.writerId} is larger than ${transactionBytesMaximum} bytes.`,
      );
    }
    const added = new Map<string, TopicPartition>();
    for (const request of partitions) {
      const key = keyOf(request);
      if (request.records.length > 0 && !this.#partitions.has(key)) added.set(key, request);
    }
    if (added.size > 0) {
      // One that does not exist is to be refused here; one without a leader may have one when its records are written.
      await Promise.all([...added.values()].map((request) => passing(metadata.leaderOf(request))));
      for (const key of added.keys()) this.#partitions.add(key);
      await this.#coordination.addPartitions(this.#identity, [...added.values()]);
    }
    await this.#output.write(partitions);
  }

  async #end(isCommit: boolean): Promise<void> {
    if (this.#partitions.size === 0) return;
    try {
      await this.#coordination.end(this.#identity, isCommit);
    } finally {
      this.#partitions.clear();
      this.#transactionBytes = 0;
    }
  }

  /** One step after the other, and none after an error. */
  #step(action: () => Promise<void>): Promise<void> {
    const step = this.#lastStep.then(async () => {
      if (this.#spent !== undefined) throw this.#spent;
      try {
        await action();
      } catch (error) {
        this.#spent = isLendstreamError(error)
          ? error
          : new LendstreamError('OUTCOME_UNKNOWN', `The writer failed in an unforeseen way: ${describeError(error)}`, {
              cause: error,
            });
        throw this.#spent;
      }
    });
    this.#lastStep = step.catch(() => {});
    return step;
  }
}
