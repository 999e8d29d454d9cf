import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { recordBytesMaximum } from '../../src/ports/event-log.ts';
import { encodeLoan, encodeTransaction } from '../../src/lending/codec/stored-loan.ts';
import type { Loan } from '../../src/lending/loan.ts';
import { type LoanDraft, draftOf, finishDraft } from '../../src/worker/loan-draft.ts';
import { anyStart, anySteps, walk } from '../lending/loan-arbitraries.ts';
import { adjust, applyFee, disbursed, loanOf, repay, when } from '../lending/loan-fixtures.ts';

function drafted(loan: Loan, before: LoanDraft): LoanDraft {
  const draft = draftOf(loan, before);
  expect(draft.bytesUpperBound, 'the bound').to.be.at.least(Buffer.byteLength(encodeLoan(loan)));
  return draft;
}

const withNotes = (loan: Loan, notes: string): Loan => ({
  ...loan,
  transactions: loan.transactions.map((transaction) => ({ ...transaction, notes })),
});

describe('the draft of a loan', () => {
  it('is written like the loan itself, however many commands and commits led to it', () => {
    fc.assert(
      fc.property(anyStart, anySteps, fc.array(fc.boolean(), { maxLength: 9 }), (start, steps, commits) => {
        let story = start;
        let draft = draftOf(loanOf(story), null);
        for (const [index, step] of steps.entries()) {
          story = walk(story, step);
          draft = drafted(loanOf(story), draft);
          if (commits[index] !== true) continue;
          const committed = finishDraft(draft);
          expect(committed.text.toString()).to.equal(encodeLoan(loanOf(story)));
          draft = draftOf(committed.loan, committed);
        }
        expect(finishDraft(draft).text.toString()).to.equal(encodeLoan(loanOf(story)));
      }),
      { numRuns: 50 },
    );
  });

  it('is written again where an adjustment changed an earlier transaction', () => {
    const paid = when(when(disbursed(), applyFee(5, { installmentNumber: 2 })), repay(10, '2011-02-23'));
    const committed = finishDraft(draftOf(loanOf(paid), null));
    const adjusted = loanOf(when(paid, adjust(3)));
    expect(finishDraft(draftOf(adjusted, committed)).text.toString()).to.equal(encodeLoan(adjusted));
  });

  it('is the earlier text when nothing changed', () => {
    const draft = draftOf(loanOf(disbursed()), null);
    expect(finishDraft(draft).text).to.equal(draft.earlier.text);
  });

  it('has an upper bound of its size: for each changed row, charge and transaction, and for the rest', () => {
    const opened = disbursed();
    const start = loanOf(opened);
    const before = draftOf(start, null);
    const growth = (story: ReturnType<typeof when>): number =>
      draftOf(loanOf(story), before).bytesUpperBound - before.bytesUpperBound;
    const [rest, row, charge, extra] = [4_096, 2_048, 4_096, 128];
    const transactions = (story: ReturnType<typeof when>): number =>
      loanOf(story)
        .transactions.filter((each, index) => each !== start.transactions[index])
        .reduce((sum, each) => sum + Buffer.byteLength(encodeTransaction(each)) + extra, 0);
    const first = when(opened, repay(10, '2011-02-23', { notes: 'ü'.repeat(10_000) }));
    expect(growth(first)).to.equal(rest + row + transactions(first));
    const second = when(opened, applyFee(5, { installmentNumber: 2 }));
    expect(growth(second)).to.equal(rest + row + charge + transactions(second));
    const third = when(second, applyFee(5, { installmentNumber: 3 }));
    expect(growth(third)).to.equal(rest + 2 * (row + charge) + transactions(third));
  });

  it('is refused where the record would not fit the log, and its predecessor stays unchanged', () => {
    const before = draftOf(loanOf(disbursed()), null);
    const large = withNotes(before.loan, 'n'.repeat(recordBytesMaximum));
    expect(() => draftOf(large, null)).to.throw(/more than the log accepts/);
    expect(() =>
      draftOf(loanOf(when({ ...disbursed(), loan: large }, applyFee(5, { installmentNumber: 2 }))), before),
    ).to.throw(/more than the log accepts/);
    expect(finishDraft(before).text.toString()).to.equal(encodeLoan(before.loan));
  });

  it('is written immediately where only the size estimate would not fit, and continues from there', () => {
    const half = withNotes(loanOf(disbursed()), 'n'.repeat(recordBytesMaximum - 9_000));
    const next = loanOf(when({ ...disbursed(), loan: half }, applyFee(5, { installmentNumber: 2 })));
    const draft = draftOf(next, draftOf(half, null));
    expect(draft.earlier.loan).to.equal(next);
    expect(draft.bytesUpperBound).to.equal(Buffer.byteLength(encodeLoan(next)));
  });
});
