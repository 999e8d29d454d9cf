/** The records of accounts in the changelog: one for each account, and one for each of its transactions. */

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

/** What a record of an account is about. */
export interface AccountRecordKey {
  readonly loanAccountId: string;
  /** The encodedKey of the transaction; absent for the account itself. */
  readonly transactionKey?: string;
}

/** What the key of a changelog record names; undefined for records that belong to no account. */
export function accountRecordOf(key: string): AccountRecordKey | undefined {
  if (!key.startsWith(accountPrefix)) return undefined;
  const idEnd = key.indexOf('/', accountPrefix.length);
  if (idEnd === -1) return { loanAccountId: key.slice(accountPrefix.length) };
  return {
    loanAccountId: key.slice(accountPrefix.length, idEnd),
    transactionKey: key.slice(idEnd + transactionPart.length),
  };
}
