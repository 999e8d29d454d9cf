import type { CommittedPartition, Offset } from '../ports/event-log.ts';
import { isLendstreamError } from '../errors.ts';
import type { AccountsForWorker, DueCursor, DueDays, OwnCommit } from '../accounts/accounts-for-worker.ts';
import { DecodedLoans, type DecodedLoansOfPartition } from './decoded-loans.ts';
import { decodeTransaction } from '../lending/changelog/stored-transaction.ts';
import type { Loan, LoanTransaction } from '../lending/loan.ts';
import type { LocalDate } from '../lending/terms.ts';
import type { CheckpointRecord } from '../lending-format/checkpoint.ts';
import { type IdempotencyRecord, parseIdempotencyRecord } from '../lending-format/idempotency-record.ts';
import { accountsTopic } from '../lending-format/lending-topics.ts';

/**
 * The most commands that one commit forgets, so that none takes long. It is more than one commit adds, so that expired
 * commands do not pile up.
 */
const expiredPerCommitMaximum = 500;

/** The changes of one commit to the state of a partition. */
export interface CommittedState {
  readonly checkpoint: CheckpointRecord;
  /** The new states of loans, by loan account id; null for one that was deleted. */
  readonly loans: ReadonlyMap<string, CommittedLoan | null>;
  /** The texts of the records that the commit writes, by their keys; null where it deletes one. */
  readonly records: ReadonlyMap<string, string | null>;
}

export interface CommittedLoan {
  readonly loan: Loan;
  /** The length of its account with all its pages. Characters. */
  readonly textLength: number;
}

/**
 * The state of one partition as in the changelog: its loans, their transactions, the results of commands that posted no
 * transaction, and the position of the last command done. It contains committed states only: the changes of a batch are
 * kept apart until the commit is durable.
 *
 * It reads the local copy of the changelog, and gives each commit of this worker to the copy.
 */
export class LoanStore {
  readonly #copy: AccountsForWorker;
  readonly #partition: number;
  /** The decoded loans. Only this worker changes them, so they are never older than the copy. */
  readonly #decoded: DecodedLoansOfPartition;
  /** All records of the changelog below this offset are known to this worker: it read or wrote them. */
  #knownTo: Offset;
  #isCopied = true;
  #position: Offset | null;
  #decidedAheadTo: Offset | null;

  private constructor(copy: AccountsForWorker, partition: number, knownTo: Offset, decodedLoans: DecodedLoans) {
    this.#copy = copy;
    this.#partition = partition;
    this.#knownTo = knownTo;
    this.#decoded = decodedLoans.openPartition();
    this.#position = copy.checkpointPosition(partition);
    this.#decidedAheadTo = copy.decidedAheadTo(partition);
  }

  /**
   * Opens the state of a partition, once the local copy has all of it. The caller must already have the writer of the
   * partition: an end taken before the previous owner was fenced could miss its last commit.
   * @param decodedLoans Of the process.
   * @throws LOG_CLOSED when `signal` aborts meanwhile, LOG_UNAVAILABLE while the copy is rebuilt, and the errors of the
   *   log
   */
  static async open(
    copy: AccountsForWorker,
    partition: number,
    signal: AbortSignal,
    decodedLoans: DecodedLoans = new DecodedLoans(),
  ): Promise<LoanStore> {
    return new LoanStore(copy, partition, await copy.catchUpPartition(partition, signal), decodedLoans);
  }

  /** The offset of the last command done; null when none was done yet. */
  get position(): Offset | null {
    return this.#position;
  }

  /** Up to where commands after the end of a day that is under way are done; null when none is. */
  get decidedAheadTo(): Offset | null {
    return this.#decidedAheadTo;
  }

  /** The committed state of a loan; null when there is no loan with that id. */
  loanOf(loanAccountId: string): Loan | null {
    const decoded = this.#decoded.get(loanAccountId);
    if (decoded !== undefined) return decoded;
    const text = this.#copy.accountText(loanAccountId);
    if (text === undefined) return null;
    const loan = this.#copy.loanOf(text);
    this.#decoded.set(loanAccountId, loan, text.length);
    return loan;
  }

