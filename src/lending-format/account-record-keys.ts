/** The records of accounts in the changelog: one for each account, each of its pages and each of its transactions. */

import type { StoredPage } from '../lending/changelog/stored-pages.ts';

const accountPrefix = 'loan/';
const transactionPart = '/transaction/';

/** The key of the record of an account. An account id contains no slash. */
export function accountRecordKey(loanAccountId: string): string {
  return accountPrefix + loanAccountId;
}

/** The key of the record of a transaction. It is written once, and once more when the transaction is adjusted. */
export function transactionRecordKey(loanAccountId: string, transactionKey: string): string {
  return accountPrefix + loanAccountId + transactionPart + transactionKey;
}

/** The key of a page of the installments or unpaid fees of an account. */
export function pageRecordKey(loanAccountId: string, { list, number }: PageName): string {
  return `${accountPrefix}${loanAccountId}/${list}/${number}`;
}

/** Which page of an account it is. */
export type PageName = Pick<StoredPage, 'list' | 'number'>;

/** What a record of an account is about. */
export interface AccountRecordKey {
  readonly loanAccountId: string;
  /** The encodedKey of the transaction; absent for the account itself. */
  readonly transactionKey?: string;
  /** Present for a page of the account. */
  readonly page?: PageName;
}

/** What the key of a changelog record names; undefined for records that belong to no account. */
export function accountRecordOf(key: string): AccountRecordKey | undefined {
  if (!key.startsWith(accountPrefix)) return undefined;
  const idEnd = key.indexOf('/', accountPrefix.length);
  if (idEnd === -1) return { loanAccountId: key.slice(accountPrefix.length) };
  const loanAccountId = key.slice(accountPrefix.length, idEnd);
  if (key.startsWith(transactionPart, idEnd)) {
    return { loanAccountId, transactionKey: key.slice(idEnd + transactionPart.length) };
  }
  const [list, number] = key.slice(idEnd + 1).split('/');
  return list === 'charges' || list === 'installments'
    ? { loanAccountId, page: { list, number: Number(number) } }
    : undefined;
}
