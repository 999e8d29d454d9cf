import { addDays, daysBetween, isLocalDate, partsOf, weekdayOf } from '../dates.ts';
import { type Holiday, type WorkingCalendar, weekdays } from '../organization.ts';
import type { LocalDate } from '../terms.ts';

/** Where `MM-DD` begins in a date. */
const monthAndDay = 5;

/** The calendar of an institution that is open every day. */
export const alwaysOpen: WorkingCalendar = { nonWorkingDays: [], holidays: [] };

/** Whether the institution is open on the date. A holiday that recurs does so from its first day on. */
export function isWorkingDay({ nonWorkingDays, holidays }: WorkingCalendar, date: LocalDate): boolean {
  const weekday = weekdays[weekdayOf(date)];
  if (weekday !== undefined && nonWorkingDays.includes(weekday)) return false;
  if (holidays.length === 0) return true;
  const { once, everyYear } = holidaysByDay(holidays);
  const first = everyYear.get(date.slice(monthAndDay));
  return !once.has(date) && (first === undefined || date < first);
}

/** How many days from one date to another, both included, the institution is closed. Costs no more for more weeks. */
export function nonWorkingDaysIn(calendar: WorkingCalendar, from: LocalDate, to: LocalDate): number {
  const weekly: WorkingCalendar = { nonWorkingDays: calendar.nonWorkingDays, holidays: [] };
  const days = daysBetween(from, to) + 1;
  const weeks = Math.floor(Math.max(days, 0) / weekdays.length);
  let count = weeks * calendar.nonWorkingDays.length;
  for (let day = weeks * weekdays.length; day < days; day += 1) {
    if (!isWorkingDay(weekly, addDays(from, day))) count += 1;
  }
  const isCounted = (date: LocalDate): boolean => date >= from && date <= to && isWorkingDay(weekly, date);
  return count + [...datesOfHolidays(calendar, from, to)].filter(isCounted).length;
}

/** How a calendar differs from another one, for the days after one and up to another. */
export interface CalendarChange {
  /** The days that became non-working, in their order; null when there are more than were asked for. */
  readonly closed: readonly LocalDate[] | null;
  /** Whether a day became a working day. */
  readonly opened: boolean;
}

/**
 * What a change of the calendar changes on the days after one and up to another. Takes time for each of the days.
 * @param closedMaximum The most days to list.
 */
export function calendarChange(
  before: WorkingCalendar,
  now: WorkingCalendar,
  {
    after,
    upTo,
    closedMaximum,
  }: { readonly after: LocalDate; readonly upTo: LocalDate; readonly closedMaximum: number },
): CalendarChange {
  const closed: LocalDate[] = [];
  for (let day = addDays(after, 1); day <= upTo; day = addDays(day, 1)) {
    const isOpen = isWorkingDay(now, day);
    if (isOpen === isWorkingDay(before, day)) continue;
    if (isOpen) return { closed: null, opened: true };
    if (closed.length === closedMaximum) return { closed: null, opened: false };
    closed.push(day);
  }
  return { closed, opened: false };
}

/** The dates of all holidays in the years from one date to another. */
function datesOfHolidays({ holidays }: WorkingCalendar, from: LocalDate, to: LocalDate): ReadonlySet<LocalDate> {
  const dates = new Set<LocalDate>();
  for (const { date, isAnnuallyRecurring } of holidays) {
    dates.add(date);
    if (!isAnnuallyRecurring) continue;
    const first = Math.max(partsOf(date).year, partsOf(from).year);
    for (let year = first; year <= partsOf(to).year; year += 1) {
      const again = `${String(year).padStart(4, '0')}${date.slice(monthAndDay - 1)}`;
      if (isLocalDate(again)) dates.add(again);
    }
  }
  return dates;
}

interface HolidaysByDay {
  readonly once: ReadonlySet<LocalDate>;
  /** The first day of each holiday that recurs, by its day of the year. */
  readonly everyYear: ReadonlyMap<string, LocalDate>;
}

/** A schedule asks for many days of one calendar. */
const knownHolidays = new WeakMap<readonly Holiday[], HolidaysByDay>();

function holidaysByDay(holidays: readonly Holiday[]): HolidaysByDay {
  const known = knownHolidays.get(holidays);
  if (known !== undefined) return known;
  const once = new Set(holidays.map(({ date }) => date));
  const everyYear = new Map<string, LocalDate>();
  // In the order of their days: of two that recur on one day, the later one adds nothing.
  for (const { date, isAnnuallyRecurring } of holidays.toReversed()) {
    if (isAnnuallyRecurring) everyYear.set(date.slice(monthAndDay), date);
  }
  const byDay = { once, everyYear };
  knownHolidays.set(holidays, byDay);
  return byDay;
}
