import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { feeBalancesOf } from '../../../src/lending/views/fee-balance-names.ts';
import { loanOf, money, repay, texts, under, when } from '../loan-fixtures.ts';
import { feeOutsideApplied, feePartlyPaid, withFeesOutside } from './fees-outside-schedule.ts';

describe('the names of fee balances', () => {
  it('use the plain names of fee balances while ALLOW_NON_SCHEDULED_FEES is off', () => {
    expect(texts(feeBalancesOf(figuresOf(loanOf(feePartlyPaid)), allTogglesOff))).to.deep.equal({
      feesDue: '30.00',
      feesPaid: '20.00',
      feesBalance: '30.00',
    });
    expect(
      Object.keys(balancesOf(loanOf(feePartlyPaid), allTogglesOff)).filter((name) => /scheduled/i.test(name)),
    ).to.deep.equal([]);
  });

  it('still include a fee outside the schedule when the toggle is switched off again', () => {
    const outside = { customPaymentAmountType: 'NON_SCHEDULED_FEE' as const, amount: money(15) };
    const paid = when(
      under(allTogglesOff, feeOutsideApplied),
      repay(15, '2011-01-23', { customPaymentAmounts: [outside] }),
    );
    const shown = [feeOutsideApplied, paid].map((at) => texts(feeBalancesOf(figuresOf(loanOf(at)), allTogglesOff)));
    const plain = { feesDue: '30.00', feesPaid: '20.00', feesBalance: '30.00' };
    expect(shown).to.deep.equal([
      { ...plain, nonScheduledFeeBalance: '15.00', nonScheduledFeePaidBalance: '0.00' },
      { ...plain, nonScheduledFeeBalance: '0.00', nonScheduledFeePaidBalance: '15.00' },
    ]);
  });

  it('use the scheduled names and include fees outside the schedule while it is on', () => {
    expect(texts(feeBalancesOf(figuresOf(loanOf(feeOutsideApplied)), withFeesOutside))).to.deep.equal({
      scheduledFeesDue: '30.00',
      scheduledFeesPaid: '20.00',
      scheduledFeesBalance: '30.00',
      nonScheduledFeeBalance: '15.00',
      nonScheduledFeePaidBalance: '0.00',
    });
    expect(
      Object.keys(balancesOf(loanOf(feeOutsideApplied), withFeesOutside)).filter((name) => name.startsWith('fees')),
    ).to.deep.equal([]);
  });
});
