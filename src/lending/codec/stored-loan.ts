/**
 * The record of a loan in the log.
 * In: a loan. Out: one JSON text, and from that text the same loan.
 */

import { LineBuilder } from './line-builder.ts';
import type {
  ElementAmounts,
  FeeCharge,
  Installment,
  Loan,
  LoanPosition,
  LoanTransaction,
  Portion,
  PositionUndo,
  TaxedPortion,
} from '../loan.ts';
import { Decimal, zero } from '../money.ts';
import { jsonFieldName } from './json-field-name.ts';

/**
 * A loan as one line of JSON in which each decimal keeps every digit. Charges and transactions come last, because a
 * loan gains some and seldom changes one: the line after a command repeats those parts of the line before it. The keys
 * of the transactions are also listed before them, for callers that need only the keys.
 *
 * ```
 * {"version":1,"loan":{all but the two lists},"transactionKeys":[...],"charges":[...],"transactions":[...]}
 * ```
 */
const formatVersion = 1;

/** A text that starts with this mark is a decimal. An ordinary text that starts with it gets the mark twice. */
const decimalMark = '#';

/**
 * The beginning of the line, and the marks that precede its parts. No mark can occur elsewhere: in a text, quotes are
 * escaped.
 */
const opening = `{"version":${formatVersion},"loan":{`;
const accountMark = ',"modifiedAt":';
const positionMark = ',"position":{';
const installmentsMark = ',"installments":[';
const keysMark = ']}},"transactionKeys":[';
const chargesMark = '],"charges":[';
const transactionsMark = '],"transactions":[';
/** The end of the line, after the transactions. */
const closing = ']}';
/** The beginning of each installment except the first. */
const nextRowMark = ',{"number":';

/** A loan and the line that stores it. */
export interface EncodedLoan {
  readonly loan: Loan;
  readonly text: Buffer;
}

/** `decodeLoan(encodeLoan(loan))` equals `loan`. */
export function encodeLoan(loan: Loan): string {
  const { position, transactions } = loan;
  const installments = rowsOf(position.installments);
  const account = `${opening}${fieldsOf(loan, accountNames)}`;
  const head = `${account}${changingFields(loan)}${positionMark}${positionFields(position)}${installmentsMark}${installments}`;
  const keys = keysOf(transactions);
  return `${head}${keysMark}${keys}${chargesMark}${listOf(position.charges)}${transactionsMark}${transactionsOf(transactions)}${closing}`;
}

/**
 * The same line as {@link encodeLoan}, built from the line of an earlier state of the same loan. Parts that are still
 * the same object are copied from that line; only what was added since is written.
 * @param added The texts of the loan's last transactions, where the caller has them, by {@link encodeTransaction}.
 */
export function encodeLoanAfter(
  { loan: earlier, text }: EncodedLoan,
  loan: Loan,
  added: ReadonlyMap<LoanTransaction, string> = new Map(),
): Buffer {
  const { position, transactions } = loan;
  const accountEnd = indexOfMark(accountMark, text, 0);
  const installmentsFrom = indexOfMark(installmentsMark, text, accountEnd) + installmentsMark.length;
  const installmentsEnd = indexOfMark(keysMark, text, installmentsFrom);
  const keysFrom = installmentsEnd + keysMark.length;
  const keysEnd = indexOfMark(chargesMark, text, keysFrom);
  const chargesFrom = keysEnd + chargesMark.length;
  const chargesEnd = indexOfMark(transactionsMark, text, chargesFrom);
  const transactionsFrom = chargesEnd + transactionsMark.length;

  const line = new LineBuilder(text);
  if (accountNames.every((name) => loan[name] === earlier[name])) line.copy(0, accountEnd);
  else line.write(`${opening}${fieldsOf(loan, accountNames)}`);
  line.write(changingFields(loan));
  line.write(`${positionMark}${positionFields(position)}${installmentsMark}`);
  addInstallments(line, text, installmentsFrom, installmentsEnd, earlier.position.installments, position.installments);
  line.write(keysMark);
  addItems(line, keysFrom, keysEnd, earlier.transactions, transactions, keysOf);
  line.write(chargesMark);
  addItems(line, chargesFrom, chargesEnd, earlier.position.charges, position.charges, listOf);
  line.write(transactionsMark);
  addItems(line, transactionsFrom, text.length - closing.length, earlier.transactions, transactions, (items) =>
    items.map((item) => added.get(item) ?? encodeTransaction(item)).join(','),
  );
  line.write(closing);
  return line.toBuffer();
}

/** @throws Error when the mark is missing: this codec did not write the line. */
function indexOfMark(mark: string, text: Buffer, from: number): number {
  const index = text.indexOf(mark, from);
  if (index === -1) throw new Error(`the stored loan has no ${mark}`);
  return index;
}

