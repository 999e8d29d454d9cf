import type { Connection } from '../sqlite.ts';
import { indexes } from './account-schema.ts';
import { pagesByDueDate, pagesOfAccount } from './page-rows.ts';

const transactionColumns = 'SELECT loan_id, transaction_key, state FROM transactions';

/** About what a row takes in an index, and a loan in its table and all indexes. Bytes. */
const indexEntryBytes = 64;
const removedLoanBytes = 600;

const loanColumns = [
  'loan_id',
  'encoded_key',
  'loan_name',
  'account_holder_key',
  'product_type_key',
  'account_state',
  'loan_amount',
  'creation_date',
  'approved_date',
  'closed_date',
  'last_modified_date',
  'transaction_count',
  'partition',
  'next_business_date',
];

/** Every command changes this column, so its index is written with each of them. */
const alwaysChangedColumn = 'last_modified_date';

/**
 * Pages of installments by their days, of active loans. Without the name of the index, SQLite may read all pages,
 * because they are in the order of their accounts.
 */
export const loansWithRowsDue = `
  SELECT pages.last_due_date AS lastDueDate, pages.first_due_date AS firstDueDate, pages.loan_id AS loanId
  FROM pages INDEXED BY ${pagesByDueDate} CROSS JOIN loans USING (loan_id)
  WHERE pages.last_due_date >= ? AND pages.first_due_date <= ?
    AND (pages.last_due_date, pages.first_due_date, pages.loan_id) > (?, ?, ?)
    AND loans.partition = ? AND loans.next_business_date IS NOT NULL AND instr(pages.state, ?) > 0
  ORDER BY pages.last_due_date, pages.first_due_date, pages.loan_id LIMIT ?`;

/** Leaves the last record of each command of a partition. */
export const removeEarlierCommands = `
  DELETE FROM commands WHERE (partition, decided_at, command_id) NOT IN
    (SELECT partition, max(decided_at), command_id FROM commands GROUP BY partition, command_id)`;

/** The other columns that an index contains. The id identifies the row, and never changes. */
const indexedLoanColumns = loanColumns.filter(
  (column) =>
    column !== alwaysChangedColumn &&
    Object.values(indexes).some((index) => index.startsWith('loans (') && index.includes(column)),
);

