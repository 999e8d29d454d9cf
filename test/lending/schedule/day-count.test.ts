import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { addDays } from '../../../src/lending/dates.ts';
import {
  countedDays,
  countsThirtyDayMonths,
  days30E360,
  days30E360Isda,
  daysPerYear,
  elapsedYears,
  nominalYears,
  regularPeriodYears,
  yearFraction,
} from '../../../src/lending/schedule/day-count.ts';
import { addFractions, fraction } from '../../../src/lending/schedule/fraction.ts';
import { dueDates } from '../../../src/lending/schedule/due-dates.ts';
import type { DueDateTerms, LocalDate } from '../../../src/lending/terms.ts';
import { everyDaysInYear, fixedDays, interestTerms, intervals, monthly } from './schedule-terms.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

/** https://www.isda.org/2008/12/22/30-360-day-count-conventions/ */
const eurobond: readonly [LocalDate, LocalDate, number][] = [
  ['2006-02-28', '2006-08-31', 182],
  ['2006-08-31', '2007-02-28', 178],
  ['2007-08-31', '2008-02-29', 179],
  ['2008-02-29', '2008-08-31', 181],
  ['2006-01-31', '2006-02-28', 28],
  ['2006-02-28', '2006-03-03', 5],
  ['2006-09-30', '2006-10-31', 30],
  ['2007-02-26', '2008-02-29', 363],
  ['2008-02-29', '2009-02-28', 359],
  ['2008-02-28', '2008-03-31', 32],
];

/** As above, by termination date. */
const isda: readonly [LocalDate, LocalDate, LocalDate, number][] = [
  ['2012-02-29', '2006-02-28', '2006-08-31', 180],
  ['2012-02-29', '2006-08-31', '2007-02-28', 180],
  ['2012-02-29', '2007-02-28', '2007-08-31', 180],
  ['2012-02-29', '2007-08-31', '2008-02-29', 180],
  ['2012-02-29', '2008-02-29', '2008-08-31', 180],
  ['2012-02-29', '2011-08-31', '2012-02-29', 179],
  ['2008-02-29', '2006-01-31', '2006-02-28', 30],
  ['2008-02-29', '2006-02-28', '2006-03-03', 3],
  ['2008-02-29', '2006-02-14', '2006-02-28', 16],
  ['2008-02-29', '2006-09-30', '2006-10-31', 30],
  ['2008-02-29', '2006-10-31', '2006-11-28', 28],
  ['2008-02-29', '2007-08-31', '2008-02-28', 178],
  ['2008-02-29', '2008-02-28', '2008-08-28', 180],
  ['2008-02-29', '2008-02-28', '2008-08-31', 182],
  ['2008-02-29', '2007-02-28', '2008-02-28', 358],
  ['2008-02-29', '2007-02-28', '2008-02-29', 359],
  ['2008-02-29', '2008-02-29', '2009-02-28', 360],
  ['2008-02-29', '2008-02-29', '2008-03-31', 30],
];

/** ISDA, EMU and Market Conventions (1999), as carried by QuantLib's day counter tests. */
const actualActual: readonly [LocalDate, LocalDate, string][] = [
  ['2003-11-01', '2004-05-01', '0.497724380567'],
  ['1999-02-01', '1999-07-01', '0.410958904110'],
  ['1999-07-01', '2000-07-01', '1.001377348600'],
  ['2002-08-15', '2003-07-15', '0.915068493151'],
  ['2003-07-15', '2004-01-15', '0.504004790778'],
  ['1999-07-30', '2000-01-30', '0.503892506924'],
  ['2000-01-30', '2000-06-30', '0.415300546448'],
];