/** Adds a list that only grows: copies its earlier items from the line before, then writes those added since. */
function addItems<Item>(
  line: LineBuilder,
  from: number,
  end: number,
  earlier: readonly Item[],
  items: readonly Item[],
  encode: (items: readonly Item[]) => string,
): void {
  const isLonger = earlier.length > 0 && earlier.every((item, index) => items[index] === item);
  if (!isLonger) {
    line.write(encode(items));
    return;
  }
  line.copy(from, end);
  if (items.length > earlier.length) line.write(`,${encode(items.slice(earlier.length))}`);
}

/** Adds the rows of the schedule. Rows that were not replaced are copied from the line before, neighbours in one go. */
function addInstallments(
  line: LineBuilder,
  text: Buffer,
  from: number,
  end: number,
  earlier: readonly Installment[],
  rows: readonly Installment[],
): void {
  let start = from;
  let keptFrom = -1;
  let index = 0;
  for (const row of rows) {
    const next = index < earlier.length - 1 ? indexOfMark(nextRowMark, text, start) : end;
    const isKept = earlier[index] === row;
    if (!isKept && keptFrom !== -1) {
      line.copy(keptFrom, start - 1);
      keptFrom = -1;
    }
    if (index > 0 && keptFrom === -1) line.write(',');
    if (!isKept) line.write(writeRow(row));
    else if (keptFrom === -1) keptFrom = start;
    start = next + 1;
    index += 1;
  }
  if (keptFrom !== -1) line.copy(keptFrom, start - 1);
}

/** The text of a transaction in its loan's line. */
export function encodeTransaction(transaction: LoanTransaction): string {
  const { encodedKey, bookingDate, fees, customPaymentAmounts, prepaymentRecalculationMethod, undo } = transaction;
  const { installmentNumber, originalTransactionKey, amount, valueDate, affected, taxes, type } = transaction;
  const { createdAt, externalId, notes, transactionDetails, terms, id } = transaction;
  const { principalBalanceAfter, totalBalanceAfter } = transaction;
  const posted = `"commandId":${write(transaction.commandId)},"commandDigest":${write(transaction.commandDigest)}`;
  const booked = `"bookingDate":"${bookingDate}","fees":${write(fees)}`;
  const custom = `"customPaymentAmounts":${write(customPaymentAmounts)}`;
  const method = `"prepaymentRecalculationMethod":${write(prepaymentRecalculationMethod)}`;
  const about = `"installmentNumber":${installmentNumber},"originalTransactionKey":${write(originalTransactionKey)}`;
  const amounts = `"amount":${writeDecimal(amount)},"valueDate":"${valueDate}","affected":${writeElements(affected)}`;
  const kind = `"taxes":${writeElements(taxes)},"type":"${type}","createdAt":${createdAt}`;
  const details = `"externalId":${write(externalId)},"notes":${write(notes)},"transactionDetails":${write(transactionDetails)}`;
  const words = `${details},"terms":${write(terms)},"id":${write(id)}`;
  const principal = `"principalBalanceAfter":${writeDecimal(principalBalanceAfter)}`;
  const total = `"totalBalanceAfter":${writeDecimal(totalBalanceAfter)}`;
  const adjustment = `"adjustmentTransactionKey":${write(transaction.adjustmentTransactionKey)}`;
  const begin = `{"encodedKey":${write(encodedKey)},${posted},${booked},${custom},${method},${about},${amounts},${kind},${words},${principal},${total}`;
  return `${begin},${adjustment},"undo":${undo === null ? 'null' : writeUndo(undo)}}`;
}

function writeElements({ principal, interest, fees, penalty }: ElementAmounts): string {
  // The case for the taxes of most transactions.
  if (principal === zero && interest === zero && fees === zero && penalty === zero) return writtenNoElements;
  const rest = `"fees":${writeDecimal(fees)},"penalty":${writeDecimal(penalty)}`;
  return `{"principal":${writeDecimal(principal)},"interest":${writeDecimal(interest)},${rest}}`;
}

function writeUndo({ fields, installmentCount, installments, chargeCount, charges }: PositionUndo): string {
  const rows = `"installmentCount":${installmentCount},"installments":[${rowsOf(installments)}]`;
  return `{"fields":{${positionFields(fields)}},${rows},"chargeCount":${chargeCount},"charges":${write(charges)}}`;
}

/** The fields of an account that no command changes after it is opened, in the order of the line. */
const accountNames = [
  'id',
  'encodedKey',
  'product',
  'terms',
  'loanName',
  'accountHolderKey',
  'accountHolderType',
  'loanAmount',
  'penaltyRate',
  'expectedDisbursementDate',
  'firstRepaymentDate',
  'notes',
  'createdAt',
] as const satisfies readonly (keyof Loan)[];