/** The statements on the tables of accounts that do not need its indexes. */
export function prepareStatements(database: Connection) {
  const parameterOf = (column: string): string => `?${loanColumns.indexOf(column) + 1}`;
  const assigned = (columns: readonly string[]): string =>
    columns.map((column) => `${column} = ${parameterOf(column)}`).join(', ');
  const isUnchanged = indexedLoanColumns.map((column) => `${column} IS ${parameterOf(column)}`).join(' AND ');
  // SQLite writes the index of each column that an update names, also when its value stays. Most commands change none
  // of them, and then this update takes a tenth of the time.
  const updateLoan =
    `UPDATE loans SET ${assigned(loanColumns.filter((column) => !indexedLoanColumns.includes(column)))} ` +
    `WHERE ${isUnchanged} RETURNING loan_number`;
  const putLoan =
    `INSERT INTO loans (${loanColumns.join(', ')}) VALUES (${loanColumns.map(parameterOf).join(', ')}) ` +
    `ON CONFLICT (loan_id) DO UPDATE SET ${assigned(loanColumns.slice(1))} RETURNING loan_number`;
  const removedStateBytes = 'RETURNING length(state) AS bytes';
  const numberOfLoan = '(SELECT loan_number FROM loans WHERE loan_id = ?)';
  return {
    positions: database.prepare('SELECT partition, next_offset FROM positions'),
    putPosition: database.prepare('INSERT OR REPLACE INTO positions VALUES (?, ?)'),
    updateLoan: database.prepare(updateLoan),
    putLoan: database.prepare(putLoan),
    putState: database.prepare(
      'INSERT INTO states VALUES (?, ?) ON CONFLICT (loan_number) DO UPDATE SET state = excluded.state',
    ),
    addRemoved: database.prepare('UPDATE removed SET bytes = bytes + ?'),
    removeLoan: database.prepare(`DELETE FROM loans WHERE loan_id = ? RETURNING ${removedLoanBytes} AS bytes`),
    removeState: database.prepare(`DELETE FROM states WHERE loan_number = ${numberOfLoan} ${removedStateBytes}`),
    state: database.prepare(`SELECT state FROM states WHERE loan_number = ${numberOfLoan}`),
    pages: database.prepare(pagesOfAccount),
    putPage: database.prepare(
      'INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (loan_id, list, number) DO UPDATE SET ' +
        'state = excluded.state, first_due_date = excluded.first_due_date, last_due_date = excluded.last_due_date',
    ),
    updatePage: database.prepare(
      'UPDATE pages SET state = ? WHERE loan_id = ? AND list = ? AND number = ? ' +
        'AND first_due_date IS ? AND last_due_date IS ?',
    ),
    removePage: database.prepare(
      `DELETE FROM pages WHERE loan_id = ? AND list = ? AND number = ? ${removedStateBytes}`,
    ),
    putProduct: database.prepare('INSERT OR REPLACE INTO products VALUES (?, ?, ?)'),
    product: database.prepare('SELECT state FROM products WHERE reference = ? LIMIT 1'),
    productOfPartition: database.prepare('SELECT 1 FROM products WHERE reference = ? AND partition = ?'),
    loanOfProduct: database.prepare('SELECT 1 FROM loans WHERE product_type_key = ? LIMIT 1'),
    idOfId: database.prepare('SELECT loan_id FROM loans WHERE loan_id = ?'),
    idOfKey: database.prepare('SELECT loan_id FROM loans WHERE encoded_key = ?'),
    transactionCount: database.prepare('SELECT transaction_count FROM loans WHERE loan_id = ?'),
    command: database.prepare('SELECT state FROM commands WHERE command_id = ? AND partition = ?'),
    lastCommand: database.prepare('SELECT state FROM commands WHERE command_id = ? ORDER BY decided_at DESC LIMIT 1'),
    putCommand: database.prepare('INSERT OR REPLACE INTO commands VALUES (?, ?, ?, ?)'),
    // Its row was beside others that are removed with it. Only its entry in the index leaves a gap.
    removeCommand: database.prepare(
      `DELETE FROM commands WHERE command_id = ? AND partition = ? RETURNING ${indexEntryBytes} AS bytes`,
    ),
    oldCommands: database.prepare(
      'SELECT command_id FROM commands WHERE partition = ? AND decided_at <= ? ORDER BY decided_at LIMIT ?',
    ),
    dueLoans: database.prepare(
      'SELECT loan_id FROM loans WHERE partition = ? AND next_business_date <= ? ORDER BY next_business_date LIMIT ?',
    ),
    checkpoints: database.prepare('SELECT partition, command_offset, decided_ahead_to FROM checkpoints'),
    putCheckpoint: database.prepare('INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?)'),
    putTransaction: database.prepare(
      'INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ' +
        'ON CONFLICT (loan_id, number) DO UPDATE SET transaction_key = excluded.transaction_key, type = excluded.type, ' +
        'creation_date = excluded.creation_date, value_date = excluded.value_date, state = excluded.state, ' +
        'external_id = excluded.external_id, is_adjusted = excluded.is_adjusted',
    ),
    removeTransaction: database.prepare(`DELETE FROM transactions WHERE transaction_key = ? ${removedStateBytes}`),
    transactionByKey: database.prepare(`${transactionColumns} WHERE transaction_key = ?`),
    standingByExternalId: database.prepare(
      'SELECT 1 FROM transactions WHERE external_id = ? AND is_adjusted = 0 LIMIT 1',
    ),
    transactionByNumber: database.prepare(`${transactionColumns} WHERE loan_id = ? AND number = ?`),
    // Transactions are numbered without a gap, so the first ones need not be counted.
    transactionPage: database.prepare(`${transactionColumns} WHERE loan_id = ? AND number > ? ORDER BY number LIMIT ?`),
  };
}
