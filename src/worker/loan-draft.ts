import { recordBytesMaximum } from '../ports/event-log.ts';
import { pagesOf } from '../lending/changelog/stored-pages.ts';
import { encodeTransaction } from '../lending/changelog/stored-transaction.ts';
import type { Loan, LoanTransaction } from '../lending/loan.ts';
import { encodeAccount } from '../lending-format/account-pages.ts';
import { accountRecordKey, pageRecordKey, transactionRecordKey } from '../lending-format/account-record-keys.ts';

/** The state of a loan after the commands of one commit, and the records that store what they changed. */
export interface LoanDraft {
  readonly loan: Loan;
  /** The transactions that are new or changed, each by its encodedKey and by its id. */
  readonly transactions: ReadonlyMap<string, LoanTransaction>;
  /** The values of the records, by their keys; null for a record that is deleted. */
  readonly records: ReadonlyMap<string, Buffer | null>;
  /** The size of all records. Bytes. */
  readonly bytes: number;
}

/**
 * The draft of a loan that a command has just opened or changed.
 * @param transactions Those that the command posted or changed.
 * @param previous The loan before the command; null when the command opened it. Of its pages, only those that changed
 *   are written.
 * @param before The draft of the loan in this commit so far; undefined when this is its first command.
 * @throws Error when a record would not fit the log
 */
export function draftOf(
  loan: Loan,
  transactions: readonly LoanTransaction[],
  previous: Loan | null,
  before?: LoanDraft,
): LoanDraft {
  const records = new Map(before?.records);
  const byKeyOrId = new Map(before?.transactions);
  let bytes = before?.bytes ?? 0;
  const set = (key: string, value: Buffer | null): void => {
    const replaced = records.get(key);
    const valueBytes = value?.length ?? 0;
    bytes += replaced === undefined ? Buffer.byteLength(key) + valueBytes : valueBytes - (replaced?.length ?? 0);
    records.set(key, value);
  };
  const put = (key: string, text: string, subject: string): void => {
    const value = Buffer.from(text);
    assertFits(key, value.length, subject);
    set(key, value);
  };
  for (const transaction of transactions) {
    byKeyOrId.set(transaction.encodedKey, transaction).set(transaction.id, transaction);
    put(transactionRecordKey(loan.id, transaction.encodedKey), encodeTransaction(transaction), 'The transaction');
  }
  const { text, pages } = encodeAccount(loan);
  const textsBefore = new Map(
    previous === null ? [] : pagesOf(previous).map((page) => [pageRecordKey(loan.id, page), page.text]),
  );
  for (const page of pages) {
    const key = pageRecordKey(loan.id, page);
    if (textsBefore.get(key) !== page.text) put(key, page.text, 'A page of the loan');
    textsBefore.delete(key);
  }
  for (const key of textsBefore.keys()) set(key, null);
  put(accountRecordKey(loan.id), text, 'The loan');
  return { loan, transactions: byKeyOrId, records, bytes };
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
