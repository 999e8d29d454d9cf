import { addDays } from '../dates.ts';
import { isWorkingDay } from './calendar.ts';
import type { WorkingCalendar } from '../organization.ts';
import type { LocalDate, RepaymentReschedulingMethod } from '../terms.ts';

/** How due dates avoid the days on which the institution is closed. */
export interface Rescheduling {
  readonly method: RepaymentReschedulingMethod;
  readonly calendar: WorkingCalendar;
}

/** A due date on a working day, and the date that it stands for. */
export interface RescheduledDate {
  readonly dueDate: LocalDate;
  readonly agreed: LocalDate;
}

/** The longest closure that is waited for: a year. After a longer one a date stays where it is. Days. */
const closureDaysMaximum = 366;

/**
 * How many intervals EXTEND_SCHEDULE passes over for one row. Where so many dates in a row are closed, as when all of
 * them are Sundays, the row moves to the next working day instead.
 */
const extensionIntervalsMaximum = 12;

/**
 * The due dates of a loan or of its last rows, on working days, strictly ascending and all after `after`: the
 * disbursement, or the day up to which nothing changes.
 *
 * NEXT_WORKING_DAY: another date moves to the first working day after it. PREVIOUS_WORKING_DAY: to the last
 * one before it, unless that is not after the date before it or `after`: then to the next one. In both, the dates
 * of the other rows stay; only where a long closure moves several to one day does each take a later one.
 * EXTEND_SCHEDULE: the row takes the next agreed date that is a working day, and those after it follow, so that the
 * loan runs longer.
 * @param asAgreed the dates as if every day were a working day, without an end
 */
export function onWorkingDays(
  asAgreed: Iterator<LocalDate, never>,
  count: number,
  after: LocalDate,
  { method, calendar }: Rescheduling,
): RescheduledDate[] {
  const agreedDates = new AgreedDates(asAgreed);
  const dates: RescheduledDate[] = [];
  let earliest = addDays(after, 1);
  while (dates.length < count) {
    const agreed = method === 'EXTEND_SCHEDULE' ? agreedDates.nextOpen(earliest, calendar) : agreedDates.next();
    const before = method === 'PREVIOUS_WORKING_DAY' ? lastOpenDay(agreed, earliest, calendar) : null;
    const dueDate = before ?? firstOpenDay(agreed < earliest ? earliest : agreed, calendar);
    dates.push({ dueDate, agreed });
    earliest = addDays(dueDate, 1);
  }
  return dates;
}

/** The first working day from this one on; the day itself after a closure that is not waited for. */
export function firstOpenDay(from: LocalDate, calendar: WorkingCalendar): LocalDate {
  let day = from;
  for (let waited = 0; waited < closureDaysMaximum; waited += 1) {
    if (isWorkingDay(calendar, day)) return day;
    day = addDays(day, 1);
  }
  return from;
}

/** The last working day up to this one; null when there is none from the earliest day on. */
function lastOpenDay(to: LocalDate, earliest: LocalDate, calendar: WorkingCalendar): LocalDate | null {
  let day = to;
  for (let waited = 0; day >= earliest && waited < closureDaysMaximum; waited += 1) {
    if (isWorkingDay(calendar, day)) return day;
    day = addDays(day, -1);
  }
  return null;
}

/** Agreed dates, of which some are looked at before they are taken. */
class AgreedDates {
  readonly #dates: Iterator<LocalDate, never>;
  #ahead: LocalDate[] = [];

  constructor(dates: Iterator<LocalDate, never>) {
    this.#dates = dates;
  }

  next(): LocalDate {
    return this.#ahead.shift() ?? this.#dates.next().value;
  }

  /** The next date from the earliest day on that is a working day; the next one of all where too many are closed. */
  nextOpen(earliest: LocalDate, calendar: WorkingCalendar): LocalDate {
    const closed: LocalDate[] = [];
    for (;;) {
      const date = this.next();
      if (date < earliest) continue;
      if (isWorkingDay(calendar, date)) return date;
      closed.push(date);
      if (closed.length <= extensionIntervalsMaximum) continue;
      const [first = date, ...others] = closed;
      this.#ahead = [...others, ...this.#ahead];
      return first;
    }
  }
}
