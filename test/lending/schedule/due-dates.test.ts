import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { addDays, daysInMonth, partsOf } from '../../../src/lending/dates.ts';
import { dueDates, nextFixedDay, unitLength } from '../../../src/lending/schedule/due-dates.ts';
import type { DueDateTerms, LocalDate, RepaymentPeriodUnit } from '../../../src/lending/terms.ts';
import { fixedDays, intervals, monthly } from './schedule-terms.ts';

const cases: readonly [string, DueDateTerms, LocalDate, LocalDate | undefined, readonly LocalDate[]][] = [
  ['days', intervals('DAYS', 10), '2023-02-20', undefined, ['2023-03-02', '2023-03-12', '2023-03-22']],
  ['weeks', intervals('WEEKS', 2), '2023-12-20', undefined, ['2024-01-03', '2024-01-17', '2024-01-31']],
  ['months', intervals('MONTHS'), '2023-01-15', undefined, ['2023-02-15', '2023-03-15', '2023-04-15']],
  ['quarters', intervals('MONTHS', 3), '2023-11-30', undefined, ['2024-02-29', '2024-05-30', '2024-08-30']],
  ['years from a leap day', intervals('YEARS'), '2024-02-29', undefined, ['2025-02-28', '2026-02-28', '2027-02-28']],
  ['months from a 31st', intervals('MONTHS'), '2023-01-31', undefined, ['2023-02-28', '2023-03-31', '2023-04-30']],
  [
    'months from a given first date',
    intervals('MONTHS'),
    '2023-01-10',
    '2023-01-31',
    ['2023-01-31', '2023-02-28', '2023-03-31'],
  ],
  [
    'an offset moves the whole series',
    intervals('MONTHS', 1, 3),
    '2023-01-30',
    undefined,
    ['2023-03-03', '2023-04-03', '2023-05-03'],
  ],
  [
    'a given first date overrides an offset',
    intervals('MONTHS', 1, 3),
    '2023-01-30',
    '2023-02-10',
    ['2023-02-10', '2023-03-10', '2023-04-10'],
  ],
  ['listed days', fixedDays([1, 15]), '2026-01-12', undefined, ['2026-01-15', '2026-02-01', '2026-02-15']],
  [
    'a listed day is no due date on the day of disbursement',
    fixedDays([12]),
    '2026-01-12',
    undefined,
    ['2026-02-12', '2026-03-12', '2026-04-12'],
  ],
  ['the 31st, or the last day', fixedDays([31]), '2023-01-15', undefined, ['2023-01-31', '2023-02-28', '2023-03-31']],
  [
    'the 31st, or the next 1st',
    fixedDays([31], 'FIRST_DAY_OF_NEXT_MONTH'),
    '2023-01-15',
    undefined,
    ['2023-01-31', '2023-03-01', '2023-03-31'],
  ],
  [
    'the 31st moved to a 1st, disbursed at a month end',
    fixedDays([31], 'FIRST_DAY_OF_NEXT_MONTH'),
    '2023-02-28',
    undefined,
    ['2023-03-01', '2023-03-31', '2023-05-01'],
  ],
  [
    'days that coincide on the last of February are one date',
    fixedDays([29, 30, 31]),
    '2023-02-01',
    undefined,
    ['2023-02-28', '2023-03-29', '2023-03-30'],
  ],
  [
    'days that coincide on a 1st are one date',
    fixedDays([1, 30, 31], 'FIRST_DAY_OF_NEXT_MONTH'),
    '2023-02-01',
    undefined,
    ['2023-03-01', '2023-03-30', '2023-03-31'],
  ],
  [
    'listed days once the offset is over',
    fixedDays([1, 15], 'LAST_DAY_IN_MONTH', 10),
    '2023-01-05',
    undefined,
    ['2023-01-15', '2023-02-01', '2023-02-15'],
  ],
  [
    'listed days after a longer offset',
    fixedDays([1, 15], 'LAST_DAY_IN_MONTH', 11),
    '2023-01-05',
    undefined,
    ['2023-02-01', '2023-02-15', '2023-03-01'],
  ],
  [
    'listed days after a given first date',
    fixedDays([5]),
    '2023-01-10',
    '2023-01-20',
    ['2023-01-20', '2023-02-05', '2023-03-05'],
  ],
];

