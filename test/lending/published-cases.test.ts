import { expect } from 'chai';
import { describe, it } from 'mocha';
import { periodInterest } from '../../src/lending/schedule/interest.ts';
import { Decimal, roundAmount, sum } from '../../src/lending/money.ts';
import { buildSchedule } from '../../src/lending/schedule/build-schedule.ts';
import { periodicPayment } from '../../src/lending/schedule/level-payment.ts';
import { dueDates } from '../../src/lending/schedule/due-dates.ts';
import type { DaysInYear } from '../../src/lending/terms.ts';
import { publishedSchedules } from './schedule/published-schedules.ts';
import {
  amountsOf,
  euro,
  fixedDays,
  interestTerms,
  intervals,
  monthly,
  scheduleTerms,
} from './schedule/schedule-terms.ts';

describe('published schedules', () => {
  for (const published of publishedSchedules) {
    it(`match: ${published.name} (${published.source})`, () => {
      const { firstRepaymentDate } = published;
      const request = {
        terms: scheduleTerms(published.terms),
        principal: new Decimal(published.principal),
        disbursementDate: published.disbursementDate,
        ...(firstRepaymentDate === undefined ? {} : { firstRepaymentDate }),
      };
      const rows = buildSchedule(request);
      if (published.payment !== undefined) expect(periodicPayment(request).toFixed(2)).to.equal(published.payment);
      if (published.rows !== undefined) {
        expect(amountsOf(rows).slice(0, published.rows.length)).to.deep.equal(published.rows);
      }
      if (published.totalInterest !== undefined) {
        expect(sum(rows.map((row) => row.interest)).toFixed(2)).to.equal(published.totalInterest);
      }
      expect(sum(rows.map((row) => row.principal)).equals(published.principal)).to.equal(true);
    });
  }

  it('match the interest of one year of a mortgage to a few cents (CUMIPMT of Excel: 11135.23 in year two)', () => {
    const terms = scheduleTerms({ repaymentInstallments: 360, interest: { interestRate: '9' } });
    const rows = buildSchedule({ terms, principal: new Decimal(125_000), disbursementDate: '2024-01-01' });
    const secondYear = sum(rows.slice(12, 24).map((row) => row.interest));
    expect(secondYear.minus('11135.23').abs().toNumber()).to.be.at.most(0.06);
  });

  it('match to a cent where the rate is printed with two decimals (Regulation Z, appendix J, example (c)(1)(i))', () => {
    const terms = scheduleTerms({ repaymentInstallments: 24, interest: { interestRate: '9.69' } });
    const payment = periodicPayment({ terms, principal: new Decimal(5000), disbursementDate: '1978-01-10' });
    expect(payment.minus(230).abs().toNumber()).to.be.at.most(0.01);
  });
});

describe('published due dates', () => {
  const user = 'figures of the lending API user guide as restated in the tests of a public banking platform';

  it(`match: the 1st and 15th of each month (${user})`, () => {
    const dates = dueDates(fixedDays([1, 15]), 4, '2026-01-12');
    expect(dates).to.deep.equal(['2026-01-15', '2026-02-01', '2026-02-15', '2026-03-01']);
  });

  it(`match: a first repayment ten days late (${user})`, () => {
    const dates = dueDates(intervals('MONTHS', 1, 10), 3, '2026-01-12');
    expect(dates).to.deep.equal(['2026-02-22', '2026-03-22', '2026-04-22']);
  });
});

describe('published interest of a number of days', () => {
  const cases: readonly [DaysInYear, string, string, string, string, string][] = [
    ['ACTUAL_360', '1000', '10', '2023-02-01', '2023-03-01', '7.78'],
    ['ACTUAL_360', '1000', '10', '2023-01-01', '2023-02-01', '8.61'],
    ['ACTUAL_365_FIXED', '1000', '10', '2023-04-01', '2023-05-01', '8.22'],
    ['ACTUAL_365_FIXED', '1000', '10', '2023-01-01', '2023-02-01', '8.49'],
    ['E30_360', '101000', '12', '2026-02-12', '2026-02-20', '269.33'],
  ];
  for (const [daysInYear, principal, interestRate, accruesAfter, dueDate, interest] of cases) {
    it(`matches: ${principal} at ${interestRate} %, ${daysInYear}, ${accruesAfter} to ${dueDate}`, () => {
      const terms = { interest: interestTerms({ interestRate, daysInYear }), dueDates: monthly };
      const exact = periodInterest(new Decimal(principal), terms, { accruesAfter, dueDate });
      expect(roundAmount(exact, euro).toFixed(2)).to.equal(interest);
    });
  }
});
