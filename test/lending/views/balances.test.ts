import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import { type Toggles, allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { balanceNames, balancesOf, feeBalancesOf } from '../../../src/lending/views/balances.ts';
import { applyFee, disbursed, fee, loanOf, money, product, repay, texts, under, when } from '../loan-fixtures.ts';

const withOutside = product({ feesSettings: { fees: [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })] } });
const fifty = when(disbursed(withOutside), applyFee(50, { installmentNumber: 1 }));
const on: Toggles = { ...allTogglesOff, ALLOW_NON_SCHEDULED_FEES: true };
const twenty = when(fifty, repay(20, '2011-01-23'));
const story = when(under(on, twenty), applyFee(15, { predefinedFeeKey: 'outside' }));

describe('the balances of a loan', () => {
  it('use the plain names of fee balances while ALLOW_NON_SCHEDULED_FEES is off', () => {
    expect(texts(feeBalancesOf(figuresOf(loanOf(twenty)), allTogglesOff))).to.deep.equal({
      feesDue: '30.00',
      feesPaid: '20.00',
      feesBalance: '30.00',
    });
    expect(
      Object.keys(balancesOf(loanOf(twenty), allTogglesOff)).filter((name) => /scheduled/i.test(name)),
    ).to.deep.equal([]);
  });

  it('still include a fee outside the schedule when the toggle is switched off again', () => {
    const outside = { customPaymentAmountType: 'NON_SCHEDULED_FEE' as const, amount: money(15) };
    const paid = when(under(allTogglesOff, story), repay(15, '2011-01-23', { customPaymentAmounts: [outside] }));
    const shown = [story, paid].map((at) => texts(feeBalancesOf(figuresOf(loanOf(at)), allTogglesOff)));
    const plain = { feesDue: '30.00', feesPaid: '20.00', feesBalance: '30.00' };
    expect(shown).to.deep.equal([
      { ...plain, nonScheduledFeeBalance: '15.00', nonScheduledFeePaidBalance: '0.00' },
      { ...plain, nonScheduledFeeBalance: '0.00', nonScheduledFeePaidBalance: '15.00' },
    ]);
  });

  it('use the scheduled names and include fees outside the schedule while it is on', () => {
    expect(texts(feeBalancesOf(figuresOf(loanOf(story)), on))).to.deep.equal({
      scheduledFeesDue: '30.00',
      scheduledFeesPaid: '20.00',
      scheduledFeesBalance: '30.00',
      nonScheduledFeeBalance: '15.00',
      nonScheduledFeePaidBalance: '0.00',
    });
    expect(Object.keys(balancesOf(loanOf(story), on)).filter((name) => name.startsWith('fees'))).to.deep.equal([]);
  });

  it('have only names of the list of balance names', () => {
    for (const toggles of [allTogglesOff, on])
      expect(balanceNames).to.include.members(Object.keys(balancesOf(loanOf(story), toggles)));
  });
});
