import { expect } from 'chai';
import { describe, it } from 'mocha';
import { adjust, applyPenalty, disbursed, loanOf, overpay, reasons, repay, when } from '../loan-fixtures.ts';

const paidTwice = when(when(disbursed(), repay(100, '2011-02-23')), repay(200, '2011-02-24'));

describe('adjusting a transaction', () => {
  it('reopens a loan that the repayment closed', () => {
    const start = disbursed();
    const reopened = when(when(start, repay('1261.88', '2011-02-23')), adjust(2));
    expect(loanOf(reopened).position).to.deep.equal(loanOf(start).position);
    expect(reopened.events.at(-1)).to.include({
      eventType: 'loan_state_changed',
      name: 'loan_reopened',
      accountState: 'ACTIVE',
    });
  });

  it('reverses a disbursement, after which the approved account can be disbursed again', () => {
    const start = disbursed();
    const back = when(start, adjust(1));
    const { accountState, disbursements, installments } = loanOf(back).position;
    expect({ accountState, disbursements, installments }).to.deep.equal({
      accountState: 'APPROVED',
      disbursements: [],
      installments: [],
    });
    expect(back.events.at(-1)).to.include({ name: 'loan_deactivated' });
    expect(back.transactions.at(-1)?.type).to.equal('DISBURSEMENT_ADJUSTMENT');
    expect(when(back, { type: 'DISBURSE', valueDate: '2011-01-25', fees: [] }).outcome).to.equal('committed');
  });

  it('reverses step by step, the last transaction first', () => {
    expect(reasons(when(paidTwice, adjust(2)))).to.deep.equal([
      'NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE transactionId',
    ]);
    const back = when(when(paidTwice, adjust(3)), adjust(2));
    expect(loanOf(back).position).to.deep.equal(loanOf(disbursed()).position);
  });

  it('negates the reversed amounts', () => {
    const adjustment = when(paidTwice, adjust(3)).transactions.at(-1);
    expect(adjustment?.amount.toFixed(2)).to.equal('-200.00');
    expect(adjustment?.affected.principal.toFixed(2)).to.equal('-200.00');
  });

  it('names each adjustment after its transaction', () => {
    const table = [
      [applyPenalty(1), 'PENALTY_ADJUSTMENT'],
      [overpay(1, '2011-01-23'), 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'],
      [
        { type: 'APPLY_FEE', amount: loanOf(disbursed()).loanAmount, installmentNumber: 1, valueDate: '2011-01-23' },
        'FEE_ADJUSTMENT',
      ],
    ] as const;
    for (const [command, type] of table) {
      expect(when(when(disbursed(), command), adjust(2)).transactions.at(-1)?.type).to.equal(type);
    }
  });

  it('is refused for an unknown transaction, an adjustment, and a second time', () => {
    const once = when(paidTwice, adjust(3));
    expect(reasons(when(once, adjust(9)))).to.deep.equal(['INVALID_TRANSACTION_ID transactionId']);
    expect(reasons(when(once, adjust(4)))).to.deep.equal(['TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT transactionId']);
    expect(reasons(when(once, adjust(3)))).to.deep.equal(['TRANSACTION_ALREADY_ADJUSTED transactionId']);
  });
});