const anyDueDates: fc.Arbitrary<DueDateTerms> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom<RepaymentPeriodUnit>('DAYS', 'WEEKS', 'MONTHS', 'YEARS'),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 0, max: 40 }),
    )
    .map((parts) => intervals(...parts)),
  fc
    .tuple(
      fc
        .uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 4 })
        .map((days) => days.toSorted((a, b) => a - b)),
      fc.constantFrom('LAST_DAY_IN_MONTH' as const, 'FIRST_DAY_OF_NEXT_MONTH' as const),
      fc.integer({ min: 0, max: 40 }),
    )
    .map((parts) => fixedDays(...parts)),
);
const anyStart = fc.integer({ min: 0, max: 3000 }).map((days) => addDays('2019-01-01', days));

describe('due dates', () => {
  for (const [name, terms, disbursed, first, expected] of cases) {
    it(`are ${expected.join(', ')} for a loan of ${disbursed}: ${name}`, () => {
      expect(dueDates(terms, expected.length, disbursed, first)).to.deep.equal(expected);
    });
  }

  it('are strictly ascending and after the disbursement, and a longer loan begins like a shorter one', () => {
    fc.assert(
      fc.property(anyDueDates, anyStart, fc.integer({ min: 1, max: 40 }), (terms, disbursed, installments) => {
        const dates = dueDates(terms, installments, disbursed);
        expect(dates).to.have.length(installments);
        [disbursed, ...dates].reduce((earlier, later) => {
          expect(later > earlier, `${later} after ${earlier}`).to.equal(true);
          return later;
        });
        expect(dueDates(terms, installments + 1, disbursed).slice(0, -1)).to.deep.equal(dates);
      }),
    );
  });

  it('by months fall on one day, or on the last day of a month without it', () => {
    fc.assert(
      fc.property(anyStart, fc.integer({ min: 1, max: 12 }), (first, months) => {
        const dates = dueDates(intervals('MONTHS', months), 30, addDays(first, -1), first);
        for (const { year, month, day } of dates.map(partsOf)) {
          expect(day).to.equal(Math.min(partsOf(first).day, daysInMonth(year, month)));
        }
      }),
    );
  });

  it('end with the last day of the calendar at the latest', () => {
    expect(dueDates(fixedDays([31]), 2, '9999-10-31')).to.deep.equal(['9999-11-30', '9999-12-31']);
    expect(dueDates(monthly, 2, '9999-10-31')).to.deep.equal(['9999-11-30', '9999-12-31']);
    expect(() => dueDates(fixedDays([31]), 3, '9999-10-31')).to.throw(RangeError);
    expect(() => dueDates(monthly, 3, '9999-10-31')).to.throw(RangeError);
  });

  it('cannot begin on or before the disbursement', () => {
    expect(() => dueDates(intervals('MONTHS'), 3, '2023-01-10', '2023-01-10')).to.throw(RangeError);
    expect(() => dueDates(intervals('DAYS', 1, -5), 3, '2023-01-10')).to.throw(RangeError);
  });

  it('require a listed day', () => {
    const none = fixedDays([]);
    expect(() => dueDates(none, 1, '2023-01-10')).to.throw(RangeError, 'no day of the month');
  });

  it('move from one listed day to the next', () => {
    const terms = fixedDays([10, 20]);
    if (terms.scheduleDueDatesMethod !== 'FIXED_DAYS_OF_MONTH') throw new Error('not fixed days');
    expect(nextFixedDay(terms, '2023-01-10')).to.equal('2023-01-20');
    expect(nextFixedDay(terms, '2023-12-31')).to.equal('2024-01-10');
  });

  it('support every unit', () => {
    expect(unitLength).to.deep.equal({
      DAYS: { days: 1 },
      WEEKS: { days: 7 },
      MONTHS: { months: 1 },
      YEARS: { months: 12 },
    });
  });
});
