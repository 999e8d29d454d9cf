import { expect } from 'chai';
import { describe, it } from 'mocha';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import { approve, create, disbursed, given, loanOf, product, repay, when } from '../loan-fixtures.ts';

describe('the next business date', () => {
  it('is that of the next due date, then the day after, then of the next due date again', () => {
    const loan = loanOf(disbursed());
    const dates: (string | null)[] = [];
    let businessDate: string | null = null;
    for (let count = 0; count < 9; count += 1) {
      businessDate = nextBusinessDate({ ...loan, businessDate });
      dates.push(businessDate);
    }
    expect(dates.slice(0, 8)).to.deep.equal([
      '2011-02-23',
      '2011-02-24',
      '2011-03-23',
      '2011-03-24',
      '2011-04-23',
      '2011-04-24',
      '2011-05-23',
      '2011-05-24',
    ]);
    expect(dates[8]).to.equal(null);
  });

  it('has the end of the tolerated days too', () => {
    const loan = { ...loanOf(disbursed()), arrearsTolerancePeriod: 5 };
    expect(nextBusinessDate({ ...loan, businessDate: '2011-02-24' })).to.equal('2011-03-01');
  });

  it('does not exist before the disbursement, and once the loan is closed', () => {
    expect(nextBusinessDate(loanOf(given(create(product()), approve)))).to.equal(null);
    expect(nextBusinessDate(loanOf(when(disbursed(), repay('1261.88', '2011-02-01'))))).to.equal(null);
  });
});
