/**
 * Accounts and transactions as the changelog has them, each as one line of JSON.
 * In: a loan or a transaction. Out: its text, and from that text the same loan or transaction.
 * Start with `encodeLoan` below; `stored-transaction.ts` writes transactions, `stored-position.ts` the rows of both.
 */

import { nextBusinessDate } from '../business-days/next-business-date.ts';
import type { Loan, LoanPosition } from '../loan.ts';
import type { LocalDate } from '../terms.ts';
import type { Installment } from '../installments.ts';
import { reviveMarked, writeMarked } from './decimal-json.ts';
import { parseStored, requireFormat, storedFormat } from './stored-format.ts';
import { type StoredCharge, type StoredRows, readCharges, readRows } from './stored-position.ts';
import type { AccountProduct } from './stored-product.ts';
import { readTerms, writeTerms } from './stored-terms.ts';

/** The fields that lists of loans show and sort by. */
export type LoanSummary = Pick<
  Loan,
  'id' | 'encodedKey' | 'loanName' | 'accountHolderKey' | 'loanAmount' | 'createdAt' | 'modifiedAt' | 'transactionCount'
> &
  Pick<LoanPosition, 'accountState' | 'approvedAt' | 'closedAt'> & {
    readonly productKey: string;
    /** When time alone will change the account next, see `next-business-date.ts`. */
    readonly nextBusinessDate: LocalDate | null;
    readonly productName: string;
  };

/** What follows the summary. It cannot occur within the summary: in a text, quotes are escaped. */
const accountMark = ',"account":';

/** Fields of a position that are written only when they are not null. */
type NullableField = 'rescheduledTo' | 'arrearsLock';

/** An account as parsed; decimals are still marked texts. */
interface StoredLoan {
  readonly format: number;
  readonly summary: LoanSummary;
  readonly account: Omit<Loan, keyof LoanSummary | 'product' | 'terms' | 'position'>;
  /** The name of its product in the changelog. */
  readonly product: string;
  readonly terms: object;
  /** Without `rescheduledTo` and `arrearsLock` while they are null. */
  readonly position: Omit<LoanPosition, keyof LoanSummary | 'installments' | 'charges' | NullableField> &
    Partial<Pick<LoanPosition, NullableField>>;
  readonly pages: readonly {
    readonly format: number;
    readonly installments?: StoredRows;
    readonly charges?: readonly StoredCharge[];
  }[];
}

/** The product of an account, with the name under which the changelog has it. */
export interface NamedProduct extends AccountProduct {
  readonly reference: string;
}

/**
 * An account as one line of JSON in which each decimal keeps every digit:
 *
 * ```
 * {"format":4,"summary":{...},"account":{...},"product":"...","terms":{...},"position":{...}}
 * ```
 *
 * The summary comes first, so that it can be read alone. The product is a record of its own, and the terms are the
 * difference from those it gives. Its installments and unpaid fees are in pages, see `stored-pages.ts`.
 * @param named The product of the account.
 */
export function encodeLoan(loan: Loan, named: NamedProduct): string {
  const { terms, position } = loan;
  const { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt, transactionCount } = loan;
  const { accountHolderType, penaltyRate, expectedDisbursementDate, firstRepaymentDate, notes, additionalFields } =
    loan;
  const { arrearsTolerancePeriod, businessDate, disbursementFees } = loan;
  const { adjustableTransactionKey, eventSequence, scheduleVersion, publishedUnder, originalAccount, futurePayments } =
    loan;
  const { accountState, approvedAt, closedAt, installments: _rows, charges: _charges, ...otherPosition } = position;
  const { encodedKey: productKey, name: productName } = named.product;
  const identity = { id, encodedKey, productKey, productName, loanName, accountHolderKey, loanAmount };
  const summary: LoanSummary = {
    ...identity,
    createdAt,
    modifiedAt,
    transactionCount,
    accountState,
    approvedAt,
    closedAt,
    nextBusinessDate: nextBusinessDate(loan),
  };
  const account: StoredLoan['account'] = {
    accountHolderType,
    penaltyRate,
    expectedDisbursementDate,
    firstRepaymentDate,
    notes,
    additionalFields,
    ...(disbursementFees === undefined ? {} : { disbursementFees }),
    arrearsTolerancePeriod,
    businessDate,
    adjustableTransactionKey,
    eventSequence,
    scheduleVersion,
    publishedUnder,
    ...(originalAccount === undefined ? {} : { originalAccount }),
    ...(futurePayments === undefined ? {} : { futurePayments }),
  };
  const fields = `${accountMark}${writeMarked(account)},"product":"${named.reference}"`;
  const { rescheduledTo, arrearsLock, ...always } = otherPosition;
  const written: StoredLoan['position'] = {
    ...always,
    ...(rescheduledTo === null ? {} : { rescheduledTo }),
    ...(arrearsLock === null ? {} : { arrearsLock }),
  };
  const changing = `"terms":${writeTerms(terms, named.terms)},"position":${writeMarked(written)}`;
  return `{"format":${storedFormat},"summary":${writeMarked(summary)}${fields},${changing}}`;
}

/**
 * Reads what {@link encodeLoan} wrote, to which the pages of the account were added as the field `pages`.
 * @param productOf Finds the product with a reference, or throws.
 * @throws Error for any other text: the changelog is broken and no command may be decided on it.
 */
export function decodeLoan(text: string, productOf: (reference: string) => AccountProduct): Loan {
  const stored = parseStored<StoredLoan>(text, 'summary');
  if (typeof stored.account !== 'object' || typeof stored.product !== 'string' || !Array.isArray(stored.pages)) {
    throw new Error('it has no account, no product or no pages');
  }
  for (const page of stored.pages) requireFormat(page);
  const summary = reviveMarked(stored.summary) as LoanSummary;
  const {
    accountState,
    approvedAt,
    closedAt,
    productKey: _key,
    productName: _name,
    nextBusinessDate: _next,
    ...identity
  } = summary;
  const { product, terms } = productOf(stored.product);
  const installments: Installment[] = [];
  for (const { installments: rows = [] } of stored.pages) installments.push(...readRows(rows, installments.length));
  return {
    ...identity,
    product,
    terms: readTerms(stored.terms, terms),
    ...(reviveMarked(stored.account) as typeof stored.account),
    position: {
      accountState,
      approvedAt,
      closedAt,
      rescheduledTo: null,
      arrearsLock: null,
      ...(reviveMarked(stored.position) as typeof stored.position),
      installments,
      charges: stored.pages.flatMap(({ charges = [] }) => readCharges(charges)),
    },
  };
}

/** Reads the summary alone. @throws as {@link decodeLoan} */
export function decodeSummary(text: string): LoanSummary {
  const end = text.indexOf(accountMark);
  const { summary } = parseStored<Pick<StoredLoan, 'format' | 'summary'>>(
    end === -1 ? text : `${text.slice(0, end)}}`,
    'summary',
  );
  return reviveMarked(summary) as LoanSummary;
}
