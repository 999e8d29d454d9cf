import { type Timer, after } from '../../../clock.ts';
import type { CommittedPartition, FencedWriter, PartitionRecords, TopicPartition } from '../../../ports/event-log.ts';
import { type ErrorCode, LendstreamError, describeError, isLendstreamError } from '../../../errors.ts';
import type { KafkaConnections } from '../../connection/connections.ts';
import { keyOf } from '../../protocol/partitions-by-topic.ts';
import { type CleanupPolicyOf, checkRecords } from '../record-checks.ts';
import { recordBytesBound } from '../../protocol/record-batches/record-sizes.ts';
import { orTransientError } from '../../connection/retry.ts';
import { TransactionCoordinator, type TransactionCoordinatorOptions } from './transaction-coordinator.ts';
import { TransactionOutput, type TransactionOutputOptions, type WrittenPartition } from './transaction-output.ts';
import type { ProducerIdentity } from '../../protocol/transaction-requests.ts';

export interface KafkaWriterOptions extends TransactionCoordinatorOptions, TransactionOutputOptions {
  readonly connections: Pick<KafkaConnections, 'send' | 'current'>;
  readonly cleanupPolicyOf: CleanupPolicyOf;
  /** Called when the writer is closed. */
  readonly onClosed?: (writer: FencedWriter) => void;
}

/** The most that a transaction may hold; beyond it an append fails with OVERLOADED. Bytes. */
const transactionBytesMaximum = 64 * 1024 * 1024;

/**
 * How long after a transaction to check whether all of its partitions have the outcome, unless another one follows.
 * Milliseconds.
 */
const markerCheckMilliseconds = 1_000;

/** After these errors the next writer of the name aborts what is open, or the coordinator does so in time. */
const noAbortAfter = new Set<ErrorCode | undefined>(['WRITER_FENCED', 'LOG_UNAVAILABLE', 'OUTCOME_UNKNOWN']);

/**
 * Opens the writer of a name; the name is its transactional id. From here on earlier writers of the name are fenced
 * off, and the records they committed in the partitions are visible.
 * @throws WRITER_FENCED when another one is opened at the same time, LOG_UNAVAILABLE, OUTCOME_UNKNOWN, LOG_CLOSED
 */
export async function openKafkaWriter(
  options: KafkaWriterOptions,
  writerId: string,
  partitions: readonly TopicPartition[],
): Promise<FencedWriter> {
  const coordination = new TransactionCoordinator(options, writerId);
  const identity = await coordination.begin(partitions);
  return new KafkaWriter(options, writerId, coordination, identity);
}

/**
 * Writes the records of a transaction with each append. So a fenced writer fails at an append already, and a commit is
 * one request.
 */
class KafkaWriter implements FencedWriter {
  readonly writerId: string;
  readonly #options: KafkaWriterOptions;
  readonly #identity: ProducerIdentity;
  readonly #coordination: TransactionCoordinator;
  readonly #output: TransactionOutput;
  /** Partitions of the open transaction by key; none when no transaction is open. */
  readonly #partitions = new Map<string, WrittenPartition>();
  #transactionBytes = 0;
  /** Why no further step is possible. */
  #failure: LendstreamError | undefined;
  #lastStep: Promise<void> = Promise.resolve();
  #markerCheck: Timer | undefined;

  constructor(
    options: KafkaWriterOptions,
    writerId: string,
    coordination: TransactionCoordinator,
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

  commit(): Promise<readonly CommittedPartition[]> {
    return this.#step(async () => {
      const written = [...this.#partitions.values()];
      await this.#end(true);
      return written.filter(isOffsetKnown);
    });
  }

  abort(): Promise<void> {
    return this.#step(() => this.#end(false));
  }

  /** Aborts what is open, unless this writer no longer owns it or Kafka is unavailable: others do it then. */
  async close(): Promise<void> {
    const closed = new LendstreamError('LOG_CLOSED', `The writer ${this.writerId} is closed.`);
    this.#markerCheck?.cancel();
    await this.#step(() => Promise.reject(closed)).catch(() => closed);
    this.#options.onClosed?.(this);
    if (this.#partitions.size === 0 || noAbortAfter.has(this.#failure?.code)) return;
    this.#partitions.clear();
    try {
      await this.#coordination.abortOnce(this.#identity);
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
      // A partition that does not exist is refused here. One without a leader may have one when its records are
      // written.
      await Promise.all([...added.values()].map((request) => orTransientError(metadata.leaderOf(request))));
      for (const [key, { topic, partition }] of added) {
        this.#partitions.set(key, { topic, partition, nextOffset: undefined });
      }
      await this.#coordination.addPartitions(this.#identity, [...added.values()]);
    }
    for (const { topic, partition, nextOffset } of await this.#output.write(partitions)) {
      this.#partitions.set(keyOf({ topic, partition }), { topic, partition, nextOffset });
    }
  }

  async #end(isCommit: boolean): Promise<void> {
    if (this.#partitions.size === 0) return;
    try {
      await this.#coordination.end(this.#identity, isCommit, [...this.#partitions.values()]);
      this.#scheduleMarkerCheck();
    } finally {
      this.#partitions.clear();
      this.#transactionBytes = 0;
    }
  }

  /**
   * The next transaction completes this one. When none comes, nothing else would notice that this one was not finished.
   */
  #scheduleMarkerCheck(): void {
    this.#markerCheck?.cancel();
    this.#markerCheck = after(this.#options.clock, markerCheckMilliseconds, () => void this.#checkMarkers());
  }

  /**
   * The check takes as long as a slow broker does, and no step waits for it. Only a repair comes before the next steps.
   */
  async #checkMarkers(): Promise<void> {
    await this.#tryToCompleteMarkers(async () => {
      if (!(await this.#coordination.lacksMarkers(this.#identity))) return;
      this.#lastStep = this.#lastStep.then(() =>
        this.#tryToCompleteMarkers(() => this.#coordination.completeMarkers(this.#identity)),
      );
    });
  }

  /** Not a step: while Kafka cannot be asked it is tried again, and the writer stays usable. */
  async #tryToCompleteMarkers(complete: () => Promise<void>): Promise<void> {
    if (this.#failure !== undefined || this.#partitions.size > 0 || !this.#coordination.hasUnconfirmedMarkers) return;
    try {
      await complete();
    } catch (error) {
      if (this.#failure !== undefined) return;
      if (isLendstreamError(error, 'LOG_UNAVAILABLE')) this.#scheduleMarkerCheck();
      else this.#fail(error);
    }
  }

  /** Runs one step after another, and none after an error. */
  #step<Result>(action: () => Promise<Result>): Promise<Result> {
    const step = this.#lastStep.then(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      try {
        return await action();
      } catch (error) {
        throw this.#fail(error);
      }
    });
    this.#lastStep = step.then(
      () => {},
      () => {},
    );
    return step;
  }

  #fail(error: unknown): LendstreamError {
    this.#failure = isLendstreamError(error)
      ? error
      : new LendstreamError('OUTCOME_UNKNOWN', `The writer failed unexpectedly: ${describeError(error)}`, {
          cause: error,
        });
    return this.#failure;
  }
}

function isOffsetKnown(written: WrittenPartition): written is CommittedPartition {
  return written.nextOffset !== undefined;
}
