import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Decimal, zero } from '../../../src/lending/money.ts';
import { levelPayment } from '../../../src/lending/schedule/level-payment.ts';
import { dueDates as datesOf } from '../../../src/lending/schedule/due-dates.ts';
import type { OpenRow } from '../../../src/lending/schedule/open-rows.ts';
import { intervals, monthlyRows, scheduleTerms } from './schedule-terms.ts';

describe('the level payment', () => {
  const actual = { interestRate: '12', daysInYear: 'ACTUAL_365_FIXED' } as const;

  it('of standard payments depends on the number of rows, not on their days', () => {
    const terms = scheduleTerms({ interest: actual });
    expect(levelPayment(terms, new Decimal(1000), monthlyRows(6)).toFixed(2)).to.equal('172.55');
    expect(levelPayment(terms, new Decimal(1000), monthlyRows(6, 5)).toFixed(2)).to.equal('172.55');
  });

  it('of optimized payments depends on the days', () => {
    const terms = scheduleTerms({ interest: actual, amortizationMethod: 'OPTIMIZED_PAYMENTS' });
    expect(levelPayment(terms, new Decimal(1000), monthlyRows(6)).toFixed(2)).to.equal('172.49');
    expect(levelPayment(terms, new Decimal(1000), monthlyRows(6, 5)).toFixed(2)).to.equal('172.60');
  });

  it('of optimized payments balances a row whose interest exceeds the payment', () => {
    const long: OpenRow = { number: 1, accruesAfter: '2020-01-01', dueDate: '2023-02-01' };
    const terms = scheduleTerms({ interest: actual, amortizationMethod: 'OPTIMIZED_PAYMENTS' });
    const rest = monthlyRows(5, 2);
    expect(levelPayment(terms, new Decimal(1000), [long, ...rest])).to.deep.equal(
      levelPayment(terms, new Decimal(1000), rest),
    );
  });

  it('of optimized payments balances several rows whose interest exceeds the payment', () => {
    const long: readonly OpenRow[] = [
      { number: 1, accruesAfter: '1980-01-01', dueDate: '2000-01-01' },
      { number: 2, accruesAfter: '2000-01-01', dueDate: '2012-01-01' },
      { number: 3, accruesAfter: '2012-01-01', dueDate: '2023-04-01' },
    ];
    const terms = scheduleTerms({ interest: actual, amortizationMethod: 'OPTIMIZED_PAYMENTS' });
    const rest = monthlyRows(5, 4);
    expect(levelPayment(terms, new Decimal(1000), [...long, ...rest])).to.deep.equal(
      levelPayment(terms, new Decimal(1000), rest),
    );
    // The last row closes the loan.
    const last: OpenRow = { number: 4, accruesAfter: '2023-04-01', dueDate: '2023-04-02' };
    expect(levelPayment(terms, new Decimal(1000), [...long, last])).to.deep.equal(
      levelPayment(terms, new Decimal(1000), [last]),
    );
  });

  it('of the maximum number of optimized payments is found quickly where interest leaves no principal', function () {
    this.timeout(10_000);
    const dueDates = intervals('DAYS', 5);
    const terms = scheduleTerms({
      dueDates,
      amortizationMethod: 'OPTIMIZED_PAYMENTS',
      interest: {
        interestRate: '3.56',
        interestChargeFrequency: 'EVERY_X_DAYS',
        interestType: 'COMPOUNDING_INTEREST',
        scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
      },
    });
    const dates = ['2019-01-05', ...datesOf(dueDates, 3_660, '2019-01-05')];
    const rows = dates
      .slice(1)
      .map((dueDate, index) => ({ number: index + 1, accruesAfter: dates[index] ?? '', dueDate }));
    // 1.0356 to the fifth power less one.
    expect(levelPayment(terms, new Decimal(1_000_000), rows).toFixed(2)).to.equal('191132.87');
  });

  it('of no rows is zero', () => {
    expect(levelPayment(scheduleTerms(), new Decimal(1000), [])).to.deep.equal(zero);
  });
});
