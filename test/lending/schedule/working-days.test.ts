import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { addDays } from '../../../src/lending/dates.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { isWorkingDay } from '../../../src/lending/schedule/calendar.ts';
import type { WorkingCalendar, Holiday } from '../../../src/lending/organization.ts';
import { buildSchedule } from '../../../src/lending/schedule/build-schedule.ts';
import { dueDates } from '../../../src/lending/schedule/due-dates.ts';
import { openRows } from '../../../src/lending/schedule/open-rows.ts';
import { type Rescheduling, firstOpenDay, onWorkingDays } from '../../../src/lending/schedule/working-days.ts';
import type { DueDateTerms, LocalDate, RepaymentReschedulingMethod } from '../../../src/lending/terms.ts';
import { anyCalendar } from './any-calendar.ts';
import { anyPrincipal, anyStart, anyTerms, expectSound } from './any-schedule.ts';
import { type TermOptions, amountsOf, fixedDays, intervals, monthly, scheduleTerms } from './schedule-terms.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

const next = 'NEXT_WORKING_DAY';
const previous = 'PREVIOUS_WORKING_DAY';
const extend = 'EXTEND_SCHEDULE';
const methods: readonly RepaymentReschedulingMethod[] = [next, previous, extend];

/** Holidays on all days from the first to the last. */
function holidays(first: LocalDate, last: LocalDate = first): Holiday[] {
  const days: Holiday[] = [];
  for (let date = first; date <= last; date = addDays(date, 1)) {
    days.push({ id: days.length + 1, name: 'Closed', date, isAnnuallyRecurring: false });
  }
  return days;
}

const weekends: WorkingCalendar = { nonWorkingDays: ['SATURDAY', 'SUNDAY'], holidays: [] };
const openDaily = (first: LocalDate, last?: LocalDate): WorkingCalendar => ({
  nonWorkingDays: [],
  holidays: holidays(first, last),
});

function datesOf(
  terms: DueDateTerms,
  count: number,
  disbursementDate: LocalDate,
  rescheduling: Rescheduling,
): LocalDate[] {
  const scheduled = scheduleTerms({ dueDates: terms, repaymentInstallments: count });
  const request = { terms: scheduled, principal: new Decimal(100), disbursementDate, rescheduling };
  return openRows(request).map(({ dueDate }) => dueDate);
}

