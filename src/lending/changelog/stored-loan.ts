/**
 * Accounts and transactions as the changelog has them, each as one line of JSON.
 * In: a loan or a transaction. Out: its text, and from that text the same loan or transaction.
 * Start with `encodeLoan` below; `stored-transaction.ts` writes transactions, `stored-position.ts` the rows of both.
 */

import type { Loan, LoanPosition } from '../loan.ts';
import { reviveMarked, writeMarked } from './decimal-json.ts';
import {
  type StoredCharge,
  type StoredRows,
  readCharges,
  readRows,
  writeCharges,
  writeRows,
} from './stored-position.ts';

/**
 * The number of the format of accounts and transactions. A text of another one is refused: a process must not decide on
 * what it may misread.
 */
export const storedFormat = 3;

/** The fields that lists of loans show and sort by. */
export type LoanSummary = Pick<
  Loan,
  'id' | 'encodedKey' | 'loanName' | 'accountHolderKey' | 'loanAmount' | 'createdAt' | 'modifiedAt' | 'transactionCount'
> &
  Pick<LoanPosition, 'accountState' | 'approvedAt' | 'closedAt'> & { readonly productKey: string };

/** What precedes the parts of an account. No mark can occur within a part: in a text, quotes are escaped. */
const productMark = ',"product":';
const termsMark = ',"terms":';
const accountMark = ',"account":';

/** The parts of an account as parsed, without its product and terms; decimals are still marked texts. */
interface StoredLoan {
  readonly format: number;
  readonly summary: LoanSummary;
  readonly account: Omit<Loan, keyof LoanSummary | 'product' | 'terms' | 'position'>;
  readonly position: Omit<LoanPosition, keyof LoanSummary | 'installments' | 'charges'>;
  readonly installments: StoredRows;
  readonly charges: readonly StoredCharge[];
}

/**
 * An account as one line of JSON in which each decimal keeps every digit:
 *
 * ```
 * {"format":3,"summary":{...},"product":{...},"terms":{...},"account":{...},"position":{...},
 *  "installments":[...],"charges":[...]}
 * ```
 *
 * The summary comes first, so that it can be read alone. Product and terms are the same in many accounts, and are read
 * and written as whole texts.
 */
export function encodeLoan({ product, terms, position, ...loan }: Loan): string {
  const { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt, transactionCount } = loan;
  const { accountHolderType, penaltyRate, expectedDisbursementDate, firstRepaymentDate, notes } = loan;
  const { adjustableTransactionKey, eventSequence, scheduleVersion, publishedUnder } = loan;
  const { accountState, approvedAt, closedAt, installments, charges, ...otherPosition } = position;
  const identity = { id, encodedKey, productKey: product.encodedKey, loanName, accountHolderKey, loanAmount };
  const summary: LoanSummary = {
    ...identity,
    createdAt,
    modifiedAt,
    transactionCount,
    accountState,
    approvedAt,
    closedAt,
  };
  const account: StoredLoan['account'] = {
    accountHolderType,
    penaltyRate,
    expectedDisbursementDate,
    firstRepaymentDate,
    notes,
    adjustableTransactionKey,
    eventSequence,
    scheduleVersion,
    publishedUnder,
  };
  const shared = `${productMark}${writtenOnce(product)}${termsMark}${writtenOnce(terms)}`;
  const fields = `${accountMark}${writeMarked(account)},"position":${writeMarked(otherPosition)}`;
  const lists = `"installments":${writeRows(installments)},"charges":${writeCharges(charges)}`;
  return `{"format":${storedFormat},"summary":${writeMarked(summary)}${shared}${fields},${lists}}`;
}

/**
 * Reads what {@link encodeLoan} wrote.
 * @throws Error for any other text: the changelog is broken and no command may be decided on it.
 */
export function decodeLoan(text: string): Loan {
  const productStart = text.indexOf(productMark);
  const termsStart = text.indexOf(termsMark, productStart);
  const accountStart = text.indexOf(accountMark, termsStart);
  if (productStart === -1 || termsStart === -1 || accountStart === -1) {
    parseStored<StoredLoan>(text, 'summary');
    throw new Error('it has no product, no terms or no account');
  }
  const parts = parseStored<StoredLoan>(text.slice(0, productStart) + text.slice(accountStart), 'account');
  const summary = reviveMarked(parts.summary) as LoanSummary;
  const { accountState, approvedAt, closedAt, productKey: _productKey, ...identity } = summary;
  return {
    ...identity,
    product: readOnce(text.slice(productStart + productMark.length, termsStart)),
    terms: readOnce(text.slice(termsStart + termsMark.length, accountStart)),
    ...(reviveMarked(parts.account) as typeof parts.account),
    position: {
      accountState,
      approvedAt,
      closedAt,
      ...(reviveMarked(parts.position) as typeof parts.position),
      installments: readRows(parts.installments),
      charges: readCharges(parts.charges),
    },
  };
}

/** Reads the summary alone. @throws as {@link decodeLoan} */
export function decodeSummary(text: string): LoanSummary {
  const end = text.indexOf(productMark);
  const { summary } = parseStored<Pick<StoredLoan, 'format' | 'summary'>>(
    end === -1 ? text : `${text.slice(0, end)}}`,
    'summary',
  );
  return reviveMarked(summary) as LoanSummary;
}

/** How many products and terms are kept, so that the accounts that have them share one object. */
const sharedMaximum = 1_000;

const sharedByText = new Map<string, object>();
const writtenTexts = new WeakMap<object, string>();

/** The value of a text, read once for all accounts that have the same. */
function readOnce<Value extends object>(text: string): Value {
  const known = sharedByText.get(text);
  if (known !== undefined) return known as Value;
  const value = reviveMarked(JSON.parse(text)) as Value;
  if (sharedByText.size >= sharedMaximum) sharedByText.clear();
  sharedByText.set(text, value);
  writtenTexts.set(value, text);
  return value;
}

function writtenOnce(value: object): string {
  const known = writtenTexts.get(value);
  if (known !== undefined) return known;
  const text = writeMarked(value);
  writtenTexts.set(value, text);
  return text;
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