  /** The ids of loans of the partition to which something happens by this date by the passing of time alone. */
  loansDueBy(date: LocalDate, limit: number): readonly string[] {
    return this.#copy.loansDueBy(this.#partition, date, limit);
  }

  /**
   * The ids of active loans of the partition with rows due on days, page by page.
   * @param after Where the page before ended; undefined for the first page.
   */
  loansWithRowsDue(days: DueDays, after: DueCursor | undefined, limit: number): readonly DueCursor[] {
    return this.#copy.loansWithRowsDue(this.#partition, days, after, limit);
  }

  /** The last day on which a row of any loan is due; null when there is none. */
  lastDueDate(): LocalDate | null {
    return this.#copy.lastDueDate();
  }

  /** Whether the partition has the record of a product that accounts refer to. */
  hasAccountProduct(reference: string): boolean {
    return this.#copy.hasAccountProduct(this.#partition, reference);
  }

  /** Whether a loan of any partition was opened under the product with this encodedKey, as far as the copy knows. */
  hasLoansOf(productKey: string): boolean {
    return this.#copy.hasLoansOf(productKey);
  }

  /** Whether a transaction of any partition has this externalId and was not adjusted, as far as the copy knows. */
  hasExternalId(externalId: string): boolean {
    return this.#copy.hasExternalId(externalId);
  }

  /** A transaction of a loan, by its encodedKey or id. */
  transactionOf(loanAccountId: string, keyOrId: string): LoanTransaction | undefined {
    const text = this.#copy.transactionText(loanAccountId, keyOrId);
    return text === undefined ? undefined : decodeTransaction(text);
  }

  /** The result of a command that posted no transaction; undefined when it is not remembered. */
  idempotencyRecord(commandId: string): IdempotencyRecord | undefined {
    const text = this.#copy.commandText(this.#partition, commandId);
    return text === undefined ? undefined : parseIdempotencyRecord(text);
  }

  /**
   * The oldest commands that are still remembered and were decided up to that time (milliseconds since the epoch), at
   * most as many as one commit may forget.
   */
  commandsDecidedUpTo(time: number): readonly string[] {
    return this.#copy.commandsDecidedUpTo(this.#partition, time, expiredPerCommitMaximum);
  }

  /**
   * Commits changes and makes them the state of the partition. Before the next command is decided, call
   * {@link waitForCopy}.
   * @param write Commits them to the log and says where it ends.
   * @throws the errors of `write`
   */
  async commit(state: CommittedState, write: () => Promise<readonly CommittedPartition[]>): Promise<void> {
    const release = this.#copy.holdBack(this.#partition);
    try {
      this.#apply(state, await write());
    } finally {
      release();
    }
  }

  /**
   * Waits for the copy if it could not take the last commit.
   * @throws as {@link AccountsForWorker.catchUpPartition}
   */
  async waitForCopy(signal: AbortSignal): Promise<void> {
    if (this.#isCopied) return;
    this.#knownTo = await this.#copy.catchUpPartition(this.#partition, signal);
    this.#isCopied = true;
  }

  #apply({ checkpoint, loans, records }: CommittedState, committed: readonly CommittedPartition[]): void {
    this.#position = checkpoint.position;
    this.#decidedAheadTo = checkpoint.decidedAheadTo ?? null;
    for (const [loanAccountId, changed] of loans) {
      if (changed === null) this.#decoded.delete(loanAccountId);
      else this.#decoded.set(loanAccountId, changed.loan, changed.textLength);
    }
    const partition = this.#partition;
    const end = committed.find((each) => each.topic === accountsTopic && each.partition === partition);
    this.#isCopied = end !== undefined && this.#copyCommit({ checkpoint, records }, end.nextOffset);
    if (this.#isCopied && end !== undefined) this.#knownTo = end.nextOffset;
  }

  /** What the copy cannot take now, it takes from the log. */
  #copyCommit(changes: Pick<OwnCommit, 'checkpoint' | 'records'>, nextOffset: Offset): boolean {
    try {
      return this.#copy.applyOwnCommit({ ...changes, partition: this.#partition, from: this.#knownTo, nextOffset });
    } catch (error) {
      if (isLendstreamError(error) && error.retriable) return false;
      throw error;
    }
  }
}
