import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../src/lending/balances.ts';
import { disbursed, dynamicProduct, fee, loanOf, money, product, repay, when } from './loan-fixtures.ts';

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

  it('include planned fees in what is due from their due date on', () => {
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
