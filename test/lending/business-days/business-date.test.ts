import { expect } from 'chai';
import { describe, it } from 'mocha';
import { atBusinessDate } from '../../../src/lending/business-days/business-date.ts';
import { figuresOf } from '../../../src/lending/balances.ts';
import { disbursed, dynamicProduct, loanOf } from '../loan-fixtures.ts';

describe('an account at its business date', () => {
  it('owes the interest that it has earned by then, although its last transaction was earlier', () => {
    const loan = loanOf(disbursed(dynamicProduct()));
    const later = atBusinessDate({ ...loan, businessDate: '2011-02-23' });
    expect(figuresOf(later).interest.due.toFixed()).to.equal('8.33');
    expect(later.position.asOf).to.equal('2011-02-23');
    expect(loan.position.asOf).to.equal('2011-01-23');
  });

  it('is as it is stored without a business date, or with one before its last transaction', () => {
    const loan = loanOf(disbursed(dynamicProduct()));
    expect(atBusinessDate(loan)).to.equal(loan);
    const earlier = { ...loan, businessDate: '2011-01-22' };
    expect(atBusinessDate(earlier)).to.equal(earlier);
  });
});
