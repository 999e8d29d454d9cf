import { expect } from 'chai';
import { describe, it } from 'mocha';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/schemas.ts';
import { type EncodedLoan, decodeLoan, encodeLoan, encodeLoanAfter } from '../../../src/lending/codec/stored-loan.ts';
import { histories, linesOf, loansOf } from './loan-histories.ts';

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
    it(`are stored after each command as when written from scratch: ${history.title}`, () => {
      const [first, ...rest] = loansOf(history);
      if (first === undefined) throw new Error('There is no loan');
      let stored: EncodedLoan = { loan: first, text: Buffer.from(encodeLoan(first)) };
      for (const loan of rest) {
        const text = encodeLoanAfter(stored, loan);
        expect(text.toString()).to.equal(encodeLoan(loan));
        stored = { loan, text };
      }
      expect(encodeLoan(decodeLoan(stored.text.toString()))).to.equal(stored.text.toString());
    });
  }
});
