import { expect } from 'chai';
import { describe, it } from 'mocha';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { scheduleOf } from '../../../src/lending/views/schedules.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { transactionView } from '../../../src/lending/views/transactions.ts';
import { adjust, applyFee, disbursed, loanOf, repay, rowsOf, texts, when } from '../loan-fixtures.ts';

describe('a loan of 1000 over four equal installments at ten percent a month', () => {
  const start = disbursed();
  const charged = when(start, applyFee(50, { installmentNumber: 1 }));
  const paid = when(charged, repay('315.47', '2011-02-23'));
  const adjusted = when(paid, adjust(3));
  const paidAgain = when(adjusted, repay('315.47', '2011-02-23'));

  it('starts with the published schedule', () => {
    expect(rowsOf(loanOf(start))).to.deep.equal([
      '215.47/0.00 100.00/0.00',
      '237.02/0.00 78.45/0.00',
      '260.72/0.00 54.75/0.00',
      '286.79/0.00 28.68/0.00',
    ]);
    const rows = scheduleOf(loanOf(start), allTogglesOff).installments;
    expect(rows.map(({ number, state }) => `${number} ${state}`)).to.deep.equal([
      '1 PENDING',
      '2 PENDING',
      '3 PENDING',
      '4 PENDING',
    ]);
  });

  it('pays fee, then interest, then principal of the first installment', () => {
    expect(texts(balancesOf(loanOf(paid), allTogglesOff))).to.deep.equal({
      principalDue: '50.00',
      principalPaid: '165.47',
      principalBalance: '834.53',
      interestDue: '0.00',
      interestPaid: '100.00',
      interestBalance: '161.88',
      feesDue: '0.00',
      feesPaid: '50.00',
      feesBalance: '0.00',
      penaltyDue: '0.00',
      penaltyPaid: '0.00',
      penaltyBalance: '0.00',
    });
  });

  it('is after the adjustment as it was before the repayment', () => {
    expect(loanOf(adjusted).position).to.deep.equal(loanOf(charged).position);
    expect(balancesOf(loanOf(adjusted), allTogglesOff)).to.deep.equal(balancesOf(loanOf(charged), allTogglesOff));
    const [, , original, adjustment] = adjusted.transactions.map((transaction) =>
      transactionView(loanOf(adjusted), transaction),
    );
    expect(original?.adjustmentTransactionKey).to.equal(adjustment?.encodedKey);
    expect(adjustment?.originalTransactionKey).to.equal(original?.encodedKey);
    expect(adjustment?.type).to.equal('REPAYMENT_ADJUSTMENT');
  });

  it('accepts the repayment again', () => {
    expect(loanOf(paidAgain).position).to.deep.equal(loanOf(paid).position);
  });

  it('has events without a gap: transaction first, then fee, balance, schedule and state', () => {
    expect(
      paidAgain.events.map((event) => `${event.sequence} ${'name' in event ? event.name : event.eventType}`),
    ).to.deep.equal([
      '1 loan_created',
      '2 loan_approved',
      '3 loan_disbursed',
      '4 loan_balance_changed',
      '5 loan_schedule_changed',
      '6 loan_activated',
      '7 loan_fee_applied',
      '8 loan_fee_event',
      '9 loan_balance_changed',
      '10 loan_schedule_changed',
      '11 loan_repayment',
      '12 loan_fee_event',
      '13 loan_balance_changed',
      '14 loan_schedule_changed',
      '15 loan_repayment_reversed',
      '16 loan_fee_event',
      '17 loan_balance_changed',
      '18 loan_schedule_changed',
      '19 loan_repayment',
      '20 loan_fee_event',
      '21 loan_balance_changed',
      '22 loan_schedule_changed',
    ]);
  });
});
