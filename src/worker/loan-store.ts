import type { Offset } from '../ports/event-log.ts';
import { BoundedMap } from '../bounded-map.ts';
import type { ChangelogCopy } from '../accounts/changelog-copy.ts';
import { decodeLoan } from '../lending/changelog/stored-loan.ts';
import { decodeTransaction } from '../lending/changelog/stored-transaction.ts';
import type { Loan, LoanTransaction } from '../lending/loan.ts';
import { accountRecordKey, transactionRecordKey } from '../lending-format/account-record-keys.ts';
import type { CheckpointRecord } from '../lending-format/checkpoint.ts';
import {
  type IdempotencyRecord,
  idempotencyRecordKey,
  parseIdempotencyRecord,
} from '../lending-format/idempotency-record.ts';

/** How much memory the decoded loans of a partition may take. Bytes. */
const hotBytesMaximum = 48 * 1024 * 1024;

/** A decoded loan takes about this many times the memory of its text. */
const decodedBytesPerCharacter = 5;

/** How much the commits may contain that the copy does not have yet, before the worker waits for it. Bytes. */
const aheadOfCopyBytesMaximum = 32 * 1024 * 1024;

/**
 * The most commands that one commit forgets, so that none takes long. It is more than one commit adds, so that expired
 * commands do not pile up.
 */
const expiredPerCommitMaximum = 500;

/** The changes of one commit to the state of a partition. */
export interface CommittedState {
  readonly checkpoint: CheckpointRecord;
  /** The new states of loans. */
  readonly loans: ReadonlyMap<string, Loan>;
  /** The records that the commit wrote, by their keys; null where it deleted one. */
  readonly records: ReadonlyMap<string, Buffer | null>;
  /** New and changed transactions, each by its encodedKey and by its id. */
  readonly transactions: readonly (readonly [loanAccountId: string, keyOrId: string, transaction: LoanTransaction])[];
}

/**
 * The state of one partition as in the changelog: its loans, their transactions, the results of commands that posted no
 * transaction, and the position of the last command done. It contains committed states only: the changes of a batch are
 * kept apart until the commit is durable.
 *
 * It reads the local copy of the changelog. What the copy does not have yet, the last commits of this worker, is kept
 * here until the copy has it.
 */
export class LoanStore {
  readonly #copy: ChangelogCopy;
  readonly #partition: number;
  /** The decoded loans. Only this worker changes them, so they are never older than the copy. */
  readonly #hot: BoundedMap<string, { readonly loan: Loan; readonly bytes: number }>;
  /** What the last commits changed, by record key, and the position of the commit. */
  readonly #recent = new Map<string, { readonly value: string | LoanTransaction | null; readonly position: Offset }>();
  /** The commits in `#recent`, oldest first. */
  readonly #commits: { readonly position: Offset; readonly keys: readonly string[]; readonly bytes: number }[] = [];
  #position: Offset | null;

  private constructor(copy: ChangelogCopy, partition: number, hotMaximum: number) {
    this.#copy = copy;
    this.#partition = partition;
    this.#hot = new BoundedMap(hotMaximum, ({ bytes }) => bytes);
    this.#position = copy.checkpointPosition(partition);
  }

  /**
   * Opens the state of a partition, once the local copy has all of it. The caller must already have the writer of the
   * partition: an end taken before the previous owner was fenced could miss its last commit.
   * @throws LOG_CLOSED when `signal` aborts meanwhile, LOG_UNAVAILABLE while the copy is rebuilt, and the errors of the
   *   log
   */
  static async open(
    copy: ChangelogCopy,
    partition: number,
    signal: AbortSignal,
    hotMaximum: number = hotBytesMaximum,
  ): Promise<LoanStore> {
    await copy.catchUpPartition(partition, signal);
    return new LoanStore(copy, partition, hotMaximum);
  }

  /** The offset of the last command done; null when none was done yet. */
  get position(): Offset | null {
    return this.#position;
  }

