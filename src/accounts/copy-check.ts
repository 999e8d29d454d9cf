import { serveCheck } from '../integrity/check-thread.ts';
import { type Row, type RowDamage, TableCheck } from '../integrity/table-check.ts';
import { pageRecordKey } from '../lending-format/account-record-keys.ts';
import type { Connection } from '../sqlite.ts';
import { isIntact } from './checksummed-text.ts';
import type { FoundPage } from './page-rows.ts';

/**
 * The thread that checks the file of the local copy. Beside what is checked of any file, it compares the checksum of
 * each stored text, and finds accounts that lack their text. No request may read a row for years.
 */

/** A row of a table with texts, and the key that its text is stored under; undefined when there is no such key. */
type KeyOfText = (row: Row) => string | undefined;

function prepareRowDamage(connection: Connection): RowDamage {
  const stateOfLoan = connection.prepare('SELECT 1 FROM states WHERE loan_number = ?');
  const idOfLoan = connection.prepare('SELECT loan_id FROM loans WHERE loan_number = ?');
  const keys: Readonly<Record<string, KeyOfText>> = {
    states: ({ loan_number }) => (idOfLoan.get(loan_number) as { loan_id: string } | undefined)?.loan_id,
    pages: (row) => pageRecordKey(String(row['loan_id']), row as Row & FoundPage),
    products: ({ reference }) => String(reference),
    transactions: ({ transaction_key }) => String(transaction_key),
    commands: ({ command_id }) => String(command_id),
  };
  return (table, row) => {
    if (table === 'loans') {
      return stateOfLoan.get(row['loan_number']) === undefined ? `the text of ${row['loan_id']} is missing` : undefined;
    }
    const keyOfText = keys[table];
    if (keyOfText === undefined) return undefined;
    const key = keyOfText(row);
    if (key === undefined) return 'a text belongs to no account';
    return isIntact(key, String(row['state'])) ? undefined : `the stored text of ${key} was changed`;
  };
}

serveCheck((path) => new TableCheck(path, prepareRowDamage));
