import type { Loan, LoanPosition, LoanTransaction } from './loan.ts';
import { Decimal, zero } from './money.ts';

/**
 * A loan as one line of JSON in which each decimal keeps every digit. The transactions come last, since a loan only
 * gains some: the line after a command repeats that part of the line before it. Their keys stand before them once more,
 * for readers who look for those only.
 *
 * ```
 * {"version":1,"loan":{all but the transactions},"transactionKeys":[...],"transactions":[...]}
 * ```
 */
const formatVersion = 1;

/** A text that starts with this is a decimal; a text that did so by itself has it twice. */
const decimalMark = '#';

/** What the transactions follow. It stands nowhere before: inside a text its quotes would be escaped. */
const transactionsMark = ',"transactions":[';
/** What follows the transactions. */
const closing = ']}';

/** A loan and the line that tells of it. */
export interface EncodedLoan {
  readonly loan: Loan;
  readonly text: Buffer;
}

/** `decodeLoan(encodeLoan(loan))` equals `loan`. */
export function encodeLoan(loan: Loan): string {
  return `${head(loan)}${loan.transactions.map(encodeTransaction).join(',')}${closing}`;
}

/**
 * What {@link encodeLoan} gives, from the line of an earlier state of the same loan: of the transactions, only those are
 * written anew that came since or are not the same object any more.
 * @param added The texts of the loan's last transactions, where the caller has them, by {@link encodeTransaction}.
 */
export function encodeLoanAfter(
  earlier: EncodedLoan,
  loan: Loan,
  added: ReadonlyMap<LoanTransaction, string> = new Map(),
): Buffer {
  const { transactions } = loan;
  const known = earlier.loan.transactions;
  const isLonger = known.length > 0 && known.every((transaction, index) => transactions[index] === transaction);
  if (!isLonger) return Buffer.from(encodeLoan(loan));
  const from = earlier.text.indexOf(transactionsMark) + transactionsMark.length;
  const repeated = earlier.text.subarray(from, earlier.text.length - closing.length);
  const rest = transactions
    .slice(known.length)
    .map((transaction) => `,${added.get(transaction) ?? encodeTransaction(transaction)}`)
    .join('');
  return Buffer.concat([Buffer.from(head(loan)), repeated, Buffer.from(rest + closing)]);
}

/** A transaction as it stands in the line of its loan. */
export function encodeTransaction(transaction: LoanTransaction): string {
  return write(transaction);
}

function head({ transactions, ...account }: Loan): string {
  const keys = transactions.map(({ encodedKey }) => encodedKey);
  return `{"version":${formatVersion},"loan":${write(account)},"transactionKeys":${JSON.stringify(keys)}${transactionsMark}`;
}

/**
 * Reads what {@link encodeLoan} wrote.
 * @throws Error when the text is something else: the changelog is broken and no command may be decided on it
 */
export function decodeLoan(text: string): Loan {
  const { loan, transactions } = parse(text);
  return revive({ ...loan, transactions }) as Loan;
}

/**
 * Reads all but the transactions, which are most of a long-lived loan: the list of them is empty. Neither the figures nor
 * the schedule look at it.
 * @throws Error when the text is no stored loan, as far as it was read
 */
export function decodeAccount(text: string): Loan {
  const { loan } = parseHead(text);
  return revive({ ...loan, transactions: [] }) as Loan;
}

/** The keys of a loan's transactions, in their order. @throws as {@link decodeAccount} */
export function decodeTransactionKeys(text: string): readonly string[] {
  return parseHead(text).transactionKeys;
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
  const { loan, transactionKeys } = parseHead(text);
  const { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt, product, position } = loan;
  const { accountState, approvedAt, closedAt } = position;
  const account = { id, encodedKey, loanName, accountHolderKey, loanAmount, createdAt, modifiedAt };
  const rest = { accountState, approvedAt, closedAt, productKey: product.encodedKey, transactionKeys };
  return revive({ ...account, ...rest }) as LoanSummary;
}

/** As parsed: what is a decimal in the type is still a marked text, and a text may have the mark twice. */
interface StoredLoan {
  readonly loan: Loan;
  readonly transactionKeys: string[];
  readonly transactions: unknown[];
}

function parseHead(text: string): StoredLoan {
  const end = text.indexOf(transactionsMark);
  return parse(end === -1 ? text : text.slice(0, end) + transactionsMark + closing);
}

function parse(text: string): StoredLoan {
  const stored = JSON.parse(text) as { version?: unknown } & Partial<StoredLoan>;
  const { version, loan, transactionKeys, transactions } = stored;
  const isStored = version === formatVersion && typeof loan === 'object' && loan !== null;
  if (!isStored || !Array.isArray(transactionKeys) || !Array.isArray(transactions)) {
    throw new Error(`not a stored loan of format ${formatVersion}`);
  }
  return { loan, transactionKeys, transactions };
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
