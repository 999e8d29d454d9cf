import * as fc from 'fast-check';
import { addDays } from '../../../src/lending/dates.ts';
import { type WorkingCalendar, weekdays } from '../../../src/lending/organization.ts';
import { anyStart } from './any-schedule.ts';

/** Calendars with a working day in each week, single holidays, and closures of up to three months. */
export const anyCalendar: fc.Arbitrary<WorkingCalendar> = fc
  .record({
    nonWorkingDays: fc.subarray([...weekdays], { maxLength: 6 }),
    closures: fc.array(
      fc.record({
        first: anyStart,
        days: fc.oneof(
          { weight: 4, arbitrary: fc.constant(1) },
          { weight: 1, arbitrary: fc.integer({ min: 2, max: 92 }) },
        ),
        isAnnuallyRecurring: fc.boolean(),
      }),
      { maxLength: 6 },
    ),
  })
  .map(({ nonWorkingDays, closures }) => ({
    nonWorkingDays,
    holidays: closures
      .flatMap(({ first, days, isAnnuallyRecurring }) =>
        Array.from({ length: days }, (_, index) => ({ date: addDays(first, index), isAnnuallyRecurring })),
      )
      .sort((one, other) => (one.date < other.date ? -1 : 1))
      .map((holiday, index) => ({ id: index + 1, name: 'Closed', ...holiday })),
  }));
