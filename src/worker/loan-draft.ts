import { recordBytesMaximum } from '../ports/event-log.ts';
import { pagesOf } from '../lending/changelog/stored-pages.ts';
import { encodeTransaction } from '../lending/changelog/stored-transaction.ts';
import type { Loan, LoanTransaction } from '../lending/loan.ts';
import { encodeAccount } from '../lending-format/account-pages.ts';
import { accountRecordKey, pageRecordKey, transactionRecordKey } from '../lending-format/account-record-keys.ts';

/**
 * What an account and the pages that a commit changes take, by estimate. They are written once for all commands of a
 * commit, and only then are their sizes known. Bytes.
 */
export const accountBytesEstimate = 4 * 1024;

/** A transaction that is new or changed, with its record. */
export interface DraftedTransaction {
  readonly transaction: LoanTransaction;
  readonly key: string;
  readonly text: string;
  readonly bytes: number;
}

/**
 * The transaction with its record.
 * @throws RecordTooLarge when a transaction keeps so much for its adjustment that it does not fit the log
 */
export function draftedTransaction(loanAccountId: string, transaction: LoanTransaction): DraftedTransaction {
  const key = transactionRecordKey(loanAccountId, transaction.encodedKey);
  const text = encodeTransaction(transaction);
  const valueBytes = Buffer.byteLength(text);
  assertFits(key, valueBytes, 'The transaction');
  return { transaction, key, text, bytes: Buffer.byteLength(key) + valueBytes };
}

/** The account as stored, when the commit is written. */
export interface WrittenAccount {
  /** The texts of all records of the account that the commit writes, by their keys; null for one that is deleted. */
  readonly records: ReadonlyMap<string, string | null>;
  /** The length of the account with all its pages, those that did not change too. Characters. */
  readonly textLength: number;
}

/** The state of a loan after some commands of one commit, and the transactions that these posted or changed. */
export class LoanDraft {
  /** The loan as committed; null when a command of this commit opened it. */
  readonly #committed: Loan | null;
  #loan: Loan | null;
  readonly #id: string;
  /** Each by its encodedKey and by its id. */
  readonly #transactions = new Map<string, DraftedTransaction>();
  #transactionBytes = 0;

  constructor(committed: Loan | null, loan: Loan) {
    this.#committed = committed;
    this.#loan = loan;
    this.#id = loan.id;
  }

  /** Null once the loan was deleted, until one with the same id is opened. */
  get loan(): Loan | null {
    return this.#loan;
  }

  /** The size of its records, that of the account and its pages by {@link accountBytesEstimate}. Bytes. */
  get bytes(): number {
    return accountBytesEstimate + this.#transactionBytes;
  }

  /** A transaction that a command of this commit posted or changed, by its encodedKey or id. */
  transaction(keyOrId: string): LoanTransaction | undefined {
    return this.#transactions.get(keyOrId)?.transaction;
  }

  /** Removes the loan. It has no transactions. */
  delete(): void {
    this.#loan = null;
  }

  /** Takes the result of one more command. */
  change(loan: Loan, transactions: readonly DraftedTransaction[]): void {
    this.#loan = loan;
    for (const drafted of transactions) {
      const { encodedKey, id } = drafted.transaction;
      this.#transactionBytes += drafted.bytes - (this.#transactions.get(encodedKey)?.bytes ?? 0);
      this.#transactions.set(encodedKey, drafted).set(id, drafted);
    }
  }

  /**
   * The records of the loan. Of its pages, only those that differ from the committed loan are written. None of them is
   * too large for the log: limits of their fields keep an account and a page far below.
   */
  write(): WrittenAccount {
    const id = this.#id;
    const records = new Map<string, string | null>();
    for (const { key, text } of this.#transactions.values()) records.set(key, text);
    const pagesBefore = new Map(
      this.#committed === null ? [] : pagesOf(this.#committed).map((page) => [pageRecordKey(id, page), page]),
    );
    const { text, pages } = this.#loan === null ? { text: null, pages: [] } : encodeAccount(this.#loan);
    let textLength = text?.length ?? 0;
    for (const page of pages) {
      textLength += page.text.length;
      const key = pageRecordKey(id, page);
      if (pagesBefore.get(key)?.text !== page.text) records.set(key, page.text);
      pagesBefore.delete(key);
    }
    for (const key of pagesBefore.keys()) records.set(key, null);
    records.set(accountRecordKey(id), text);
    return { records, textLength };
  }
}

/** A record is larger than the log accepts. */
export class RecordTooLarge extends Error {}

/**
 * Checks the size of a record. The log would refuse the whole commit again and again. It is better that one command
 * is refused or goes to the dead letters.
 * @throws RecordTooLarge when key and value together are larger than a record may be
 */
export function assertFits(key: string, valueBytes: number, subject: string): void {
  if (Buffer.byteLength(key) + valueBytes <= recordBytesMaximum) return;
  throw new RecordTooLarge(
    `${subject} would have ${valueBytes} bytes, more than the log accepts (${recordBytesMaximum})`,
  );
}
