import { recordBytesMaximum } from '../ports/event-log.ts';
import { type EncodedLoan, encodeLoan, encodeLoanAfter, encodeTransaction } from '../lending/codec/stored-loan.ts';
import type { Loan, LoanTransaction } from '../lending/loan.ts';

/**
 * The state of a loan after the commands of one commit. Only the last state is stored, so it is encoded once, when all
 * commands are decided. Until then only an upper bound of the record size is known. A loan that may be too large for
 * the log is encoded at once, to identify the command that made it too large.
 */
export interface LoanDraft {
  readonly loan: Loan;
  /** The last state that was encoded. The record copies from it the parts that have not changed. */
  readonly earlier: EncodedLoan;
  /** The texts of the transactions that `earlier` does not have, or has in another version. */
  readonly added: ReadonlyMap<LoanTransaction, string>;
  /** A close upper bound of the size of the record value: each change counts at its largest. Bytes. */
  readonly bytesUpperBound: number;
}

/** The largest size of a stored installment or fee charge, with all its numbers and names at their longest. Bytes. */
const installmentBytesMaximum = 2_048;
const chargeBytesMaximum = 4_096;
/** The bytes around a transaction: its key once more, and commas. */
const transactionExtraBytes = 128;
/**
 * The largest size of the other fields of the account and the position: counters, states, dates, a few amounts. Bytes.
 */
const otherBytesMaximum = 4_096;

/**
 * The draft of a loan that a command has just opened or changed.
 * @param before The draft of the loan in this commit so far, or its committed state; null for a new loan.
 * @throws Error when the record would not fit the log
 */
export function draftOf(loan: Loan, before: LoanDraft | EncodedLoan | null): LoanDraft {
  if (before === null) return encodedDraft(loan, Buffer.from(encodeLoan(loan)));
  const earlier = 'earlier' in before ? before.earlier : before;
  const added = withAdded('added' in before ? before.added : new Map<LoanTransaction, string>(), earlier.loan, loan);
  const bytesUpperBound = earlier.text.length + growthUpperBound(earlier.loan, loan, added);
  if (Buffer.byteLength(loan.id) + bytesUpperBound > recordBytesMaximum) {
    return encodedDraft(loan, encodeLoanAfter(earlier, loan, added));
  }
  return { loan, earlier, added, bytesUpperBound };
}

/** The loan and the value of its record. */
export function finishDraft({ loan, earlier, added }: LoanDraft): EncodedLoan {
  return loan === earlier.loan ? earlier : { loan, text: encodeLoanAfter(earlier, loan, added) };
}

/**
 * Checks the size of a record. The log would refuse the whole commit again and again. It is better that one command
 * goes to the dead letters.
 * @throws Error when key and value together are larger than a record may be
 */
export function assertFits(key: string, valueBytes: number, subject: string): void {
  if (Buffer.byteLength(key) + valueBytes <= recordBytesMaximum) return;
  throw new Error(`${subject} would have ${valueBytes} bytes, more than the log accepts (${recordBytesMaximum})`);
}

function encodedDraft(loan: Loan, text: Buffer): LoanDraft {
  assertFits(loan.id, text.length, 'The loan');
  return { loan, earlier: { loan, text }, added: new Map(), bytesUpperBound: text.length };
}

function withAdded(
  known: ReadonlyMap<LoanTransaction, string>,
  earlier: Loan,
  loan: Loan,
): ReadonlyMap<LoanTransaction, string> {
  const added = loan.transactions.filter(
    (transaction, index) => earlier.transactions[index] !== transaction && !known.has(transaction),
  );
  if (added.length === 0) return known;
  return new Map([...known, ...added.map((transaction) => [transaction, encodeTransaction(transaction)] as const)]);
}

/** How many items differ from the item of an earlier list at the same index. */
function countDifferent(earlier: readonly unknown[], items: readonly unknown[]): number {
  let count = 0;
  for (let index = 0; index < items.length; index += 1) if (earlier[index] !== items[index]) count += 1;
  return count;
}

/**
 * An upper bound of the growth of the record. Bytes. Installments and charges are compared by identity: one that a
 * command did not touch is the same object.
 */
function growthUpperBound(earlier: Loan, loan: Loan, added: ReadonlyMap<LoanTransaction, string>): number {
  const { installments, charges } = loan.position;
  let bytes = otherBytesMaximum;
  bytes += countDifferent(earlier.position.installments, installments) * installmentBytesMaximum;
  bytes += countDifferent(earlier.position.charges, charges) * chargeBytesMaximum;
  for (const text of added.values()) bytes += Buffer.byteLength(text) + transactionExtraBytes;
  return bytes;
}
