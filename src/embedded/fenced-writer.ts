import { LendstreamError } from '../errors.ts';
import type { CommittedPartition, FencedWriter, Offset, PartitionRecords } from '../ports/event-log.ts';
import { writerFenced, type AppendPart, type AppendQueue } from './append-queue.ts';
import type { PartitionState } from './partition-state.ts';
import { contentBytes } from './records/record-sizes.ts';

/** The most that a transaction may contain before its commit. Bytes. */
const transactionBytesMaximum = 64 * 1024 * 1024;

/**
 * A writer whose transaction stays in memory until its commit. The commit and the check of the writer's epoch are one
 * database transaction.
 */
export class EmbeddedWriter implements FencedWriter {
  readonly writerId: string;
  readonly #queue: AppendQueue;
  readonly #resolveParts: (partitions: readonly PartitionRecords[]) => AppendPart[];
  readonly #onClose: () => void;
  #epoch = 0;
  #staged: AppendPart[] = [];
  #stagedBytes = 0;
  /** The error of every further step, once the writer is closed, fenced or failed. */
  #invalidReason: LendstreamError | undefined;

  /** @param options.resolveParts Finds the partitions and checks the records. */
  constructor(options: {
    readonly writerId: string;
    readonly queue: AppendQueue;
    readonly resolveParts: (partitions: readonly PartitionRecords[]) => AppendPart[];
    readonly onClose: () => void;
  }) {
    this.writerId = options.writerId;
    this.#queue = options.queue;
    this.#resolveParts = options.resolveParts;
    this.#onClose = options.onClose;
  }

  /** Sets the epoch that the database must still have for this writer when it commits. */
  setEpoch(epoch: number): void {
    this.#epoch = epoch;
  }

  /** Aborts the open transaction and makes every further step fail. Returns the first reason for that. */
  invalidate(reason: LendstreamError): LendstreamError {
    this.#invalidReason ??= reason;
    this.#unstage();
    return this.#invalidReason;
  }

  /** Ends the writer because a later one with its name was opened. */
  fence(): void {
    this.invalidate(writerFenced(this.writerId));
  }

  append(partitions: readonly PartitionRecords[]): Promise<void> {
    return this.#step(() => {
      const parts = this.#resolveParts(partitions);
      for (const { records } of parts) this.#stagedBytes += contentBytes(records);
      if (this.#stagedBytes > transactionBytesMaximum) {
        throw new LendstreamError(
          'OVERLOADED',
          `The transaction of writer ${this.writerId} is larger than ${transactionBytesMaximum} bytes.`,
        );
      }
      this.#staged.push(...parts);
    });
  }

  commit(): Promise<readonly CommittedPartition[]> {
    return this.#step(async () => {
      const parts = this.#unstage();
      if (parts.length === 0) return [];
      const baseOffsets = await this.#queue.add(parts, { writerId: this.writerId, epoch: this.#epoch });
      return committedPartitions(parts, baseOffsets);
    });
  }

  abort(): Promise<void> {
    return this.#step(() => {
      this.#unstage();
    });
  }

  close(): Promise<void> {
    this.invalidate(new LendstreamError('LOG_CLOSED', `The writer ${this.writerId} is closed.`));
    this.#onClose();
    return Promise.resolve();
  }

  /** Ends the transaction in memory, and returns its parts. */
  #unstage(): AppendPart[] {
    const parts = this.#staged;
    this.#staged = [];
    this.#stagedBytes = 0;
    return parts;
  }

  async #step<Result>(action: () => Result | Promise<Result>): Promise<Result> {
    if (this.#invalidReason !== undefined) throw this.#invalidReason;
    try {
      return await action();
    } catch (error) {
      throw this.invalidate(
        error instanceof LendstreamError
          ? error
          : new LendstreamError('OUTCOME_UNKNOWN', 'The writer failed unexpectedly.', { cause: error }),
      );
    }
  }
}

/** Each partition once, with the end of its last part. */
function committedPartitions(parts: readonly AppendPart[], baseOffsets: readonly Offset[]): CommittedPartition[] {
  const ends = new Map<PartitionState, Offset>();
  parts.forEach(({ partition, records }, index) => {
    const { length } = records.valueEnds;
    if (length > 0) ends.set(partition, (baseOffsets[index] as Offset) + length);
  });
  return [...ends].map(([{ topic, partition }, nextOffset]) => ({ topic, partition, nextOffset }));
}