/** The fields that follow those of the account, up to the position. */
function changingFields({ modifiedAt, eventSequence, scheduleVersion, publishedUnder }: Loan): string {
  const counts = `"eventSequence":${eventSequence},"scheduleVersion":${scheduleVersion}`;
  return `${accountMark}${modifiedAt},${counts},"publishedUnder":${write(publishedUnder)}`;
}

/** The fields of a position except its lists, without braces. */
function positionFields(position: PositionUndo['fields']): string {
  const { accountState, accountSubState, stateBeforeClosure, approvedAt, closedAt } = position;
  const { disbursement, principalLent, asOf, periodicPayment } = position;
  const states = `"accountState":"${accountState}","accountSubState":${write(accountSubState)}`;
  const times = `"stateBeforeClosure":${write(stateBeforeClosure)},"approvedAt":${approvedAt},"closedAt":${closedAt}`;
  const lent = `"disbursement":${write(disbursement)},"principalLent":${writeDecimal(principalLent)}`;
  return `${states},${times},${lent},"asOf":${write(asOf)},"periodicPayment":${write(periodicPayment)}`;
}

function keysOf(transactions: readonly LoanTransaction[]): string {
  return transactions.map(({ encodedKey }) => write(encodedKey)).join(',');
}

function transactionsOf(transactions: readonly LoanTransaction[]): string {
  return transactions.map(encodeTransaction).join(',');
}

function rowsOf(rows: readonly Installment[]): string {
  return rows.map(writeRow).join(',');
}

/** Written field by field: every command writes some rows, and testing the type of each of 40 values is slower. */
function writeRow(row: Installment): string {
  const { number, accruesAfter, dueDate, principal, interest, fee, penalty } = row;
  const dates = `"number":${number},"accruesAfter":"${accruesAfter}","dueDate":"${dueDate}"`;
  const elements = `"principal":${writePortion(principal)},"interest":${writeTaxed(interest)},"fee":${writeTaxed(fee)}`;
  const { interestAccrued, principalOverpaid, lastPaidDate, repaidDate, lastPenaltyAppliedDate } = row;
  const amounts = `"interestAccrued":${writeDecimal(interestAccrued)},"principalOverpaid":${writeDecimal(principalOverpaid)}`;
  const since = `"lastPaidDate":${write(lastPaidDate)},"repaidDate":${write(repaidDate)}`;
  const penalized = `"lastPenaltyAppliedDate":${write(lastPenaltyAppliedDate)}`;
  return `{${dates},${elements},"penalty":${writeTaxed(penalty)},${amounts},${since},${penalized}}`;
}

function writeTaxed({ amount, tax }: TaxedPortion): string {
  // The case for the penalties, fees and taxes of most rows.
  if (amount.expected === zero && amount.paid === zero && tax.expected === zero && tax.paid === zero)
    return writtenNothing;
  return `{"amount":${writePortion(amount)},"tax":${writePortion(tax)}}`;
}

function writePortion({ expected, paid }: Portion): string {
  return `{"expected":${writeDecimal(expected)},"paid":${writeDecimal(paid)}}`;
}

function writeDecimal(value: Decimal): string {
  return value.isZero() && value.isPositive() ? writtenZero : `"${decimalMark}${value.valueOf()}"`;
}

/** Items without the brackets of their list. */
function listOf(items: readonly unknown[]): string {
  return items.map(write).join(',');
}

/** Fields without the braces of their object. */
function fieldsOf<Fields extends object>(fields: Fields, names: readonly (keyof Fields & string)[]): string {
  let text = '';
  for (const name of names) {
    const { first, next } = jsonFieldName(name);
    text += text === '' ? first : next;
    text += write(fields[name]);
  }
  return text;
}

/**
 * Reads what {@link encodeLoan} wrote.
 * @throws Error for any other text: the changelog is broken and no command may be decided on it.
 */
export function decodeLoan(text: string): Loan {
  return revive(joined(parse(text))) as Loan;
}

/**
 * Reads everything except the transactions, which are most of a long-lived loan: their list is empty. Neither the
 * figures nor the schedule need them.
 * @throws Error when the part that was read is not a stored loan.
 */
export function decodeAccount(text: string): Loan {
  return revive(joined(parseUpTo(transactionsMark, text, closing))) as Loan;
}

/** The keys of a loan's transactions, in their order. @throws as {@link decodeAccount} */
export function decodeTransactionKeys(text: string): readonly string[] {
  return parseUpTo(chargesMark, text, transactionsMark + closing).transactionKeys;
}

