import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { join } from 'node:path';
import { AccountTables } from '../../src/accounts/account-tables.ts';
import { loanRow } from '../../src/accounts/account-rows.ts';
import { startCheckThread } from '../../src/integrity/check-thread.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { firstTransactionRow, loanRecord } from './stored-loans.ts';

const script = new URL('../../src/accounts/copy-check.js', import.meta.url);

describe('the check of the copy of accounts', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    file = join(folder, 'accounts.db');
    const tables = new AccountTables(file);
    tables.apply({
      partition: 0,
      nextOffset: 1,
      products: new Map([['a-product', 'product 1']]),
      pages: [{ loanId: 'a', list: 'installments', number: 2, state: 'page 1' }],
      loans: new Map([['a', loanRow(String(loanRecord({ id: 'a' }).value))]]),
      transactions: new Map([['a-key', firstTransactionRow('a', 'a-key', 'transaction 1')]]),
      commands: new Map([['a-command', { decidedAt: 1, state: 'command 1' }]]),
      commandOffset: 1,
    });
    await tables.finishFilling(() => Promise.resolve());
    tables.close();
  });
  afterEach(() => removeFolder(folder));

  async function damages(): Promise<string[]> {
    const thread = startCheckThread(script, file);
    const found: string[] = [];
    for (let isDone = false; !isDone;) {
      const step = await thread.step();
      found.push(...step.damages);
      isDone = step.isDone;
    }
    await thread.close();
    return found;
  }

  it('finds nothing in a sound file', async () => {
    expect(await damages()).to.deep.equal([]);
  });

  for (const [statement, damage] of [
    [`UPDATE states SET state = replace(state, '1000', '1001')`, 'Table states: the stored text of a was changed.'],
    [
      `UPDATE products SET state = replace(state, '1', '2')`,
      'Table products: the stored text of a-product was changed.',
    ],
    [
      `UPDATE pages SET state = replace(state, 'page 1', 'page 2')`,
      'Table pages: the stored text of loan/a/installments/2 was changed.',
    ],
    [`UPDATE pages SET number = 3`, 'Table pages: the stored text of loan/a/installments/3 was changed.'],
    [
      `UPDATE transactions SET state = replace(state, 'n 1', 'n 2')`,
      'Table transactions: the stored text of a-key was changed.',
    ],
    [
      `UPDATE commands SET state = replace(state, 'd 1', 'd 2')`,
      'Table commands: the stored text of a-command was changed.',
    ],
    ['DELETE FROM states', 'Table loans: the text of a is missing.'],
    ['DELETE FROM loans', 'Table states: a text belongs to no account.'],
  ] as const) {
    it(`finds what this did: ${statement}`, async () => {
      const database = openDatabase(file);
      expect(database.prepare(statement).run().changes).to.equal(1);
      database.close();
      expect(await damages()).to.deep.equal([damage]);
    });
  }
});
