import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import {
  isSettled,
  noSettledFees,
  withSettledFees,
  withoutSettledFees,
} from '../../../src/lending/fees/settled-fees.ts';
import {
  type Story,
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
} from '../loan-fixtures.ts';

function sumsOf(story: Story): Record<string, unknown> {
  return texts({ ...loanOf(story).position.settledFees });
}

describe('fees that are paid in full', () => {
  it('are counted as paid in the schedule, outside of it, or outside the rows', () => {
    const loanProduct = product({
      feesSettings: { allowArbitraryFees: true, fees: [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })] },
    });
    const open = under({ ALLOW_NON_SCHEDULED_FEES: true }, disbursed(loanProduct));
    const outside = when(open, applyFee(7, { predefinedFeeKey: 'outside' }));
    const both = when(outside, applyFee(5, { installmentNumber: 1 }));
    expect(sumsOf(both)).to.deep.equal(texts({ ...noSettledFees }));
    const parts = [
      { customPaymentAmountType: 'NON_SCHEDULED_FEE', amount: money(7) },
      { customPaymentAmountType: 'MANUAL_FEE', amount: money(5) },
    ];
    const paid = when(both, repay(12, '2011-02-23', { customPaymentAmounts: parts }));
    expect(paid.refusals).to.deep.equal([]);
    expect(sumsOf(paid)).to.deep.equal({ paid: '5.00', nonScheduledPaid: '7.00', expectedOutsideRows: '7.00' });
    expect(loanOf(paid).position.charges).to.deep.equal([]);
    expect(figuresOf(loanOf(paid)).fees.paid.toFixed()).to.equal('5');
  });

  it('leave a loan and return to it without a trace', () => {
    const charged = when(disbursed(), applyFee(5, { installmentNumber: 1 }));
    const paid = when(charged, repay('320.47', '2011-02-23'));
    const undo = paid.transactions.at(-1)?.undo ?? expect.fail();
    const before = withSettledFees(loanOf(paid), undo);
    expect(before.position.charges.map(({ number }) => number)).to.deep.equal([1]);
    expect(before.position.settledFees).to.deep.equal(noSettledFees);
    expect(withoutSettledFees(before)).to.deep.equal(loanOf(paid));
  });

  it('leave the loan the same object when there are none', () => {
    const charged = loanOf(when(disbursed(), applyFee(5, { installmentNumber: 1 })));
    expect(withoutSettledFees(charged)).to.equal(charged);
    const undo = when(disbursed(), applyFee(5, { installmentNumber: 1 })).transactions.at(-1)?.undo ?? expect.fail();
    expect(withSettledFees(charged, undo)).to.equal(charged);
  });

  it('are not those that a dynamic loan only plans, nor those paid in part', () => {
    const story = when(disbursed(dynamicProduct()), applyFee(5));
    const loan = loanOf(story);
    const [charge = expect.fail()] = loan.position.charges;
    expect(isSettled(loan, loan.position, charge)).to.equal(false);
    const inFull = { ...charge, amount: { ...charge.amount, paid: charge.amount.expected } };
    expect(isSettled(loan, loan.position, inFull)).to.equal(true);
    expect(isSettled(loan, loan.position, { ...inFull, trigger: 'PAYMENT_DUE' })).to.equal(false);
    expect(isSettled(loan, { ...loan.position, asOf: '2011-02-23' }, { ...inFull, trigger: 'PAYMENT_DUE' })).to.equal(
      true,
    );
  });
});