describe('due dates on working days', () => {
  // In 2026, 15 February and 15 March are Sundays.
  const cases: readonly [string, RepaymentReschedulingMethod, DueDateTerms, LocalDate, WorkingCalendar, LocalDate[]][] =
    [
      ['Sundays to Mondays', next, monthly, '2026-01-15', weekends, ['2026-02-16', '2026-03-16', '2026-04-15']],
      ['Sundays to Fridays', previous, monthly, '2026-01-15', weekends, ['2026-02-13', '2026-03-13', '2026-04-15']],
      ['the loan by months', extend, monthly, '2026-01-15', weekends, ['2026-04-15', '2026-05-15', '2026-06-15']],
      [
        'listed days on to the next listed one',
        extend,
        fixedDays([1, 15]),
        '2026-01-20',
        weekends,
        ['2026-04-01', '2026-04-15', '2026-05-01'],
      ],
      [
        'a day before a holiday on Monday past the holiday',
        next,
        monthly,
        '2026-01-15',
        { ...weekends, holidays: holidays('2026-02-16') },
        ['2026-02-17', '2026-03-16', '2026-04-15'],
      ],
      [
        'a month-end across the end of its month, and no other',
        next,
        monthly,
        '2026-01-31',
        weekends,
        ['2026-03-02', '2026-03-31', '2026-04-30'],
      ],
      [
        'forward what cannot go back before the disbursement',
        previous,
        intervals('WEEKS'),
        '2026-01-10',
        { ...weekends, holidays: holidays('2026-01-12', '2026-01-16') },
        ['2026-01-19', '2026-01-23', '2026-01-30'],
      ],
      [
        'the rows of a long closure to one working day after the other',
        next,
        monthly,
        '2026-01-15',
        openDaily('2026-02-10', '2026-04-20'),
        ['2026-04-21', '2026-04-22', '2026-04-23'],
      ],
      [
        'the rows of a long closure past it',
        extend,
        monthly,
        '2026-01-15',
        openDaily('2026-02-10', '2026-04-20'),
        ['2026-05-15', '2026-06-15', '2026-07-15'],
      ],
      [
        'what would extend a loan without end to the next working day',
        extend,
        intervals('WEEKS'),
        '2026-01-10',
        weekends,
        ['2026-01-19', '2026-01-26', '2026-02-02'],
      ],
      [
        'every day of a loan by days to working days',
        next,
        intervals('DAYS'),
        '2026-01-08',
        weekends,
        ['2026-01-09', '2026-01-12', '2026-01-13'],
      ],
    ];
  for (const [name, method, terms, disbursementDate, calendar, expected] of cases) {
    it(`move ${name} by ${method}`, () => {
      expect(datesOf(terms, 3, disbursementDate, { method, calendar })).to.deep.equal(expected);
    });
  }

  it('extend a loan by up to twelve intervals for a row, and move it to the next working day beyond', () => {
    const weekly = (last: LocalDate): LocalDate[] =>
      datesOf(intervals('WEEKS'), 2, '2025-12-29', { method: extend, calendar: openDaily('2026-01-02', last) });
    // The thirteenth Monday of the year is 30 March.
    expect(weekly('2026-03-24')).to.deep.equal(['2026-03-30', '2026-04-06']);
    expect(weekly('2026-03-31')).to.deep.equal(['2026-04-01', '2026-04-06']);
  });

  it('wait for the end of a closure for a year at most, and stay where they are after a longer one', () => {
    const closedFor = (days: number): WorkingCalendar => openDaily('2026-02-15', addDays('2026-02-15', days - 1));
    expect(firstOpenDay('2026-02-15', closedFor(365))).to.equal('2027-02-15');
    expect(firstOpenDay('2026-02-15', closedFor(366))).to.equal('2026-02-15');
    for (const method of methods) {
      const dates = datesOf(monthly, 3, '2026-01-15', { method, calendar: closedFor(1000) });
      expect(dates[0]).to.equal(method === previous ? '2026-02-14' : '2026-02-15');
    }
  });

  it('keep the day that a moved row stands for', () => {
    const agreed = ['2026-02-15', '2026-03-15'];
    const dates = onWorkingDays(agreed[Symbol.iterator]() as Iterator<LocalDate, never>, 2, '2026-01-15', {
      method: next,
      calendar: weekends,
    });
    expect(dates).to.deep.equal([
      { dueDate: '2026-02-16', agreed: '2026-02-15' },
      { dueDate: '2026-03-16', agreed: '2026-03-15' },
    ]);
  });

  it('are working days, strictly ascending and after the disbursement, whatever the calendar', () => {
    fc.assert(
      fc.property(
        anyTerms,
        anyStart,
        anyCalendar,
        fc.constantFrom(...methods),
        (terms, disbursementDate, calendar, method) => {
          const count = terms.repaymentInstallments;
          const dates = datesOf(terms.dueDates, count, disbursementDate, { method, calendar });
          expect(dates).to.have.length(count);
          const agreed = dueDates(terms.dueDates, count, disbursementDate);
          for (const [index, date] of dates.entries()) {
            expect(isWorkingDay(calendar, date), `${date} is a working day`).to.equal(true);
            expect(date > (dates[index - 1] ?? disbursementDate), `${date} is after the one before`).to.equal(true);
            if (method !== previous) expect(date >= (agreed[index] ?? ''), `${date} is not earlier`).to.equal(true);
          }
          if (agreed.every((date) => isWorkingDay(calendar, date))) expect(dates).to.deep.equal(agreed);
        },
      ),
      propertyRuns(250),
    );
  });
});

