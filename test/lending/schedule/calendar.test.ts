import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { addDays } from '../../../src/lending/dates.ts';
import { alwaysOpen, calendarChange, isWorkingDay, nonWorkingDaysIn } from '../../../src/lending/schedule/calendar.ts';
import { type WorkingCalendar, defaultOrganization } from '../../../src/lending/organization.ts';
import { anyCalendar } from './any-calendar.ts';
import { anyStart } from './any-schedule.ts';

describe('working days', () => {
  const christmas = { id: 1, name: 'Christmas Day', date: '2025-12-25', isAnnuallyRecurring: true };
  const election = { id: 2, name: 'Election', date: '2026-06-02', isAnnuallyRecurring: false };
  const closed: WorkingCalendar = { nonWorkingDays: ['SATURDAY', 'SUNDAY'], holidays: [christmas, election] };

  const cases: readonly (readonly [string, string, boolean])[] = [
    ['a Friday', '2026-06-05', true],
    ['a Saturday', '2026-06-06', false],
    ['a Sunday', '2026-06-07', false],
    ['a holiday on a Tuesday', '2026-06-02', false],
    ['the same day a year later, a Wednesday, of a holiday that does not recur', '2027-06-02', true],
    ['a recurring holiday in its first year, a Thursday', '2025-12-25', false],
    ['a recurring holiday in a later year, a Friday', '2026-12-25', false],
    ['the day of a recurring holiday before its first year, a Wednesday', '2024-12-25', true],
  ];
  for (const [name, date, isOpen] of cases) {
    it(`${isOpen ? 'include' : 'exclude'} ${name}`, () => {
      expect(isWorkingDay(closed, date)).to.equal(isOpen);
    });
  }

  it('are Monday to Friday while no calendar is set', () => {
    const week = Array.from({ length: 7 }, (_, day) => addDays('2026-06-01', day));
    expect(week.map((date) => isWorkingDay(defaultOrganization, date))).to.deep.equal([
      ...Array.from({ length: 5 }, () => true),
      false,
      false,
    ]);
  });

  it('exclude a holiday of 29 February in leap years only', () => {
    const leapDay = { id: 1, name: 'Leap day', date: '2024-02-29', isAnnuallyRecurring: true };
    const days = ['2027-02-28', '2027-03-01', '2028-02-29'];
    const isOpen = days.map((date) => isWorkingDay({ nonWorkingDays: [], holidays: [leapDay] }, date));
    expect(isOpen).to.deep.equal([true, true, false]);
  });

  it('begin with the first day of the earliest of several holidays that recur on one day', () => {
    const later = { ...christmas, id: 3, date: '2027-12-25' };
    expect(isWorkingDay({ nonWorkingDays: [], holidays: [christmas, later] }, '2026-12-25')).to.equal(false);
  });

  it('are all days of an institution that is never closed', () => {
    fc.assert(fc.property(anyStart, (date) => isWorkingDay(alwaysOpen, date)));
  });

  it('are counted over any time as they are day by day', () => {
    fc.assert(
      fc.property(anyCalendar, anyStart, fc.integer({ min: 0, max: 900 }), (calendar, from, days) => {
        const dates = Array.from({ length: days }, (_, day) => addDays(from, day));
        const closed = dates.filter((date) => !isWorkingDay(calendar, date)).length;
        expect(nonWorkingDaysIn(calendar, from, addDays(from, days - 1))).to.equal(closed);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a change of the calendar', () => {
  const closedOn = (...dates: string[]): WorkingCalendar => ({
    nonWorkingDays: [],
    holidays: dates.map((date, index) => ({ id: index + 1, name: 'Closed', date, isAnnuallyRecurring: false })),
  });
  const between = { after: '2026-01-01', upTo: '2026-01-31', closedMaximum: 2 };

  it('lists the days that became non-working after the first one and up to the last one', () => {
    const now = closedOn('2026-01-01', '2026-01-02', '2026-01-31', '2026-02-01');
    expect(calendarChange(alwaysOpen, now, between)).to.deep.equal({
      closed: ['2026-01-02', '2026-01-31'],
      opened: false,
    });
    expect(calendarChange(now, now, between)).to.deep.equal({ closed: [], opened: false });
  });

  it('lists none where there are more than were asked for', () => {
    const now = closedOn('2026-01-02', '2026-01-03', '2026-01-31');
    expect(calendarChange(alwaysOpen, now, between)).to.deep.equal({ closed: null, opened: false });
  });

  it('says that a day became a working day, up to the last one', () => {
    expect(calendarChange(closedOn('2026-01-31'), alwaysOpen, between).opened).to.equal(true);
    expect(calendarChange(closedOn('2026-01-01', '2026-02-01'), alwaysOpen, between).opened).to.equal(false);
  });
});
