import { type EventLog, type Offset, type RecordBatch, noValue } from '../ports/event-log.ts';
import { withoutExternalRecords } from '../broker/log/external-records.ts';
import { BoundedMap } from '../bounded-map.ts';
import { LendstreamError } from '../errors.ts';
import type { Loan } from '../lending/loan.ts';
import { type EncodedLoan, decodeLoan } from '../lending/codec/stored-loan.ts';
import {
  type CheckpointRecord,
  checkpointKey,
  isCheckpointKey,
  parseCheckpoint,
} from '../lending-format/checkpoint.ts';
import { loansTopic } from '../lending-format/lending-topics.ts';
import { type IdempotencyRecord, commandIdOfKey } from '../lending-format/idempotency-record.ts';
import { IdempotencyRecords } from './idempotency-records.ts';
import { boundsOfPartition } from './partition-bounds.ts';

/** How many loans of a partition are kept decoded. The others are kept as text, in about a tenth of the memory. */
const hotLoansMaximum = 5_000;

const restoreReadBytes = 4 * 1024 * 1024;
const restoreWaitMilliseconds = 100;

/** The changes of one commit to the state of a partition. */
export interface CommittedState {
  readonly checkpoint: CheckpointRecord;
  readonly loans: ReadonlyMap<string, EncodedLoan>;
  /** The records of the commands to remember, by command id. */
  readonly commands: ReadonlyMap<string, string>;
  /** Commands whose records are deleted before those of `commands` are written. */
  readonly expiredCommands: readonly string[];
}

/**
 * The state of one partition as in the changelog: its loans, the results of commands that posted no transaction, and
 * the position of the last command done. It contains committed states only: the changes of a batch are kept apart until
 * the commit is durable.
 */
export class LoanStore {
  readonly #texts = new Map<string, Buffer>();
  /** The decoded loans. */
  readonly #hot: BoundedMap<string, Loan>;
  readonly #commands = new IdempotencyRecords();
  #checkpoint: CheckpointRecord | null = null;

  private constructor(hotMaximum: number) {
    this.#hot = new BoundedMap(hotMaximum);
  }

  /**
   * Reads the changelog of the partition up to its current end. The caller must already have the writer of the
   * partition: an end taken before the previous owner was fenced could miss its last commit.
   * @throws LOG_CLOSED when `signal` aborts during the read, INTERNAL for an unreadable checkpoint, and the errors of
   *   the log
   */
  static async restore(
    log: EventLog,
    partition: number,
    signal: AbortSignal,
    hotMaximum: number = hotLoansMaximum,
  ): Promise<LoanStore> {
    const store = new LoanStore(hotMaximum);
    const from = { topic: loansTopic, partition };
    const bounds = await boundsOfPartition(log, from);
    let checkpoint: Buffer | null = null;
    for (let offset = bounds.earliest; offset < bounds.latest;) {
      const { batches, nextOffset } = await log.read(
        { ...from, offset },
        { bytesMaximum: restoreReadBytes, waitMilliseconds: restoreWaitMilliseconds, signal },
      );
      if (signal.aborted) throw new LendstreamError('LOG_CLOSED', 'The worker was stopped while it read the loans.');
      for (const batch of batches)
        checkpoint = store.#applyBatch(withoutExternalRecords(batch), checkpointKey(partition)) ?? checkpoint;
      offset = nextOffset;
    }
    store.#checkpoint = checkpoint === null ? null : parseCheckpoint(checkpoint);
    return store;
  }

  /** The offset of the last command done; null when none was done yet. */
  get position(): Offset | null {
    return this.#checkpoint?.position ?? null;
  }

  get size(): number {
    return this.#texts.size;
  }

  /** The committed state of a loan; null when there is no loan with that id. */
  loanOf(loanAccountId: string): Loan | null {
    return this.encodedLoanOf(loanAccountId)?.loan ?? null;
  }

  /** The committed state of a loan and its text in the changelog; null when there is no loan with that id. */
  encodedLoanOf(loanAccountId: string): EncodedLoan | null {
    const text = this.#texts.get(loanAccountId);
    if (text === undefined) return null;
    const hot = this.#hot.get(loanAccountId);
    if (hot !== undefined) return { loan: hot, text };
    const loan = decodeLoan(text.toString());
    this.#hot.set(loanAccountId, loan);
    return { loan, text };
  }

  /** The result of a command that posted no transaction; undefined when it is not remembered. */
  idempotencyRecord(commandId: string): IdempotencyRecord | undefined {
    return this.#commands.get(commandId);
  }

  /**
   * The oldest commands that are still remembered and were decided up to that time (milliseconds since the epoch), at
   * most as many as one commit may forget.
   */
  commandsDecidedUpTo(time: number): string[] {
    return this.#commands.decidedUpTo(time);
  }

  /** Applies the changes of a durable commit. */
  apply({ checkpoint, loans, commands, expiredCommands }: CommittedState): void {
    for (const commandId of expiredCommands) this.#commands.delete(commandId);
    for (const [commandId, text] of commands) this.#commands.set(commandId, text);
    for (const [loanAccountId, { loan, text }] of loans) {
      this.#texts.set(loanAccountId, text);
      this.#hot.set(loanAccountId, loan);
    }
    this.#checkpoint = checkpoint;
  }

  /**
   * Applies the records of a batch.
   * @returns the text of the last checkpoint record of this partition in the batch; null when there is none
   */
  #applyBatch(batch: RecordBatch, ownCheckpointKey: string): Buffer | null {
    let checkpoint: Buffer | null = null;
    for (let index = 0; index < batch.count; index += 1) {
      const key = batch.key(index);
      const start = batch.valueStarts[index] ?? noValue;
      if (key === null) continue;
      const commandId = commandIdOfKey(key);
      if (start === noValue) {
        if (commandId === undefined) this.#texts.delete(key);
        else this.#commands.delete(commandId);
        continue;
      }
      if (commandId !== undefined) {
        this.#commands.set(commandId, batch.bytes.toString('utf8', start, batch.valueEnds[index]));
        continue;
      }
      // A copy: the memory of the batch is shared, and as large as everything that was read with it.
      const text = Buffer.from(batch.bytes.subarray(start, batch.valueEnds[index]));
      if (key === ownCheckpointKey) checkpoint = text;
      else if (!isCheckpointKey(key)) this.#texts.set(key, text);
    }
    return checkpoint;
  }
}