describe('the interest of rows on working days', () => {
  function build(options: TermOptions, principal: string, disbursementDate: LocalDate, rescheduling?: Rescheduling) {
    return buildSchedule({
      terms: scheduleTerms(options),
      principal: new Decimal(principal),
      disbursementDate,
      ...(rescheduling === undefined ? {} : { rescheduling }),
    });
  }
  const flat = { interestRate: '12', interestCalculationMethod: 'FLAT' } as const;
  const nextWorkingDay: Rescheduling = { method: next, calendar: weekends };

  it('follows the moved dates where days are counted', () => {
    const interest = { ...flat, daysInYear: 'ACTUAL_365_FIXED' } as const;
    const rows = build({ repaymentInstallments: 3, interest }, '36500', '2026-01-15', nextWorkingDay);
    // 32, 28 and 30 days of 12.00 each.
    expect(amountsOf(rows)).to.deep.equal(['12166.67 384.00', '12166.67 336.00', '12166.66 360.00']);
  });

  it('stays that of a month where periods count by their names', () => {
    const interest = { ...flat, scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' } as const;
    for (const method of [next, previous] as const) {
      const rows = build({ repaymentInstallments: 3, interest }, '3000', '2026-01-15', {
        method,
        calendar: weekends,
      });
      expect(amountsOf(rows)).to.deep.equal(['1000.00 30.00', '1000.00 30.00', '1000.00 30.00']);
    }
  });

  it('is that of all the months of a row that extends the schedule', () => {
    const interest = { ...flat, scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' } as const;
    const rows = build({ repaymentInstallments: 3, interest }, '3000', '2026-01-15', {
      method: extend,
      calendar: weekends,
    });
    expect(rows.map(({ dueDate }) => dueDate)).to.deep.equal(['2026-04-15', '2026-05-15', '2026-06-15']);
    expect(amountsOf(rows)).to.deep.equal(['1000.00 90.00', '1000.00 30.00', '1000.00 30.00']);
  });

  it('does not make principal negative where a closure makes the first period long (NegativePrincipalForRepayment)', () => {
    const options = {
      repaymentInstallments: 24,
      interest: { interestRate: '36', daysInYear: 'ACTUAL_365_FIXED' },
    } as const;
    const closures: readonly [RepaymentReschedulingMethod, WorkingCalendar][] = [
      [extend, openDaily('2026-06-01')],
      [next, openDaily('2026-06-01', '2026-06-30')],
    ];
    for (const [method, calendar] of closures) {
      const rows = build(options, '10000', '2026-05-01', { method, calendar });
      expect(rows[0]?.dueDate).to.equal('2026-07-01');
      // Interest of 61 days is more than the level payment of 590.47.
      expect(amountsOf(rows.slice(0, 1))).to.deep.equal(['0.00 601.64']);
      expectSound(rows, new Decimal(10000), 2);
    }
  });

  it('keeps schedules sound under every calendar', () => {
    fc.assert(
      fc.property(
        anyTerms,
        anyPrincipal,
        anyStart,
        anyCalendar,
        fc.constantFrom(...methods),
        (terms, minorUnits, disbursementDate, calendar, method) => {
          const { digits } = terms.currency;
          const principal = new Decimal(minorUnits).dividedBy(new Decimal(10).pow(digits));
          const request = { terms, principal, disbursementDate };
          const rows = buildSchedule({ ...request, rescheduling: { method, calendar } });
          expectSound(rows, principal, digits);
          const { scheduleInterestDaysCountMethod, interestCalculationMethod } = terms.interest;
          const isByName = scheduleInterestDaysCountMethod === 'REPAYMENT_PERIODICITY';
          if (isByName && interestCalculationMethod === 'FLAT' && method !== extend) {
            expect(amountsOf(rows, digits)).to.deep.equal(amountsOf(buildSchedule(request), digits));
          }
        },
      ),
      propertyRuns(250),
    );
  });
});
