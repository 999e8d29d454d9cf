import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckStep, startCheckThread } from '../../src/integrity/check-thread.ts';
import { type Connection, openDatabase } from '../../src/sqlite.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const script = new URL('./check-of-tables.js', import.meta.url);
const pageBytes = 4_096;
const rowCount = 2_000;

describe('the check of the tables of a file', () => {
  let folder: string;
  let path: string;
  let database: Connection;

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder, 'tables.db');
    database = openDatabase(path, { returnArrays: true });
    database.exec(`
      PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL;
      CREATE TABLE accounts (id TEXT PRIMARY KEY, holder TEXT, state TEXT NOT NULL) STRICT;
      CREATE INDEX accounts_by_holder ON accounts (holder, state);
      CREATE TABLE transactions (id TEXT, number INTEGER, text TEXT NOT NULL, PRIMARY KEY (id, number))
        STRICT, WITHOUT ROWID;
      CREATE INDEX transactions_by_text ON transactions (text);
      CREATE INDEX accounts_with_holder ON accounts (state, holder) WHERE holder IS NOT NULL;
      CREATE TABLE empty_table (id INTEGER PRIMARY KEY) STRICT;
      WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${rowCount})
      INSERT INTO accounts SELECT 'account ' || n, CASE WHEN n % 3 > 0 THEN 'holder ' || n % 7 END, 'active' FROM n;
      INSERT INTO transactions SELECT substr(id, 9) % 50, rowid, 'text ' || rowid FROM accounts;
      PRAGMA wal_checkpoint(TRUNCATE);
    `);
  });
  afterEach(async () => {
    database.close();
    await removeFolder(folder);
  });

  async function check(): Promise<CheckStep[]> {
    const thread = startCheckThread(script, path);
    const steps: CheckStep[] = [];
    while (steps.at(-1)?.isDone !== true) steps.push(await thread.step());
    await thread.close();
    return steps;
  }

  const damagesOf = (steps: readonly CheckStep[]): string[] => steps.flatMap(({ damages }) => damages);

  /** Overwrites a page of a table or an index. */
  function damage(name: string, pageType: 'leaf' | 'internal'): void {
    const [page] = database
      .prepare('SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = ?')
      .get(name, pageType) as unknown as [number];
    overwrite(page, Buffer.alloc(pageBytes, 0xff));
  }

  function overwrite(page: number, content: Buffer): void {
    const file = openSync(path, 'r+');
    writeSync(file, content, 0, pageBytes, (page - 1) * pageBytes);
    closeSync(file);
  }

  it('reads 64 rows in a step, shows how much of the file it has read, and finds nothing in a sound one', async () => {
    const steps = await check();
    expect(damagesOf(steps)).to.deep.equal([]);
    expect(steps).to.have.length(2 * Math.ceil(rowCount / 64) + 1 + 1);
    const shares = steps.map(({ checkedShare }) => checkedShare);
    expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b));
    expect(shares.at(-2)).to.be.within(0.3, 0.99);
    expect(shares.at(-1)).to.equal(1);
  });

  for (const [name, pageType, found] of [
    ['accounts', 'leaf', 'Table accounts cannot be read.'],
    ['accounts', 'internal', 'Table accounts cannot be read.'],
    ['accounts_by_holder', 'leaf', 'Table accounts cannot be read.'],
    ['sqlite_autoindex_accounts_1', 'leaf', 'Table accounts cannot be read.'],
    ['transactions', 'leaf', 'Table transactions cannot be read.'],
    ['transactions_by_text', 'leaf', 'Table transactions cannot be read.'],
  ] as const) {
    it(`finds a page of ${name} that was overwritten (${pageType})`, async () => {
      damage(name, pageType);
      expect(damagesOf(await check())).to.deep.equal([found]);
    });
  }

  for (const index of ['accounts_by_holder', 'accounts_with_holder']) {
    it(`finds a row that an index lacks, because the disk lost the write of a page: ${index}`, async () => {
      const put = database.prepare(`INSERT INTO accounts VALUES ('account 7', 'holder 1', 'active')`);
      const checkpoint = (): void => database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      // Its place in the page stays free, so that it does not need another page afterwards.
      database.exec(`DELETE FROM accounts WHERE id = 'account 7'`);
      checkpoint();
      const before = readFileSync(path);
      put.run();
      checkpoint();
      const pages = database.prepare(`SELECT pageno FROM dbstat WHERE name = '${index}'`).all() as unknown as [
        number,
      ][];
      for (const [page] of pages) overwrite(page, before.subarray((page - 1) * pageBytes, page * pageBytes));
      expect(damagesOf(await check())).to.deep.equal([`Index ${index} lacks a row of table accounts.`]);
    });
  }

  it('finds a row whose content is wrong, as the writer of the file says', async () => {
    database.exec(`UPDATE transactions SET text = 'wrong' WHERE number = ${rowCount}`);
    expect(damagesOf(await check())).to.deep.equal([`Table transactions: ${rowCount % 50} has a wrong text.`]);
  });

  it('lets the write-ahead log be restarted between two steps', async () => {
    const thread = startCheckThread(script, path);
    await thread.step();
    database.exec(`INSERT INTO empty_table VALUES (1)`);
    expect((database.prepare('PRAGMA wal_checkpoint(RESTART)').get() as unknown as [number])[0]).to.equal(0);
    await thread.step();
    await thread.close();
  });

  it('fails, which is no damage, when there is no file', async () => {
    const thread = startCheckThread(script, join(folder, 'absent.db'));
    const error: unknown = await thread.step().catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'LOG_UNAVAILABLE');
    await thread.close();
  });
});