describe('the day count', () => {
  for (const [from, to, days] of eurobond) {
    it(`30E/360 counts ${days} days from ${from} to ${to}`, () => {
      expect(days30E360(from, to)).to.equal(days);
    });
  }

  for (const [terminationDate, from, to, days] of isda) {
    it(`30E/360 (ISDA) counts ${days} days from ${from} to ${to} when the loan ends on ${terminationDate}`, () => {
      expect(days30E360Isda(from, to, terminationDate)).to.equal(days);
    });
  }

  it('30E/360 (ISDA) counts thirty days for the last February of a loan, like for any other month', () => {
    expect(days30E360Isda('2012-01-31', '2012-02-29')).to.equal(30);
    expect(countedDays('E30_360', '2012-01-29', '2012-02-29')).to.equal(31);
  });

  for (const [from, to, years] of actualActual) {
    it(`ACT/ACT (ISDA) computes ${years} of a year from ${from} to ${to}`, () => {
      const { numerator, denominator } = yearFraction('ACTUAL_ACTUAL_ISDA', from, to);
      expect(numerator / denominator).to.be.closeTo(Number(years), 1e-11);
    });
  }

  it('ACT/ACT (ISDA) divides each day by the length of the year in which it begins (APP-I-1332)', () => {
    const periods: readonly [LocalDate, LocalDate, number, number][] = [
      ['2019-01-01', '2019-02-01', 31, 365],
      ['2019-02-01', '2019-03-01', 28, 365],
      ['2020-01-01', '2020-02-01', 31, 366],
      ['2020-02-01', '2020-03-01', 29, 366],
      ['2019-12-31', '2020-01-01', 1, 365],
      ['2020-12-31', '2021-01-01', 1, 366],
    ];
    for (const [from, to, days, year] of periods) {
      const { numerator, denominator } = yearFraction('ACTUAL_ACTUAL_ISDA', from, to);
      expect(numerator * year, `${from} to ${to}`).to.equal(days * denominator);
    }
  });

  it('counts the leap day where the calendar has it', () => {
    const fractions = everyDaysInYear.map((convention) => yearFraction(convention, '2024-02-01', '2024-03-01'));
    expect(fractions.map(({ numerator, denominator }) => `${numerator}/${denominator}`)).to.deep.equal([
      '29/365',
      '29/364',
      '29/360',
      '29/366',
      '1/12',
      '6/73',
    ]);
  });

  it('has a year of days for every convention', () => {
    expect(everyDaysInYear.map((convention) => daysPerYear[convention])).to.deep.equal([365, 364, 360, 365, 360, 365]);
    expect(everyDaysInYear.filter(countsThirtyDayMonths)).to.deep.equal(['E30_360', 'E30_42_365']);
  });

  it('returns the same total for the parts of a period as for the whole, wherever it is split', () => {
    const days = fc.integer({ min: 0, max: 1500 });
    fc.assert(
      fc.property(fc.constantFrom(...everyDaysInYear), days, days, days, (convention, start, first, second) => {
        const from = addDays('2019-01-01', start);
        const middle = addDays(from, first);
        const to = addDays(middle, second);
        const parts = addFractions(yearFraction(convention, from, middle), yearFraction(convention, middle, to));
        expect(parts).to.deep.equal(yearFraction(convention, from, to));
      }),
    );
  });
});

