import type { Loan } from '../lending/loan.ts';
import type { LocalDate } from '../lending/terms.ts';
import type { Offset } from '../ports/event-log.ts';
import type { CheckpointRecord } from '../lending-format/checkpoint.ts';

/** What the owner of a partition has committed to the changelog. */
export interface OwnCommit {
  readonly partition: number;
  /** Up to this offset the owner knows of all records. From there on, this commit is the first one. */
  readonly from: Offset;
  /** The offset after the last record of the commit. */
  readonly nextOffset: Offset;
  /** The texts of its records by their keys, null where it deleted one, without the checkpoint record. */
  readonly records: ReadonlyMap<string, string | null>;
  readonly checkpoint: CheckpointRecord;
}

/** Days on which rows are due: one, or all after it. */
export interface DueDays {
  readonly day: LocalDate;
  readonly isAllAfter: boolean;
}

/** A loan that has a page of installments between these days, and the place in the index after which to go on. */
export interface DueCursor {
  readonly lastDueDate: LocalDate;
  readonly firstDueDate: LocalDate;
  readonly loanId: string;
}

/**
 * What the worker reads of the local copy of accounts, and how it adds its commits. The copy follows the log. The owner
 * of a partition gives it each commit directly, so that nothing has to be read back.
 * Each method throws LOG_UNAVAILABLE while the copy is being rebuilt.
 */
export interface AccountsForWorker {
  /** The text of an account. */
  accountText(loanAccountId: string): string | undefined;
  /**
   * The loan of the text of an account.
   * @throws Error when the text is none, or the copy lacks the product that the account refers to
   */
  loanOf(text: string): Loan;
  /** The ids of the loans of a partition to which time alone does something by this date, the earliest first. */
  loansDueBy(partition: number, date: LocalDate, limit: number): readonly string[];
  /**
   * The active loans of a partition with rows due on days, by the pages of their installments: a loan comes as often as
   * it has such pages. What is looked at are the pages with a day between their first and their last one.
   */
  loansWithRowsDue(partition: number, days: DueDays, after: DueCursor | undefined, limit: number): readonly DueCursor[];
  /** The last day on which a row of any loan is due; null when there is none. */
  lastDueDate(): LocalDate | null;
  /** Whether a partition has the record of a product. */
  hasAccountProduct(partition: number, reference: string): boolean;
  /** Whether there is a loan of any partition under the product with this encodedKey. */
  hasLoansOf(productKey: string): boolean;
  /** Whether a transaction of any partition has this externalId and was not adjusted, as far as the copy knows. */
  hasExternalId(externalId: string): boolean;
  /** The text of the transaction of an account with this encodedKey or id. */
  transactionText(loanAccountId: string, keyOrId: string): string | undefined;
  /** The text of the record of a command of a partition that posted no transaction. */
  commandText(partition: number, commandId: string): string | undefined;
  /** The ids of the oldest commands of a partition that were decided up to a time (milliseconds since the epoch). */
  commandsDecidedUpTo(partition: number, time: number, limit: number): readonly string[];
  /** The offset of the last command done in the newest checkpoint record of the partition; null before the first. */
  checkpointPosition(partition: number): Offset | null;
  /** Up to where commands after the end of a day that is under way are done; null when none is. */
  decidedAheadTo(partition: number): Offset | null;
  /**
   * Makes the copy take nothing of a partition from the log, because its owner is about to commit and will give the
   * commit to the copy itself.
   * @returns a function that ends this. Call it as soon as the copy has the commit or the commit has failed.
   */
  holdBack(partition: number): () => void;
  /**
   * Takes a commit from the owner of the partition, unless the copy has it already.
   * @returns false when the copy lacks earlier records. It then takes nothing, and gets all of them from the log.
   */
  applyOwnCommit(commit: OwnCommit): boolean;
  /**
   * Returns when the copy has the partition of the changelog up to its present end, and that end. Records that are
   * being committed count too.
   * @throws LOG_CLOSED when `signal` aborts or the copy is closed, and the errors of the log
   */
  catchUpPartition(partition: number, signal: AbortSignal): Promise<Offset>;
}
