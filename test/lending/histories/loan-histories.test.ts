import { expect } from 'chai';
import { describe, it } from 'mocha';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/package-root.ts';
import { storedAndRead } from '../changelog/stored-accounts.ts';
import { decodeTransaction, encodeTransaction } from '../../../src/lending/changelog/stored-transaction.ts';
import { histories, linesOf, storiesOf } from './loan-histories.ts';

/** To record the current results of the loans, remove the file and run this test. */
const file = join(packageRoot, 'test/lending/histories/recorded.txt');

describe('loans from their first command to their last', () => {
  const isRecorded = existsSync(file);
  if (!isRecorded) writeFileSync(file, `${histories.flatMap(linesOf).join('\n')}\n`);
  const recorded = readFileSync(file, 'utf8').split(/^(?=# )/m);

  it('are all in the recorded file', () => {
    expect(isRecorded, 'The record was missing and has been written anew: compare it with the one before').to.equal(
      true,
    );
    expect(recorded).to.have.length(histories.length);
  });

  for (const [index, history] of histories.entries()) {
    it(`match the recorded file: ${history.title}`, () => {
      expect(linesOf(history)).to.deep.equal(recorded[index]?.trimEnd().split('\n'));
    });
  }

  for (const history of histories) {
    it(`are read from the changelog as they were, after each command: ${history.title}`, () => {
      for (const { loan, transactions } of storiesOf(history)) {
        if (loan !== null) expect(storedAndRead(loan)).to.deep.equal(loan);
        for (const transaction of transactions.slice(-2)) {
          expect(decodeTransaction(encodeTransaction(transaction))).to.deep.equal(transaction);
        }
      }
    });
  }
});
