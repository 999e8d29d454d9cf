import type { FeeCharge, Loan, LoanPosition, LoanTransaction } from './loan.ts';
import { Decimal, zero } from './money.ts';

/**
 * A loan as one line of JSON in which each decimal keeps every digit. Charges and transactions come last, since a loan
 * gains some and seldom changes one: the line after a command repeats those parts of the line before it. The keys of the
 * transactions stand before them once more, for readers who look for those only.
 *
 * ```
 * {"version":1,"loan":{all but the two lists},"transactionKeys":[...],"charges":[...],"transactions":[...]}
 * ```
 */
const formatVersion = 1;

/** A text that starts with this is a decimal; a text that did so by itself has it twice. */
const decimalMark = '#';

/** What the lists follow. It stands nowhere before: inside a text its quotes would be escaped. */
const chargesMark = ',"charges":[';
const transactionsMark = '],"transactions":[';
/** What follows the transactions. */
const closing = ']}';

/** A loan and the line that tells of it. */
export interface EncodedLoan {
  readonly loan: Loan;
  readonly text: Buffer;
}

/** `decodeLoan(encodeLoan(loan))` equals `loan`. */
export function encodeLoan(loan: Loan): string {
  const charges = loan.position.charges.map(write).join(',');
  return `${head(loan)}${charges}${transactionsMark}${loan.transactions.map(write).join(',')}${closing}`;
}

/**
 * What {@link encodeLoan} gives, from the line of an earlier state of the same loan: a list whose earlier items are the
 * same objects still is taken from there, and only what came since is written.
 * @param added The texts of the loan's last transactions, where the caller has them, by {@link encodeTransaction}.
 */
export function encodeLoanAfter(
  { loan: { position, transactions }, text }: EncodedLoan,
  loan: Loan,
  added: ReadonlyMap<LoanTransaction, string> = new Map(),
): Buffer {
  const chargesFrom = text.indexOf(chargesMark) + chargesMark.length;
  const chargesEnd = text.indexOf(transactionsMark, chargesFrom);
  const charges = text.subarray(chargesFrom, chargesEnd);
  const posted = text.subarray(chargesEnd + transactionsMark.length, text.length - closing.length);
  return Buffer.concat([
    Buffer.from(head(loan)),
    ...itemsAfter(position.charges, charges, loan.position.charges, write),
    Buffer.from(transactionsMark),
    ...itemsAfter(transactions, posted, loan.transactions, (item) => added.get(item) ?? encodeTransaction(item)),
    Buffer.from(closing),
  ]);
}

/** The items of a list, joined by commas, those of its earlier state taken from their text. */
function itemsAfter<Item>(
  earlier: readonly Item[],
  earlierText: Buffer,
  items: readonly Item[],
  encode: (item: Item) => string,
): Buffer[] {
  const isLonger = earlier.length > 0 && earlier.every((item, index) => items[index] === item);
  if (!isLonger) return [Buffer.from(items.map((item) => encode(item)).join(','))];
  const rest = items.slice(earlier.length).map((item) => `,${encode(item)}`);
  return [earlierText, Buffer.from(rest.join(''))];
}

/** A transaction as it stands in the line of its loan. */
export function encodeTransaction(transaction: LoanTransaction): string {
  return write(transaction);
}

function head({ position, transactions, ...account }: Loan): string {
  const { charges: _, ...ownPosition } = position;
  const keys = JSON.stringify(transactions.map(({ encodedKey }) => encodedKey));
  const written = write({ ...account, position: ownPosition });
  return `{"version":${formatVersion},"loan":${written},"transactionKeys":${keys}${chargesMark}`;
}

/**
 * Reads what {@link encodeLoan} wrote.
 * @throws Error when the text is something else: the changelog is broken and no command may be decided on it
 */
export function decodeLoan(text: string): Loan {
  return revive(joined(parse(text))) as Loan;
}

/**
 * Reads all but the transactions, which are most of a long-lived loan: the list of them is empty. Neither the figures nor
 * the schedule look at it.
 * @throws Error when the text is no stored loan, as far as it was read
 */
export function decodeAccount(text: string): Loan {
  return revive(joined(parseUpTo(transactionsMark, text, closing))) as Loan;
}

/** The keys of a loan's transactions, in their order. @throws as {@link decodeAccount} */
export function decodeTransactionKeys(text: string): readonly string[] {
  return parseUpTo(chargesMark, text, transactionsMark + closing).transactionKeys;
}

/** Some of a loan's transactions: from one index up to another, exclusive. @throws as {@link decodeLoan} */
export function decodeTransactions(text: string, start: number, end: number): readonly LoanTransaction[] {
  return revive(parse(text).transactions.slice(start, end)) as LoanTransaction[];
}

/** What lists of loans show and sort by. */
export type LoanSummary = Pick<
  Loan,
  'id' | 'encodedKey' | 'loanName' | 'accountHolderKey' | 'loanAmount' | 'createdAt' | 'modifiedAt'
> &
  Pick<LoanPosition, 'accountState' | 'approvedAt' | 'closedAt'> & {
    readonly productKey: string;
    readonly transactionKeys: readonly string[];
  };

/** Reads a few fields and makes decimals of none but them. @throws as {@link decodeAccount} */
export function decodeSummary(text: string): LoanSummary {
  const { loan, transactionKeys } = parseUpTo(chargesMark, text, transactionsMark + closing);
  const { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt, product, position } = loan;
  const { accountState, approvedAt, closedAt } = position;
  const account = { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt };
  const rest = { accountState, approvedAt, closedAt, productKey: product.encodedKey, transactionKeys };
  return revive({ ...account, ...rest }) as LoanSummary;
}

/** As parsed: what is a decimal in the type is still a marked text, and a text may have the mark twice. */
interface StoredLoan {
  /** Without charges and transactions. */
  readonly loan: Loan;
  readonly transactionKeys: string[];
  readonly charges: FeeCharge[];
  readonly transactions: LoanTransaction[];
}

function joined({ loan, charges, transactions }: StoredLoan): Loan {
  return { ...loan, position: { ...loan.position, charges }, transactions };
}

/** Parses the text as if nothing but `end` followed the mark. */
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

/** Built by hand, in one pass: every command writes its loan. */
function write(value: unknown): string {
  if (typeof value === 'string') {
    if (plainText.test(value)) return `"${value}"`;
    return JSON.stringify(value.startsWith(decimalMark) ? decimalMark + value : value);
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Decimal)
    return value.isZero() && value.isPositive() ? writtenZero : `"${decimalMark}${value.valueOf()}"`;
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? write(item) : `,${write(item)}`;
    return `[${text}]`;
  }
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields)) {
    const field = fields[name];
    if (field !== undefined) text += `${text === '' ? '' : ','}"${name}":${write(field)}`;
  }
  return `{${text}}`;
}

/** Keys, dates and states: texts that stand in JSON as they are, found faster than by asking JSON. */
const plainText = /^[\w .:-]*$/;

/** Most amounts of a loan are nothing. */
const storedZero = `${decimalMark}0`;
const writtenZero = `"${storedZero}"`;

/** In place: the tree was just parsed and belongs to nobody else. */
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
