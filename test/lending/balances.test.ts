import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../src/lending/balances.ts';
import {
  create,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  money,
  overpay,
  product,
  repay,
  when,
} from './loan-fixtures.ts';

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

describe('the payment positions of an account', () => {
  const fixed = disbursed();
  // Rows of 315.47, due on the 23rd of February, March, April and May 2011.
  for (const [what, story, expected] of [
    ['nothing on the day of the disbursement', fixed, ['0.00', '0.00']],
    ['what was paid before it was due', when(fixed, repay(100, '2011-02-10')), ['100.00', '0.00']],
    ['nothing ahead for the row that is due today', when(fixed, repay('315.47', '2011-02-23')), ['0.00', '0.00']],
    ['what the late rows still owe', when(fixed, repay(100, '2011-04-01')), ['0.00', '530.94']],
    ['what is left of a late row', when(fixed, repay(100, '2011-02-24')), ['0.00', '215.47']],
    [
      'nothing ahead for principal that pays no row',
      when(disbursed(dynamicProduct()), overpay(100, '2011-01-24')),
      ['0.00', '0.00'],
    ],
  ] as const) {
    it(`are ${what}`, () => {
      const { advance, arrears } = figuresOf(loanOf(story));
      expect([advance.toFixed(2), arrears.toFixed(2)]).to.deep.equal(expected);
      const { advancePositionAfter, arrearsPositionAfter } = story.transactions.at(-1) ?? expect.fail();
      const kept = [advancePositionAfter, arrearsPositionAfter].map((amount) => amount?.toFixed(2) ?? '0.00');
      expect(kept).to.deep.equal(expected);
    });
  }

  it('are nothing before the disbursement', () => {
    const { advance, arrears } = figuresOf(loanOf(given(create(product()))));
    expect([advance, arrears].map((amount) => amount.isZero())).to.deep.equal([true, true]);
  });
});
