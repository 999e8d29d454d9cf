import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  type AskedCommand,
  adjust,
  applyFee,
  applyPenalty,
  approve,
  create,
  disburse,
  disbursed,
  given,
  overpay,
  payOff,
  product,
  reasons,
  repay,
  when,
} from '../loan-fixtures.ts';

describe('deciding', () => {
  const commands = [
    approve,
    disburse('2011-01-23'),
    repay(1, '2011-01-23'),
    applyFee(1),
    applyPenalty(1),
    overpay(1, '2011-01-23'),
    adjust(1),
  ];
  for (const command of commands) {
    it(`refuses ${command.type} on an account that does not exist`, () => {
      expect(reasons(given(command))).to.deep.equal(['INVALID_LOAN_ACCOUNT_ID loanAccountId']);
    });
  }

  it('refuses to open an account twice', () => {
    const opened = given(create(product()));
    expect(reasons(when(opened, create(product())))).to.deep.equal(['LOAN_ACCOUNT_ID_ALREADY_IN_USE id']);
  });

  describe('the externalId of a transaction', () => {
    const paid = when(disbursed(), repay(100, '2011-02-10', { externalId: 'bank-1' }));
    const taken = ['EXTERNAL_ID_ALREADY_EXISTS externalId'];

    for (const command of [
      repay(100, '2011-02-10', { externalId: 'bank-1' }),
      applyFee(1, { externalId: 'bank-1', installmentNumber: 1 }),
      applyPenalty(1, { externalId: 'bank-1' }),
      overpay(1, '2011-02-10', { externalId: 'bank-1' }),
      { ...payOff('2011-02-23'), externalId: 'bank-1' } as AskedCommand,
      // It would take back the transaction that has it, and post it again.
      repay(1, '2011-02-01', { externalId: 'bank-1' }),
    ]) {
      it(`is refused to ${command.type} when another transaction has it`, () => {
        const refused = when(paid, command);
        expect(reasons(refused)).to.deep.equal(taken);
        expect(refused.loan).to.equal(paid.loan);
      });
    }

    it('is free again when the transaction is adjusted', () => {
      const again = when(when(paid, adjust(2)), repay(90, '2011-02-10', { externalId: 'bank-1' }));
      expect(again.outcome, reasons(again).join()).to.equal('committed');
      expect(reasons(when(again, repay(1, '2011-02-10', { externalId: 'bank-1' })))).to.deep.equal(taken);
    });

    it('stays with a transaction that is posted again behind an earlier one', () => {
      const before = when(paid, repay(1, '2011-02-01', { externalId: 'bank-2' }));
      expect(before.outcome, reasons(before).join()).to.equal('committed');
      const standing = before.transactions.filter(({ adjustmentTransactionKey }) => adjustmentTransactionKey === null);
      expect(standing.map(({ externalId }) => externalId)).to.deep.equal([null, null, 'bank-2', 'bank-1']);
      for (const externalId of ['bank-1', 'bank-2']) {
        expect(reasons(when(before, repay(1, '2011-02-10', { externalId })))).to.deep.equal(taken);
      }
    });

    it('is another one when it is written in other letters', () => {
      expect(when(paid, repay(1, '2011-02-10', { externalId: 'BANK-1' })).outcome).to.equal('committed');
    });
  });
});