/** Some of a loan's transactions: from index `start` up to `end`, exclusive. @throws as {@link decodeLoan} */
export function decodeTransactions(text: string, start: number, end: number): readonly LoanTransaction[] {
  return revive(parse(text).transactions.slice(start, end)) as LoanTransaction[];
}

/** The fields that lists of loans show and sort by. */
export type LoanSummary = Pick<
  Loan,
  'id' | 'encodedKey' | 'loanName' | 'accountHolderKey' | 'loanAmount' | 'createdAt' | 'modifiedAt'
> &
  Pick<LoanPosition, 'accountState' | 'approvedAt' | 'closedAt'> & {
    readonly productKey: string;
    readonly transactionKeys: readonly string[];
  };

/** Reads a few fields and builds decimals only for those. @throws as {@link decodeAccount} */
export function decodeSummary(text: string): LoanSummary {
  const { loan, transactionKeys } = parseUpTo(chargesMark, text, transactionsMark + closing);
  const { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt, product, position } = loan;
  const { accountState, approvedAt, closedAt } = position;
  return revive({
    id,
    encodedKey,
    loanName,
    accountHolderKey,
    loanAmount,
    createdAt,
    modifiedAt,
    accountState,
    approvedAt,
    closedAt,
    productKey: product.encodedKey,
    transactionKeys,
  }) as LoanSummary;
}

/** As parsed: values typed as decimals are still marked texts, and an ordinary text may have the mark twice. */
interface StoredLoan {
  readonly loan: Omit<Loan, 'position' | 'transactions'> & { readonly position: Omit<LoanPosition, 'charges'> };
  readonly transactionKeys: string[];
  readonly charges: FeeCharge[];
  readonly transactions: LoanTransaction[];
}

function joined({ loan, charges, transactions }: StoredLoan): Loan {
  return { ...loan, position: { ...loan.position, charges }, transactions };
}

/** Parses the text as if only `end` followed the mark. */
function parseUpTo(mark: string, text: string, end: string): StoredLoan {
  const start = text.indexOf(mark);
  return parse(start === -1 ? text : text.slice(0, start + mark.length) + end);
}

function parse(text: string): StoredLoan {
  const stored = JSON.parse(text) as { version?: unknown } & Partial<StoredLoan>;
  const { version, loan, transactionKeys, charges, transactions } = stored;
  const lists = [transactionKeys, charges, transactions];
  if (version !== formatVersion || typeof loan !== 'object' || loan === null || !lists.every(Array.isArray)) {
    throw new Error(`not a stored loan of format ${formatVersion}`);
  }
  return stored as StoredLoan;
}

/** Writes JSON by hand in one pass, because every command writes its loan. */
function write(value: unknown): string {
  if (typeof value === 'string') {
    if (plainText.test(value)) return `"${value}"`;
    return JSON.stringify(value.startsWith(decimalMark) ? decimalMark + value : value);
  }
  // A record stored before the field existed does not have it.
  if (value === null || value === undefined) return 'null';
  // JSON.stringify on integers and booleans would take longer than everything else.
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isInteger(value))) return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Decimal) return writeDecimal(value);
  if (!Array.isArray(value)) return writeObject(value);
  let text = '';
  for (const item of value) text += text === '' ? write(item) : `,${write(item)}`;
  return `[${text}]`;
}

/** An object, with its fields in their own order. */
function writeObject(value: object): string {
  const fields = value as Record<string, unknown>;
  let text = '';
  for (const name in fields) {
    const field = fields[name];
    if (field === undefined) continue;
    const { first, next } = jsonFieldName(name);
    text += text === '' ? first : next;
    text += write(field);
  }
  return `{${text}}`;
}

/** Keys, dates and states: texts that need no escaping in JSON. This test is faster than JSON.stringify. */
const plainText = /^[\w .:-]*$/;

/** Most amounts of a loan are zero. */
const storedZero = `${decimalMark}0`;
const writtenZero = `"${storedZero}"`;
const nothing = `{"expected":${writtenZero},"paid":${writtenZero}}`;
const writtenNoElements = `{"principal":${writtenZero},"interest":${writtenZero},"fees":${writtenZero},"penalty":${writtenZero}}`;
const writtenNothing = `{"amount":${nothing},"tax":${nothing}}`;

/** Changes the tree in place: it was just parsed and nothing else refers to it. */
function revive(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(decimalMark)) return value;
    if (value === storedZero) return zero;
    return value.startsWith(decimalMark + decimalMark) ? value.slice(1) : new Decimal(value.slice(1));
  }
  if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) fields[name] = revive(fields[name]);
  }
  return value;
}
