/**
 * Accounts and transactions as the changelog has them, each as one line of JSON.
 * In: a loan or a transaction. Out: its text, and from that text the same loan or transaction.
 * Start with `encodeLoan` below; `stored-transaction.ts` writes transactions, `stored-position.ts` the rows of both.
 */

import type { Loan, LoanPosition } from '../loan.ts';
import { reviveMarked, writeMarked } from './marked-json.ts';
import {
  type StoredCharge,
  type StoredRows,
  readCharges,
  readRows,
  writeCharges,
  writePositionFields,
  writeRows,
} from './stored-position.ts';

/**
 * The number of the format of accounts and transactions. A text of another one is refused: a process must not decide on
 * what it may misread.
 */
export const storedFormat = 2;

/** An account as parsed; the decimals of its fields are still marked texts. */
interface StoredLoan {
  readonly format: number;
  readonly account: Omit<Loan, 'position'>;
  readonly position: Omit<LoanPosition, 'installments' | 'charges'>;
  readonly installments: StoredRows;
  readonly charges: readonly StoredCharge[];
}

/**
 * An account as one line of JSON in which each decimal keeps every digit:
 *
 * ```
 * {"format":2,"account":{...},"position":{...},"installments":[...],"charges":[...]}
 * ```
 */
export function encodeLoan({ position, ...account }: Loan): string {
  const fields = `"account":${writeMarked(account)},"position":${writePositionFields(position)}`;
  const lists = `"installments":${writeRows(position.installments)},"charges":${writeCharges(position.charges)}`;
  return `{"format":${storedFormat},${fields},${lists}}`;
}

/**
 * Reads what {@link encodeLoan} wrote.
 * @throws Error for any other text: the changelog is broken and no command may be decided on it.
 */
export function decodeLoan(text: string): Loan {
  const { account, position, installments, charges } = parseStored<StoredLoan>(text, 'account');
  return {
    ...(reviveMarked(account) as typeof account),
    position: {
      ...(reviveMarked(position) as typeof position),
      installments: readRows(installments),
      charges: readCharges(charges),
    },
  };
}

/** The fields that lists of loans show and sort by. */
export type LoanSummary = Pick<
  Loan,
  'id' | 'encodedKey' | 'loanName' | 'accountHolderKey' | 'loanAmount' | 'createdAt' | 'modifiedAt' | 'transactionCount'
> &
  Pick<LoanPosition, 'accountState' | 'approvedAt' | 'closedAt'> & { readonly productKey: string };

/** Reads a few fields and builds decimals only for those. @throws as {@link decodeLoan} */
export function decodeSummary(text: string): LoanSummary {
  const { account, position } = parseStored<StoredLoan>(text, 'account');
  const { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt, product } = account;
  const { accountState, approvedAt, closedAt } = position;
  return reviveMarked({
    id,
    encodedKey,
    loanName,
    accountHolderKey,
    loanAmount,
    createdAt,
    modifiedAt,
    transactionCount: account.transactionCount,
    accountState,
    approvedAt,
    closedAt,
    productKey: product.encodedKey,
  }) as LoanSummary;
}

/**
 * Parses a stored text of the present format.
 * @param field A field that must be an object.
 * @throws Error when the text is of another format, or not stored by this program
 */
export function parseStored<Stored extends { readonly format: number }>(text: string, field: keyof Stored & string) {
  const stored = JSON.parse(text) as Partial<Stored>;
  if (stored.format !== storedFormat)
    throw new Error(`it is of format ${String(stored.format)}, and this version reads format ${storedFormat}`);
  if (typeof stored[field] !== 'object' || stored[field] === null) throw new Error(`it has no ${field}`);
  return stored as Stored;
}
