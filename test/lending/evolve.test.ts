import { expect } from 'chai';
import { describe, it } from 'mocha';
import { evolve, remember } from '../../src/lending/evolve.ts';
import { rememberedCommandsMaximum } from '../../src/lending/loan.ts';
import { disbursed, loanOf } from './loan-fixtures.ts';

const loan = loanOf(disbursed());
const [disbursement = expect.fail()] = loan.transactions;

describe('evolving a loan', () => {
  it('numbers its transactions', () => {
    const { undo: _undo, id: _id, ...transaction } = disbursement;
    const next = evolve(loan, { type: 'TRANSACTION_POSTED', transaction, position: loan.position });
    expect(next.transactions.map(({ id }) => id)).to.deep.equal(['L1-1', 'L1-2']);
  });

  it('throws on a fact that nobody can have decided', () => {
    expect(() => evolve(null, { type: 'STATE_CHANGED', action: 'APPROVE', position: loan.position })).to.throw(
      'without a loan',
    );
    expect(() =>
      evolve(loan, { type: 'TRANSACTION_ADJUSTED', originalKey: 'none', transaction: disbursement }),
    ).to.throw('nothing to undo');
  });

  it('forgets the oldest command beyond the limit', () => {
    let remembering = loan;
    for (let count = 0; count <= rememberedCommandsMaximum; count += 1) {
      remembering = remember(remembering, {
        commandId: `c${count}`,
        outcome: 'committed',
        transactionKey: null,
        refusals: [],
      });
    }
    expect(remembering.remembered).to.have.length(rememberedCommandsMaximum);
    expect(remembering.remembered[0]?.commandId).to.equal('c1');
  });
});
