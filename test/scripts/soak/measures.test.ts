import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { diskOf } from '../../../scripts/soak/measures.ts';
import { openDatabase } from '../../../src/sqlite.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('the disk of a soak', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(() => removeFolder(folder));

  for (const [backend, place] of [
    ['one machine', '.'],
    ['a cluster', join('node', 'cluster-7')],
  ] as const) {
    it(`has the copy of accounts of a process on ${backend}`, () => {
      mkdirSync(join(folder, place), { recursive: true });
      const file = join(folder, place, 'accounts.db');
      const database = openDatabase(file);
      database.exec('CREATE TABLE loans (id TEXT); INSERT INTO loans VALUES (randomblob(100000))');
      database.close();
      const { accountBytes, eventBytes } = diskOf(folder);
      expect([accountBytes, eventBytes]).to.deep.equal([statSync(file).size, 0]);
    });
  }
});
