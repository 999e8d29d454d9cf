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
  yearFraction,
} from '../../../src/lending/schedule/day-count.ts';
import { addFractions } from '../../../src/lending/fraction.ts';
import type { DaysInYear, LocalDate } from '../../../src/lending/terms.ts';

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

const conventions: readonly DaysInYear[] = [
  'ACTUAL_365_FIXED',
  'ACTUAL_364',
  'ACTUAL_360',
  'ACTUAL_ACTUAL_ISDA',
  'E30_360',
  'E30_42_365',
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

  for (const [from, to, fraction] of actualActual) {
    it(`ACT/ACT (ISDA) computes ${fraction} of a year from ${from} to ${to}`, () => {
      const { numerator, denominator } = yearFraction('ACTUAL_ACTUAL_ISDA', from, to);
      expect(numerator / denominator).to.be.closeTo(Number(fraction), 1e-11);
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
    const fractions = conventions.map((convention) => yearFraction(convention, '2024-02-01', '2024-03-01'));
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
    expect(conventions.map((convention) => daysPerYear[convention])).to.deep.equal([365, 364, 360, 365, 360, 365]);
    expect(conventions.filter(countsThirtyDayMonths)).to.deep.equal(['E30_360', 'E30_42_365']);
  });

  it('returns the same total for the parts of a period as for the whole, wherever it is split', () => {
    const days = fc.integer({ min: 0, max: 1500 });
    fc.assert(
      fc.property(fc.constantFrom(...conventions), days, days, days, (convention, start, first, second) => {
        const from = addDays('2019-01-01', start);
        const middle = addDays(from, first);
        const to = addDays(middle, second);
        const parts = addFractions(yearFraction(convention, from, middle), yearFraction(convention, middle, to));
        expect(parts).to.deep.equal(yearFraction(convention, from, to));
      }),
    );
  });
});
