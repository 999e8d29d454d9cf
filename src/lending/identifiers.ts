import type { Loan } from './loan.ts';

/** The account and the number in the id of a transaction; undefined for a text that is no such id. */
export function parseTransactionId(id: string): { readonly loanId: string; readonly number: number } | undefined {
  const [, loanId, digits] = /^(.+)-([1-9]\d{0,14})$/su.exec(id) ?? [];
  return loanId === undefined ? undefined : { loanId, number: Number(digits) };
}

/**
 * The encodedKey of an installment: the loan's key with its last eight digits replaced by the installment's own key. A
 * previewed row, the row after disbursement and a row that an adjustment restores have the same one.
 */
export function installmentEncodedKey(loan: Loan, key: number): string {
  return loan.encodedKey.slice(0, 24) + key.toString(16).padStart(8, '0');
}

/**
 * The encodedKey of a fee that an account agrees for its disbursement: the loan's key with its last eight digits
 * replaced. They begin with an f, which no installment has: there are not as many.
 * @param index Of the fee among those of the account, from 0.
 */
export function disbursementFeeEncodedKey({ encodedKey }: Loan, index: number): string {
  return `${encodedKey.slice(0, 24)}f${index.toString(16).padStart(7, '0')}`;
}

/** The index of the row with this encodedKey, from 0; -1 when there is none. */
export function indexOfEncodedKey(loan: Loan, rows: readonly { readonly key: number }[], encodedKey: string): number {
  return rows.findIndex(({ key }) => installmentEncodedKey(loan, key) === encodedKey);
}

/** The id of the account's transaction with this number, counted from 1. */
export function transactionId(loanId: string, number: number): string {
  return `${loanId}-${number}`;
}
