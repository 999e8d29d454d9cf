import { recordBytesMaximum } from '../ports/event-log.ts';
import { type EncodedLoan, encodeLoan, encodeLoanAfter, encodeTransaction } from '../lending/codec/loan-codec.ts';
import type { Loan, LoanTransaction } from '../lending/loan.ts';

/**
 * A loan as the commands of one commit leave it. Only its last state is stored, so it is written once, when all of them
 * are decided. Until then it is known how large its record can be at most: a loan that could be too large for the log
 * is written at once to see, so that the command that made it so is told from the others.
 */
export interface LoanDraft {
  readonly loan: Loan;
  /** The last state that was written; what the record does not share with it is new. */
  readonly earlier: EncodedLoan;
  /** The texts of the transactions that `earlier` does not have, or has otherwise. */
  readonly added: ReadonlyMap<LoanTransaction, string>;
  /** An upper bound of the record's value, and close to it: what changed is counted at its largest. */
  readonly bytesAtMost: number;
}

/** The most that a stored installment or fee charge may take, all its numbers and names at their longest. Bytes. */
const installmentBytesMaximum = 2_048;
const chargeBytesMaximum = 4_096;
/** What stands around a transaction: its key once more, and commas. Bytes. */
const transactionExtraBytes = 128;
/** The account's and the position's own fields: counters, states, dates, a few amounts. Bytes. */
const otherBytesMaximum = 4_096;

/**
 * The draft of a loan that a command has just opened or changed.
 * @param before What the commit had of the loan so far, or what was committed; null for a new loan.
 * @throws Error when the record would not fit the log
 */
export function draftOf(loan: Loan, before: LoanDraft | EncodedLoan | null): LoanDraft {
  if (before === null) return writtenDraft(loan, Buffer.from(encodeLoan(loan)));
  const earlier = 'earlier' in before ? before.earlier : before;
  const added = withAdded('added' in before ? before.added : new Map<LoanTransaction, string>(), earlier.loan, loan);
  const bytesAtMost = earlier.text.length + growthAtMost(earlier.loan, loan, added);
  if (Buffer.byteLength(loan.id) + bytesAtMost > recordBytesMaximum) {
    return writtenDraft(loan, encodeLoanAfter(earlier, loan, added));
  }
  return { loan, earlier, added, bytesAtMost };
}

/** The loan and its record's value. */
export function finishDraft({ loan, earlier, added }: LoanDraft): EncodedLoan {
  return loan === earlier.loan ? earlier : { loan, text: encodeLoanAfter(earlier, loan, added) };
}

/** The log would refuse the whole commit, again and again; better that one command goes to the dead letters. */
export function assertFits(key: string, valueBytes: number, subject: string): void {
  if (Buffer.byteLength(key) + valueBytes <= recordBytesMaximum) return;
  throw new Error(`${subject} would have ${valueBytes} bytes, more than the log takes (${recordBytesMaximum})`);
}

function writtenDraft(loan: Loan, text: Buffer): LoanDraft {
  assertFits(loan.id, text.length, 'The loan');
  return { loan, earlier: { loan, text }, added: new Map(), bytesAtMost: text.length };
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

/** How many items are not the ones that an earlier list has in their places. */
function countOthers(earlier: readonly unknown[], items: readonly unknown[]): number {
  let count = 0;
  for (let index = 0; index < items.length; index += 1) if (earlier[index] !== items[index]) count += 1;
  return count;
}

/** Rows and charges are told by identity: what a command does not touch is the same object. */
function growthAtMost(earlier: Loan, loan: Loan, added: ReadonlyMap<LoanTransaction, string>): number {
  const { installments, charges } = loan.position;
  let bytes = otherBytesMaximum;
  bytes += countOthers(earlier.position.installments, installments) * installmentBytesMaximum;
  bytes += countOthers(earlier.position.charges, charges) * chargeBytesMaximum;
  for (const text of added.values()) bytes += Buffer.byteLength(text) + transactionExtraBytes;
  return bytes;
}
