import { expect } from 'chai';
import { describe, it } from 'mocha';
import { balanceNames, balancesOf, feeBalancesOf, figuresOf } from '../../src/lending/balances.ts';
import { type Toggles, allTogglesOff } from '../../src/lending/toggle-names.ts';
import {
  applyFee,
  disbursed,
  dynamicProduct,
  fee,
  loanOf,
  money,
  product,
  repay,
  texts,
  under,
  when,
} from './loan-fixtures.ts';

const withOutside = product({ feesSettings: { fees: [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })] } });
const fifty = when(disbursed(withOutside), applyFee(50, { installmentNumber: 1 }));
const on: Toggles = { ...allTogglesOff, ALLOW_NON_SCHEDULED_FEES: true };
const twenty = when(fifty, repay(20, '2011-01-23'));
const story = when(under(on, twenty), applyFee(15, { predefinedFeeKey: 'outside' }));

describe('the computed amounts of a position', () => {
  it('are cached for a product and terms, and computed again for others', () => {
    const loan = loanOf(disbursed(dynamicProduct()));
    const figures = figuresOf(loan);
    expect(figuresOf(loan)).to.equal(figures);
    const fixed = { ...loan, product: { ...loan.product, type: 'FIXED_TERM_LOAN' as const } };
    const owed = [loan, fixed, loan].map((each) => figuresOf(each).interest.balance.toFixed(2));
    expect(owed).to.deep.equal(['0.00', '29.17', '0.00']);
    const again = figuresOf({ ...loan, terms: { ...loan.terms } });
    expect([again === figures, again]).to.deep.equal([false, figures]);
  });
});

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

  it('include planned fees in the due amount from their due date on', () => {
    const each = product({
      feesSettings: {
        fees: [fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(10), feeApplication: 'REQUIRED' })],
      },
    });
    expect(figuresOf(loanOf(disbursed(each))).fees.due.toFixed(2)).to.equal('0.00');
    const later = figuresOf(loanOf(when(disbursed(each), repay(1, '2011-03-23')))).fees;
    expect([later.due.toFixed(2), later.balance.toFixed(2)]).to.deep.equal(['19.00', '39.00']);
  });
});