  /** The committed state of a loan; null when there is no loan with that id. */
  loanOf(loanAccountId: string): Loan | null {
    const hot = this.#hot.get(loanAccountId);
    if (hot !== undefined) return hot.loan;
    const text = this.#textOf(accountRecordKey(loanAccountId), () => this.#copy.accountText(loanAccountId));
    if (text === undefined) return null;
    const loan = decodeLoan(text);
    this.#keepHot(loanAccountId, loan, text.length);
    return loan;
  }

  /** A transaction of a loan, by its encodedKey or id. */
  transactionOf(loanAccountId: string, keyOrId: string): LoanTransaction | undefined {
    const recent = this.#recent.get(transactionRecordKey(loanAccountId, keyOrId))?.value;
    if (recent !== undefined && recent !== null && typeof recent !== 'string') return recent;
    const text = this.#copy.transactionText(loanAccountId, keyOrId);
    return text === undefined ? undefined : decodeTransaction(text);
  }

  /** The result of a command that posted no transaction; undefined when it is not remembered. */
  idempotencyRecord(commandId: string): IdempotencyRecord | undefined {
    const text = this.#textOf(idempotencyRecordKey(commandId), () =>
      this.#copy.commandText(this.#partition, commandId),
    );
    return text === undefined ? undefined : parseIdempotencyRecord(text);
  }

  /**
   * The oldest commands that are still remembered and were decided up to that time (milliseconds since the epoch), at
   * most as many as one commit may forget.
   */
  commandsDecidedUpTo(time: number): string[] {
    const found = this.#copy.commandsDecidedUpTo(this.#partition, time, expiredPerCommitMaximum);
    return found.filter((commandId) => {
      // A recent commit may have deleted it, or written it again.
      const recent = this.#recent.get(idempotencyRecordKey(commandId));
      if (recent === undefined) return true;
      return typeof recent.value === 'string' && parseIdempotencyRecord(recent.value).decidedAt <= time;
    });
  }

  /** Applies the changes of a durable commit. */
  apply({ checkpoint, loans, records, transactions }: CommittedState): void {
    const { position } = checkpoint;
    this.#position = position;
    for (const [loanAccountId, loan] of loans) {
      this.#keepHot(loanAccountId, loan, records.get(accountRecordKey(loanAccountId))?.length ?? 0);
    }
    const keys: string[] = [];
    let bytes = 0;
    const keep = (key: string, value: string | LoanTransaction | null): void => {
      this.#recent.set(key, { value, position });
      keys.push(key);
    };
    for (const [key, value] of records) {
      keep(key, value === null ? null : value.toString());
      bytes += key.length + (value?.length ?? 0);
    }
    for (const [loanAccountId, keyOrId, transaction] of transactions)
      keep(transactionRecordKey(loanAccountId, keyOrId), transaction);
    this.#commits.push({ position, keys, bytes });
    this.#forgetWhatTheCopyHas();
  }

  /**
   * Waits for the copy when it is far behind, so that what is kept for it does not grow without bound.
   * @throws as {@link ChangelogCopy.catchUpPartition}
   */
  async waitForCopy(signal: AbortSignal): Promise<void> {
    let bytesAhead = 0;
    for (const { bytes } of this.#commits) bytesAhead += bytes;
    if (bytesAhead <= aheadOfCopyBytesMaximum) return;
    await this.#copy.catchUpPartition(this.#partition, signal);
    this.#forgetWhatTheCopyHas();
  }

  #keepHot(loanAccountId: string, loan: Loan, textLength: number): void {
    this.#hot.set(loanAccountId, { loan, bytes: textLength * decodedBytesPerCharacter });
  }

  #forgetWhatTheCopyHas(): void {
    const copied = this.#copy.checkpointPosition(this.#partition) ?? -1;
    let count = 0;
    for (const { position, keys } of this.#commits) {
      if (position > copied) break;
      count += 1;
      for (const key of keys) if (this.#recent.get(key)?.position === position) this.#recent.delete(key);
    }
    this.#commits.splice(0, count);
  }

  /** The text of a record as of the last commit; undefined when there is no such record. */
  #textOf(key: string, readCopy: () => string | undefined): string | undefined {
    const recent = this.#recent.get(key);
    if (recent === undefined) return readCopy();
    return typeof recent.value === 'string' ? recent.value : undefined;
  }
}
