import { expect } from 'chai';
import { describe, it } from 'mocha';
import { evolve } from '../../../src/lending/commands/evolve.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { disbursed, loanOf } from '../loan-fixtures.ts';

const story = disbursed();
const loan = loanOf(story);
const [disbursement = expect.fail()] = story.transactions;

describe('applying a decision to a loan', () => {
  it('numbers its transactions', () => {
    const { undo: _undo, id: _id, ...transaction } = disbursement;
    const next = evolve(loan, { type: 'TRANSACTION_POSTED', transaction, position: loan.position }, alwaysOpen);
    expect(next.transactions.map(({ id }) => id)).to.deep.equal(['L1-2']);
    expect(next.loan.transactionCount).to.equal(2);
  });

  it('names the one transaction that can be adjusted, and after its adjustment the one before', () => {
    const { undo: _undo, id: _id, ...posted } = disbursement;
    const transaction = { ...posted, encodedKey: 'second' };
    const next = evolve(loan, { type: 'TRANSACTION_POSTED', transaction, position: loan.position }, alwaysOpen);
    const [original = expect.fail()] = next.transactions;
    expect(next.loan.adjustableTransactionKey).to.equal('second');
    expect(original.previousAdjustableKey).to.equal(disbursement.encodedKey);
    const adjustment = { ...posted, encodedKey: 'third', type: 'DISBURSEMENT_ADJUSTMENT' as const };
    const back = evolve(next.loan, { type: 'TRANSACTION_ADJUSTED', original, transaction: adjustment }, alwaysOpen);
    expect(back.loan.adjustableTransactionKey).to.equal(disbursement.encodedKey);
    expect(back.loan.transactionCount).to.equal(3);
    expect(back.transactions.map(({ id, undo }) => [id, undo])).to.deep.equal([
      ['L1-2', null],
      ['L1-3', null],
    ]);
    expect(back.transactions[0]?.adjustmentTransactionKey).to.equal('third');
  });

  it('throws on a fact that cannot result from a decision', () => {
    expect(() =>
      evolve(null, { type: 'STATE_CHANGED', eventName: 'loan_approved', position: loan.position }, alwaysOpen),
    ).to.throw('without a loan');
    expect(() =>
      evolve(
        loan,
        {
          type: 'TRANSACTION_ADJUSTED',
          original: { ...disbursement, undo: null },
          transaction: disbursement,
        },
        alwaysOpen,
      ),
    ).to.throw('nothing to undo');
  });
});