const cases: readonly [string, DueDateTerms, LocalDate, LocalDate, string][] = [
  ['a month', monthly, '2023-01-15', '2023-02-15', '1/12'],
  ['a month clamped at its end', monthly, '2023-01-31', '2023-02-28', '1/12'],
  ['a month from a clamped end back to its anchor', monthly, '2023-02-28', '2023-03-31', '1/12'],
  ['a quarter', intervals('MONTHS', 3), '2023-11-30', '2024-02-29', '1/4'],
  ['a year', intervals('YEARS'), '2024-02-29', '2025-02-28', '1/1'],
  ['a month and ten days', monthly, '2023-01-12', '2023-02-22', '1/9'],
  ['less than a month', monthly, '2023-01-12', '2023-02-02', '1/18'],
  ['two weeks', intervals('WEEKS', 2), '2023-01-01', '2023-01-15', '1/26'],
  ['six days, which are no week', intervals('WEEKS', 1), '2023-01-01', '2023-01-07', '1/60'],
  ['six weeks', intervals('WEEKS', 6), '2023-01-01', '2023-02-12', '3/26'],
  ['ten days of 360', intervals('DAYS', 10), '2023-01-25', '2023-02-04', '1/36'],
  ['half a month between two listed days', fixedDays([1, 15]), '2023-02-01', '2023-02-15', '1/24'],
  ['half a month over a month end', fixedDays([1, 15]), '2023-02-15', '2023-03-01', '1/24'],
  ['days up to a listed day', fixedDays([1, 15]), '2023-01-12', '2023-01-15', '1/120'],
  ['days up to a listed day, and a step', fixedDays([1, 15]), '2023-01-12', '2023-02-01', '1/20'],
  ['days without a listed day', fixedDays([15]), '2023-01-16', '2023-01-25', '1/40'],
  ['a February between two coinciding listed days', firstOfNext([1, 31]), '2026-02-01', '2026-03-01', '1/12'],
  [
    'a February at the end of four coinciding listed days',
    fixedDays([28, 29, 30, 31]),
    '2026-01-31',
    '2026-02-28',
    '1/12',
  ],
  ['the same in a leap year', fixedDays([28, 29, 30, 31]), '2024-02-28', '2024-02-29', '1/16'],
];

function firstOfNext(days: number[]): DueDateTerms {
  return fixedDays(days, 'FIRST_DAY_OF_NEXT_MONTH');
}

describe('the nominal length of a period', () => {
  for (const [name, terms, from, to, years] of cases) {
    it(`is ${years} of a year from ${from} to ${to}: ${name}`, () => {
      const { numerator, denominator } = nominalYears(terms, 'E30_360', from, to);
      expect(`${numerator}/${denominator}`).to.equal(years);
    });
  }

  it('sums to a year over a year of due dates, for any listed days', () => {
    const anyDays = fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 31 });
    const anyHandling = fc.constantFrom('LAST_DAY_IN_MONTH' as const, 'FIRST_DAY_OF_NEXT_MONTH' as const);
    fc.assert(
      fc.property(anyDays, anyHandling, fc.integer({ min: 1999, max: 2101 }), (days, handling, year) => {
        const listed = days.toSorted((one, other) => one - other);
        const terms = fixedDays(listed, handling);
        // January has every listed day, so a year from its last one is a whole number of months.
        const january = `01-${String(listed.at(-1)).padStart(2, '0')}`;
        const dates = dueDates(terms, 12 * listed.length, `${year}-${january}`);
        const inYear = dates.filter((date) => date <= `${year + 1}-${january}`);
        expect(inYear.at(-1)).to.equal(`${year + 1}-${january}`);
        let length = fraction(0);
        for (const [index, date] of inYear.entries()) {
          const from = inYear[index - 1] ?? `${year}-${january}`;
          length = addFractions(length, nominalYears(terms, 'ACTUAL_365_FIXED', from, date));
        }
        expect(length).to.deep.equal(fraction(1));
      }),
    );
  });

  it('is regular for every period except the first of any schedule by intervals', () => {
    const anyDueDates = fc.constantFrom(
      monthly,
      intervals('MONTHS', 2),
      intervals('YEARS'),
      intervals('WEEKS'),
      intervals('DAYS', 9),
    );
    fc.assert(
      fc.property(anyDueDates, fc.nat(1500), fc.integer({ min: 1, max: 60 }), (dueDateTerms, start, firstDays) => {
        const disbursed = addDays('2019-01-01', start);
        const interest = interestTerms({
          scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
          daysInYear: 'ACTUAL_365_FIXED',
        });
        const terms = { interest, dueDates: dueDateTerms };
        const dates = dueDates(dueDateTerms, 20, disbursed, addDays(disbursed, firstDays));
        for (const [index, accruesAfter] of dates.slice(0, -1).entries()) {
          const dueDate = dates[index + 1] ?? accruesAfter;
          expect(
            elapsedYears(terms, { accruesAfter, dueDate }, accruesAfter, dueDate),
            `${accruesAfter} to ${dueDate}`,
          ).to.deep.equal(regularPeriodYears(terms));
        }
      }),
      propertyRuns(60),
    );
  });
});

