import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AccountTables, deleteDatabase } from '../../src/accounts/account-tables.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

describe('the file of the copy of accounts', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    file = join(folder, 'accounts.db');
  });
  afterEach(() => removeFolder(folder));

  function applyCommands(tables: AccountTables, beginning: string): void {
    for (let nextOffset = 1; nextOffset <= 20; nextOffset += 1) {
      const commands = Array.from({ length: 200 }, (_, index) => {
        return [`${beginning}-${nextOffset}-${index}`, { decidedAt: nextOffset, state: 's'.repeat(200) }] as const;
      });
      tables.apply({
        partition: 0,
        nextOffset,
        products: new Map(),
        pages: [],
        loans: new Map(),
        transactions: new Map(),
        commands: new Map(commands),
        commandOffset: undefined,
      });
    }
  }

  it('is new and whole beside the write-ahead log of a deleted one, of which a crash left that', async () => {
    const before = new AccountTables(file);
    applyCommands(before, 'before');
    copyFileSync(`${file}-wal`, join(folder, 'left'));
    before.abandon();
    deleteDatabase(file);
    copyFileSync(join(folder, 'left'), `${file}-wal`);
    expect(statSync(`${file}-wal`).size).to.be.above(500_000);

    const tables = new AccountTables(file);
    expect([...tables.positions()]).to.deep.equal([]);
    applyCommands(tables, 'after');
    await tables.finishFilling(() => Promise.resolve());
    expect(tables.commandState('before-1-1')).to.equal(undefined);
    expect(tables.commandState('after-1-1')).to.have.length(200);
    tables.close();
    const database = openDatabase(file);
    expect(database.prepare('PRAGMA integrity_check').get()).to.deep.equal({ integrity_check: 'ok' });
    database.close();
  });
});
