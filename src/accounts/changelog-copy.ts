import type { Offset } from '../ports/event-log.ts';

/**
 * The local copy of the changelog, as far as the worker reads it. It follows the log, so it may lack the last commits.
 * Each method throws LOG_UNAVAILABLE while the copy is being rebuilt.
 */
export interface ChangelogCopy {
  /** The text of an account. */
  accountText(loanAccountId: string): string | undefined;
  /** The text of the transaction of an account with this encodedKey or id. */
  transactionText(loanAccountId: string, keyOrId: string): string | undefined;
  /** The text of the record of a command of a partition that posted no transaction. */
  commandText(partition: number, commandId: string): string | undefined;
  /** The ids of the oldest commands of a partition that were decided up to a time (milliseconds since the epoch). */
  commandsDecidedUpTo(partition: number, time: number, limit: number): readonly string[];
  /** The offset of the last command done in the newest checkpoint record of the partition; null before the first. */
  checkpointPosition(partition: number): Offset | null;
  /**
   * Returns when the copy has the partition of the changelog up to its present end.
   * @throws LOG_CLOSED when `signal` aborts or the copy is closed, and the errors of the log
   */
  catchUpPartition(partition: number, signal: AbortSignal): Promise<void>;
}
