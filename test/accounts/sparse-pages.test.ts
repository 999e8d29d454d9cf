import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { join } from 'node:path';
import { AccountTables } from '../../src/accounts/account-tables.ts';
import { loanRow } from '../../src/accounts/account-rows.ts';
import { SparsePages } from '../../src/accounts/sparse-pages.ts';
import { type Connection, openDatabase } from '../../src/sqlite.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { firstTransactionRow, loanRecord } from './stored-loans.ts';

const mebibyte = 1024 * 1024;
const loanCount = 150;

describe('the pages of the copy of accounts that rows were removed from', () => {
  let folder: string;
  let database: Connection;
  let sparsePages: SparsePages;

  beforeEach(async () => {
    folder = await temporaryFolder();
    const file = join(folder, 'accounts.db');
    const tables = new AccountTables(file);
    const ids = Array.from({ length: loanCount }, (_, number) => `loan-${number}`);
    tables.apply({
      partition: 0,
      nextOffset: 1,
      products: new Map([['a-product', 'product']]),
      pages: ids.map((loanId) => ({ loanId, list: 'installments', number: 1, state: `page of ${loanId}` })),
      loans: new Map(ids.map((id) => [id, loanRow(String(loanRecord({ id, loanName: `name of ${id}` }).value))])),
      transactions: new Map(
        ids.map((id) => [`key of ${id}`, firstTransactionRow(id, `key of ${id}`, 'a transaction')]),
      ),
      commands: new Map(ids.map((id, decidedAt) => [`command of ${id}`, { decidedAt, state: 'a command' }])),
      commandOffset: 1,
    });
    await tables.finishFilling(() => Promise.resolve());
    tables.close();
    database = openDatabase(file);
    sparsePages = new SparsePages(database);
  });
  afterEach(async () => {
    database.close();
    await removeFolder(folder);
  });

  const removedBytes = (): number => (database.prepare('SELECT bytes FROM removed').get() as { bytes: number }).bytes;

  function setRemoved(bytes: number): void {
    database.prepare('UPDATE removed SET bytes = ?').run(bytes);
  }

  function content(): unknown[] {
    return ['loans', 'states', 'pages', 'transactions', 'commands', 'products'].map((table) =>
      database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all(),
    );
  }

  for (const [used, removed] of [
    [30 * mebibyte, 3 * mebibyte],
    [5 * mebibyte, mebibyte],
  ] as const) {
    it(`are due to be filled when ${removed} bytes were removed and ${used} are in use, not before`, () => {
      setRemoved(removed - 1);
      expect(sparsePages.isDue(used)).to.equal(false);
      setRemoved(removed);
      expect(sparsePages.isDue(used)).to.equal(true);
    });
  }

  it('get all rows again, which are as before, and what is removed meanwhile counts for the next time', () => {
    const before = content();
    const { total: changesBefore } = totalChanges();
    setRemoved(mebibyte + 5);
    expect(sparsePages.isDue(0)).to.equal(true);
    setRemoved(2 * mebibyte + 7);
    while (sparsePages.writeSome());
    expect(removedBytes()).to.equal(mebibyte + 2);
    expect(content()).to.deep.equal(before);
    // Each row of the five tables was removed and written, and the number of bytes was changed three times.
    expect(totalChanges().total - changesBefore).to.equal(2 * 5 * loanCount + 3);
    expect(sparsePages.writeSome(), 'nothing is due').to.equal(false);
  });

  it('get all rows again from the first one after a transaction was undone', () => {
    const before = content();
    setRemoved(mebibyte);
    expect(sparsePages.isDue(0)).to.equal(true);
    database.exec('BEGIN');
    sparsePages.writeSome();
    database.exec('ROLLBACK');
    sparsePages.forget();
    const { total: changesBefore } = totalChanges();
    expect(sparsePages.isDue(0)).to.equal(true);
    while (sparsePages.writeSome());
    expect(totalChanges().total - changesBefore).to.equal(2 * 5 * loanCount + 1);
    expect(content()).to.deep.equal(before);
    expect(sparsePages.isDue(0)).to.equal(false);
  });

  function totalChanges(): { total: number } {
    return database.prepare('SELECT total_changes() AS total').get() as { total: number };
  }
});
