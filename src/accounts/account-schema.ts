import { pagesByDueDate } from './page-rows.ts';

/** Raised whenever the tables or the meaning of a column change. A file of another version is rebuilt from the log. */
export const schemaVersion = 13;

/** Creates the tables of a new file. */
export const tables = `
  CREATE TABLE positions (partition INTEGER PRIMARY KEY, next_offset INTEGER NOT NULL) STRICT;
  CREATE TABLE loans (
    loan_number INTEGER PRIMARY KEY,
    loan_id TEXT NOT NULL UNIQUE,
    encoded_key TEXT NOT NULL,
    loan_name TEXT NOT NULL,
    account_holder_key TEXT,
    product_type_key TEXT NOT NULL,
    account_state TEXT NOT NULL,
    -- Digits padded to one width, so that amounts sort as text and are never a binary float.
    loan_amount TEXT NOT NULL,
    creation_date TEXT NOT NULL,
    approved_date TEXT,
    closed_date TEXT,
    last_modified_date TEXT NOT NULL,
    transaction_count INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    -- When time alone will change the account next; null when it will not.
    next_business_date TEXT
  ) STRICT;
  -- Each account as the changelog has it: what every response is written from. Apart, so that sorting reads small rows.
  -- This and every other state begins with its checksum, see checksummed-text.ts.
  CREATE TABLE states (loan_number INTEGER PRIMARY KEY, state TEXT NOT NULL) STRICT;
  -- The products that accounts refer to, as the changelog has them. Each partition has its own.
  CREATE TABLE products (
    reference TEXT NOT NULL,
    partition INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (reference, partition)
  ) STRICT, WITHOUT ROWID;
  -- The installments and unpaid fees of accounts, in pages as the changelog has them.
  CREATE TABLE pages (
    loan_id TEXT NOT NULL,
    list TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    -- Of installments: the days on which the first and the last one of the page are due.
    first_due_date TEXT,
    last_due_date TEXT,
    PRIMARY KEY (loan_id, list, number)
  ) STRICT, WITHOUT ROWID;
  -- Each transaction as the changelog has it, with its number in the account.
  CREATE TABLE transactions (
    loan_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    transaction_key TEXT NOT NULL,
    type TEXT NOT NULL,
    creation_date TEXT NOT NULL,
    value_date TEXT NOT NULL,
    state TEXT NOT NULL,
    -- The id that its sender gave it, which no other transaction that was not adjusted has.
    external_id TEXT,
    is_adjusted INTEGER NOT NULL,
    PRIMARY KEY (loan_id, number)
  ) STRICT, WITHOUT ROWID;
  -- Commands that posted no transaction, as long as they are remembered. The oldest are removed first, and are side by
  -- side: their pages become free as a whole.
  CREATE TABLE commands (
    command_id TEXT NOT NULL,
    partition INTEGER NOT NULL,
    decided_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (partition, decided_at, command_id)
  ) STRICT, WITHOUT ROWID;
  -- The offset of the last command done, for each partition, and how far commands after the end of a day are done.
  CREATE TABLE checkpoints (
    partition INTEGER PRIMARY KEY,
    command_offset INTEGER NOT NULL,
    decided_ahead_to INTEGER
  ) STRICT;
  -- How many bytes were removed from pages that other rows may still be in, see sparse-pages.ts. It has one row.
  CREATE TABLE removed (bytes INTEGER NOT NULL) STRICT;
  INSERT INTO removed VALUES (0);
  PRAGMA user_version = ${schemaVersion};
`;

/** It is unique: of a command that was done again, only the row with the later time stays. */
export const commandsById = 'commands_by_id';

/**
 * Created when the file has been filled. Sorting all rows of an index once takes less time than finding the place of
 * each one: places that are all over the file are read and written page by page.
 */
export const indexes = {
  loans_by_key: 'loans (encoded_key)',
  loans_by_state: 'loans (account_state, creation_date)',
  loans_by_holder: 'loans (account_holder_key, creation_date)',
  loans_by_product: 'loans (product_type_key, creation_date)',
  loans_by_creation: 'loans (creation_date, loan_id)',
  loans_by_next_date: 'loans (partition, next_business_date)',
  loans_by_modification: 'loans (last_modified_date, loan_id)',
  [pagesByDueDate]: 'pages (last_due_date, first_due_date)',
  transactions_by_key: 'transactions (transaction_key)',
  transactions_by_creation: 'transactions (creation_date)',
  transactions_by_value_date: 'transactions (value_date)',
  [commandsById]: 'commands (command_id, partition)',
  // Posting a transaction again leaves the old one with the same id, so the index tells them apart.
  transactions_by_external_id: 'transactions (external_id, is_adjusted) WHERE external_id IS NOT NULL',
};

export type IndexName = keyof typeof indexes;

export const isIndexName = (name: string): name is IndexName => Object.hasOwn(indexes, name);

/** Has a row while a process has the file open. The row names the boot of the machine in which the process runs. */
export const inUseTable = 'CREATE TABLE IF NOT EXISTS in_use (boot_id TEXT NOT NULL) STRICT';
