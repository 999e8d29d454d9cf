import type { AdjustTransaction, LoanCommand } from '../commands.ts';
import { dayOfCommand } from '../instants.ts';
import { type Loan, type LoanTransaction, type PostedTransactions, isActive } from '../loan.ts';
import { type Refusal, refusal } from '../refusals.ts';
import type { LocalDate } from '../terms.ts';
import { isDatedEntry, isRepostable } from './reposting.ts';

/**
 * The most transactions that one entry takes back and posts again. Each costs two transactions and their events, all in
 * one commit.
 */
export const repostedTransactionsMaximum = 100;

/**
 * The transactions that a command takes back before it is decided and posts again after it, the last one first. There
 * are some when its value date is before theirs, and when it adjusts a transaction that the system's own followed. What
 * is read is what is taken back, never the history.
 *
 * Refused when one of them cannot be posted again, or when there are more than {@link repostedTransactionsMaximum}:
 * ENTRY_DATE_BEFORE_OTHER_TRANSACTION for an entry, NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE for an
 * adjustment.
 */
export function laterTransactions(
  loan: Loan,
  command: LoanCommand,
  posted: PostedTransactions,
): readonly LoanTransaction[] | Refusal {
  if (command.type === 'ADJUST_TRANSACTION') return afterAdjusted(loan, command, posted);
  const [disbursement] = loan.position.disbursements;
  if (!isDatedEntry(command) || !isActive(loan.position) || disbursement === undefined) return [];
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < disbursement.date) return [];
  const errorSource = command.type === 'APPLY_INTEREST' ? 'interestApplicationDate' : 'valueDate';
  return datedAfter(loan, valueDate, posted) ?? refusal('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', errorSource);
}

/** Everything down to the point from which on nothing is dated later; null when not all of it can be taken back. */
function datedAfter(loan: Loan, valueDate: LocalDate, posted: PostedTransactions): readonly LoanTransaction[] | null {
  const later: LoanTransaction[] = [];
  let { lastValueDate } = loan.position;
  let key = loan.adjustableTransactionKey;
  while (lastValueDate !== null && lastValueDate > valueDate) {
    const transaction = key === null ? undefined : posted.find(key);
    if (transaction === undefined || !isRepostable(transaction) || later.length === repostedTransactionsMaximum) {
      return null;
    }
    later.push(transaction);
    const fields = transaction.undo?.fields;
    if (fields?.lastValueDate !== undefined) lastValueDate = fields.lastValueDate;
    key = transaction.previousAdjustableKey;
  }
  return later;
}

/** Only transactions that no person posted. A person's are adjusted by a person, the last one first. */
function afterAdjusted(
  loan: Loan,
  { transactionId }: AdjustTransaction,
  posted: PostedTransactions,
): readonly LoanTransaction[] | Refusal {
  const original = posted.find(transactionId);
  // Neither an unknown transaction nor one without an undo can be adjusted: the decision says why.
  if (original === undefined || original.undo === null) return [];
  const later: LoanTransaction[] = [];
  let key = loan.adjustableTransactionKey;
  while (key !== original.encodedKey) {
    const transaction = key === null ? undefined : posted.find(key);
    if (
      transaction === undefined ||
      !transaction.isSystemPosted ||
      !isRepostable(transaction) ||
      later.length === repostedTransactionsMaximum
    ) {
      return refusal('NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE', 'transactionId');
    }
    later.push(transaction);
    key = transaction.previousAdjustableKey;
  }
  return later;
}
