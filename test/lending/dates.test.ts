import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  addDays,
  addMonths,
  clampedDate,
  daysBetween,
  daysInMonth,
  isLeapYear,
  isLocalDate,
  partsOf,
} from '../../src/lending/dates.ts';
import type { LocalDate } from '../../src/lending/terms.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

const anyDate = fc
  .date({ min: new Date('1900-01-01'), max: new Date('2200-12-31'), noInvalidDate: true })
  .map((date): LocalDate => date.toISOString().slice(0, 10));

describe('a local date', () => {
  const texts: readonly [string, boolean][] = [
    ['2024-02-29', true],
    ['2023-02-29', false],
    ['1900-02-29', false],
    ['2000-02-29', true],
    ['2023-04-31', false],
    ['2023-13-01', false],
    ['2023-00-10', false],
    ['2023-1-1', false],
    ['0000-01-01', false],
    ['2023-01-01T00:00:00Z', false],
    ['', false],
  ];
  for (const [text, valid] of texts) {
    it(`is ${valid ? '' : 'not '}read from "${text}"`, () => {
      expect(isLocalDate(text)).to.equal(valid);
      if (!valid) expect(() => partsOf(text)).to.throw(RangeError);
    });
  }

  it('reports an error outside of the calendar, not an invalid date', () => {
    expect(() => addDays('9999-12-31', 1)).to.throw(RangeError);
    expect(() => addMonths('0001-01-31', -1)).to.throw(RangeError);
    expect([addDays('9999-12-30', 1), addDays('0001-01-02', -1)]).to.deep.equal(['9999-12-31', '0001-01-01']);
  });

  it('computes the lengths of months and years', () => {
    expect(Array.from({ length: 12 }, (_, index) => daysInMonth(2023, index + 1))).to.deep.equal([
      31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
    ]);
    expect([1900, 2000, 2023, 2024].map(isLeapYear)).to.deep.equal([false, true, false, true]);
    expect(clampedDate(2024, 2, 31)).to.equal('2024-02-29');
  });

  it('counts days like the calendar of the platform', () => {
    fc.assert(
      fc.property(anyDate, anyDate, (from, to) => {
        expect(daysBetween(from, to)).to.equal((Date.parse(to) - Date.parse(from)) / 86_400_000);
        expect(addDays(from, daysBetween(from, to))).to.equal(to);
      }),
    );
  });

  it('adds months to the anchor day or the end of a shorter month, across years and backwards', () => {
    const steps: readonly [LocalDate, number, number | undefined, LocalDate][] = [
      ['2023-01-31', 1, undefined, '2023-02-28'],
      ['2024-01-31', 1, undefined, '2024-02-29'],
      ['2023-02-28', 1, 31, '2023-03-31'],
      ['2023-11-30', 3, undefined, '2024-02-29'],
      ['2023-03-31', -1, undefined, '2023-02-28'],
      ['2023-01-15', -13, undefined, '2021-12-15'],
    ];
    for (const [date, months, anchorDay, expected] of steps) {
      expect(addMonths(date, months, anchorDay), `${date} and ${months} months`).to.equal(expected);
    }
  });

  it('never drifts: every step of a monthly series falls on the anchor day or the end of its month', () => {
    fc.assert(
      fc.property(anyDate, fc.integer({ min: 1, max: 480 }), (start, months) => {
        const anchorDay = partsOf(start).day;
        let stepwise = start;
        for (let step = 0; step < months; step += 1) stepwise = addMonths(stepwise, 1, anchorDay);
        expect(stepwise).to.equal(addMonths(start, months));
        const { year, month, day } = partsOf(stepwise);
        expect(day).to.equal(Math.min(anchorDay, daysInMonth(year, month)));
      }),
      propertyRuns(1_000),
    );
  });
});