describe('the length of a regular period', () => {
  const thirtyDays = interestTerms({ scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT' });
  const days365 = { ...thirtyDays, daysInYear: 'ACTUAL_365_FIXED' } as const;
  const nominal = interestTerms({ scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' });
  const table: readonly (readonly [name: string, DueDateTerms, typeof thirtyDays, string])[] = [
    ['ten days of months that have thirty', intervals('DAYS', 10), thirtyDays, '2/73'],
    ['two weeks of months that have thirty', intervals('WEEKS', 2), thirtyDays, '14/365'],
    ['two weeks of 365 days', intervals('WEEKS', 2), days365, '14/365'],
    ['two weeks by count', intervals('WEEKS', 2), nominal, '1/26'],
    ['ten days by count', intervals('DAYS', 10), nominal, '1/36'],
    ['two months that have thirty days', intervals('MONTHS', 2), thirtyDays, '1/6'],
    ['two months of 365 days', intervals('MONTHS', 2), days365, '1/6'],
    ['two years', intervals('YEARS', 2), thirtyDays, '2/1'],
    ['half a month between two listed days', fixedDays([1, 15]), thirtyDays, '1/24'],
  ];
  for (const [name, terms, interest, years] of table) {
    it(`is ${years} of a year: ${name}`, () => {
      const { numerator, denominator } = regularPeriodYears({ interest, dueDates: terms });
      expect(`${numerator}/${denominator}`).to.equal(years);
    });
  }
});

describe('the time elapsed within a period', () => {
  it('divides a nominal month by the days of the day count', () => {
    const period = { accruesAfter: '2023-02-12', dueDate: '2023-03-12' };
    const interest = interestTerms({ scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' });
    const actual = { ...interest, daysInYear: 'ACTUAL_365_FIXED' } as const;
    expect(elapsedYears({ interest, dueDates: monthly }, period, '2023-02-12', '2023-02-20')).to.deep.equal({
      numerator: 1,
      denominator: 45,
    });
    expect(elapsedYears({ interest: actual, dueDates: monthly }, period, '2023-02-12', '2023-02-19')).to.deep.equal({
      numerator: 1,
      denominator: 48,
    });
  });

  it('continues at the same rate after the due date', () => {
    const period = { accruesAfter: '2023-02-12', dueDate: '2023-03-12' };
    const interest = interestTerms({ scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' });
    expect(elapsedYears({ interest, dueDates: monthly }, period, '2023-03-12', '2023-03-27')).to.deep.equal({
      numerator: 1,
      denominator: 24,
    });
  });

  it('divides by the day count a period in which thirty-day months have a single day', () => {
    const period = { accruesAfter: '2023-03-30', dueDate: '2023-04-01' };
    const interest = interestTerms({ scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' });
    const terms = { interest, dueDates: intervals('DAYS', 2) };
    expect(elapsedYears(terms, period, '2023-03-30', '2023-03-31').numerator).to.equal(0);
    expect(elapsedYears(terms, period, '2023-03-31', '2023-04-01')).to.deep.equal({ numerator: 1, denominator: 180 });
  });

  it('divides by the calendar a period in which thirty-day months have no day', () => {
    const period = { accruesAfter: '2023-01-30', dueDate: '2023-01-31' };
    const interest = interestTerms({ scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' });
    const terms = { interest, dueDates: intervals('DAYS') };
    expect(elapsedYears(terms, period, '2023-01-30', '2023-01-30').numerator).to.equal(0);
    expect(elapsedYears(terms, period, '2023-01-30', '2023-01-31')).to.deep.equal({ numerator: 1, denominator: 360 });
  });
});
