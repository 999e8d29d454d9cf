import { decodeSummary } from '../lending/codec/stored-loan.ts';
import { toInstant, transactionId } from '../lending/loan.ts';
import type { Decimal } from '../lending/money.ts';

/**
 * A loan in the tables of the view: the fields that lists filter and sort by, and the loan itself as stored in the
 * changelog.
 */
export interface LoanRow {
  readonly loanId: string;
  readonly encodedKey: string;
  readonly loanName: string | null;
  readonly accountHolderKey: string | null;
  readonly productTypeKey: string;
  readonly accountState: string;
  /** See {@link sortableAmount}. */
  readonly loanAmount: string;
  readonly creationDate: string;
  readonly approvedDate: string | null;
  readonly closedDate: string | null;
  readonly lastModifiedDate: string;
  readonly transactions: readonly { readonly key: string; readonly id: string }[];
  readonly state: string;
}

/**
 * The row of a loan, from its text in the changelog.
 * @throws Error when the text is no stored loan
 */
export function loanRow(state: string): LoanRow {
  const loan = decodeSummary(state);
  const { approvedAt, closedAt } = loan;
  return {
    loanId: loan.id,
    encodedKey: loan.encodedKey,
    loanName: loan.loanName,
    accountHolderKey: loan.accountHolderKey,
    productTypeKey: loan.productKey,
    accountState: loan.accountState,
    loanAmount: sortableAmount(loan.loanAmount),
    creationDate: toInstant(loan.createdAt),
    approvedDate: approvedAt === null ? null : toInstant(approvedAt),
    closedDate: closedAt === null ? null : toInstant(closedAt),
    lastModifiedDate: toInstant(loan.modifiedAt),
    transactions: loan.transactionKeys.map((key, index) => ({ key, id: transactionId(loan.id, index + 1) })),
    state,
  };
}

/**
 * Digits before and after the point of a sortable amount. Both are enough for any amount, which has at most fifteen
 * digits.
 */
const integerDigits = 20;
const fractionDigits = 10;

/** A text of fixed width that sorts like the amounts. The amount must not be negative. */
export function sortableAmount(amount: Decimal): string {
  return amount.toFixed(fractionDigits).padStart(integerDigits + 1 + fractionDigits, '0');
}
