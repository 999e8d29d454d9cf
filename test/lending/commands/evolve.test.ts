import { expect } from 'chai';
import { describe, it } from 'mocha';
import { evolve } from '../../../src/lending/commands/evolve.ts';
import { disbursed, loanOf } from '../loan-fixtures.ts';

const loan = loanOf(disbursed());
const [disbursement = expect.fail()] = loan.transactions;

describe('applying a decision to a loan', () => {
  it('numbers its transactions', () => {
    const { undo: _undo, id: _id, ...transaction } = disbursement;
    const next = evolve(loan, { type: 'TRANSACTION_POSTED', transaction, position: loan.position });
    expect(next.transactions.map(({ id }) => id)).to.deep.equal(['L1-1', 'L1-2']);
  });

  it('throws on a fact that cannot result from a decision', () => {
    expect(() => evolve(null, { type: 'STATE_CHANGED', action: 'APPROVE', position: loan.position })).to.throw(
      'without a loan',
    );
    expect(() =>
      evolve(loan, { type: 'TRANSACTION_ADJUSTED', originalKey: 'none', transaction: disbursement }),
    ).to.throw('nothing to undo');
  });
});
