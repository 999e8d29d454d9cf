import { recordBytesMaximum } from '../ports/event-log.ts';
import { encodeLoan } from '../lending/changelog/stored-loan.ts';
import { encodeTransaction } from '../lending/changelog/stored-transaction.ts';
import type { Loan, LoanTransaction } from '../lending/loan.ts';
import { namedProduct } from '../lending-format/account-products.ts';
import { accountRecordKey, transactionRecordKey } from '../lending-format/account-record-keys.ts';

/** The state of a loan after the commands of one commit, and the records that store what they changed. */
export interface LoanDraft {
  readonly loan: Loan;
  /** The transactions that are new or changed, each by its encodedKey and by its id. */
  readonly transactions: ReadonlyMap<string, LoanTransaction>;
  /** The values of the records, by their keys. */
  readonly records: ReadonlyMap<string, Buffer>;
  /** The size of all records. Bytes. */
  readonly bytes: number;
}

/**
 * The draft of a loan that a command has just opened or changed.
 * @param transactions Those that the command posted or changed.
 * @param before The draft of the loan in this commit so far; undefined when this is its first command.
 * @throws Error when a record would not fit the log
 */
export function draftOf(loan: Loan, transactions: readonly LoanTransaction[], before?: LoanDraft): LoanDraft {
  const records = new Map(before?.records);
  const byKeyOrId = new Map(before?.transactions);
  let bytes = before?.bytes ?? 0;
  const put = (key: string, text: string, subject: string): void => {
    const value = Buffer.from(text);
    assertFits(key, value.length, subject);
    const replaced = records.get(key);
    bytes += replaced === undefined ? Buffer.byteLength(key) + value.length : value.length - replaced.length;
    records.set(key, value);
  };
  for (const transaction of transactions) {
    byKeyOrId.set(transaction.encodedKey, transaction).set(transaction.id, transaction);
    put(transactionRecordKey(loan.id, transaction.encodedKey), encodeTransaction(transaction), 'The transaction');
  }
  put(accountRecordKey(loan.id), encodeLoan(loan, namedProduct(loan.product)), 'The loan');
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
