import { addDays, addMonths, clampedDate, daysInMonth, partsOf } from '../dates.ts';
import type { DueDateTerms, LocalDate, RepaymentPeriodUnit } from '../terms.ts';

type IntervalTerms = Extract<DueDateTerms, { scheduleDueDatesMethod: 'INTERVAL' }>;
export type FixedDaysTerms = Extract<DueDateTerms, { scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH' }>;

/**
 * The due dates of a loan, strictly ascending and all after the disbursement.
 *
 * INTERVAL: the first is one interval plus the offset after the disbursement, the others whole intervals after the
 * first. Months keep the day they are anchored to: a shorter month uses its last day, and later months return to it.
 * FIXED_DAYS_OF_MONTH: every listed day that is after the disbursement and not before the end of the offset.
 * @param firstRepaymentDate replaces the computed first date, offset included; the others follow from it.
 * @throws RangeError when the first repayment date is not after the disbursement, or no day is listed.
 */
export function dueDates(
  terms: DueDateTerms,
  installments: number,
  disbursementDate: LocalDate,
  firstRepaymentDate?: LocalDate,
): LocalDate[] {
  const dates: LocalDate[] = [];
  const following = dueDatesFrom(terms, disbursementDate, firstRepaymentDate);
  while (dates.length < installments) dates.push(following.next().value);
  return dates;
}

/**
 * The {@link dueDates} of a loan without an end, strictly ascending.
 * @throws RangeError as {@link dueDates}
 */
export function* dueDatesFrom(
  terms: DueDateTerms,
  disbursementDate: LocalDate,
  firstRepaymentDate?: LocalDate,
): Generator<LocalDate, never> {
  const dates =
    terms.scheduleDueDatesMethod === 'INTERVAL'
      ? intervalDates(terms, disbursementDate, firstRepaymentDate)
      : fixedDays(terms, disbursementDate, firstRepaymentDate);
  const first = dates.next().value;
  if (first <= disbursementDate) {
    throw new RangeError(`first repayment on ${first}, not after the disbursement on ${disbursementDate}`);
  }
  yield first;
  return yield* dates;
}

/** The length of each repayment period unit, in days or in months. */
export const unitLength: Readonly<
  Record<RepaymentPeriodUnit, { readonly days: number } | { readonly months: number }>
> = { DAYS: { days: 1 }, WEEKS: { days: 7 }, MONTHS: { months: 1 }, YEARS: { months: 12 } };

function* intervalDates(
  terms: IntervalTerms,
  disbursementDate: LocalDate,
  firstRepaymentDate?: LocalDate,
): Generator<LocalDate, never> {
  const nominal = addIntervals(terms, disbursementDate, 1);
  const first = firstRepaymentDate ?? addDays(nominal, terms.firstRepaymentDueDateOffset);
  // A first date that the calendar clamped (31 January plus a month) stays anchored to the day it was meant for.
  const clamped = first === nominal && 'months' in unitLength[terms.repaymentPeriodUnit];
  const anchorDay = partsOf(clamped ? disbursementDate : first).day;
  for (let index = 0; ; index += 1) yield addIntervals(terms, first, index, anchorDay);
}

function addIntervals(terms: IntervalTerms, date: LocalDate, intervals: number, anchorDay?: number): LocalDate {
  const count = terms.repaymentPeriodCount * intervals;
  const unit = unitLength[terms.repaymentPeriodUnit];
  return 'months' in unit ? addMonths(date, count * unit.months, anchorDay) : addDays(date, count * unit.days);
}

function* fixedDays(
  terms: FixedDaysTerms,
  disbursementDate: LocalDate,
  firstRepaymentDate?: LocalDate,
): Generator<LocalDate, never> {
  const dayBeforeEarliest = addDays(disbursementDate, Math.max(terms.firstRepaymentDueDateOffset - 1, 0));
  for (let date = firstRepaymentDate ?? nextFixedDay(terms, dayBeforeEarliest); ; date = nextFixedDay(terms, date)) {
    yield date;
  }
}

/**
 * The first listed day after the date.
 * @throws RangeError when no day is listed.
 */
export function nextFixedDay(terms: FixedDaysTerms, after: LocalDate): LocalDate {
  if (terms.fixedDaysOfMonth.length === 0) throw new RangeError('no day of the month is listed');
  const later = listedDaysAround(terms, after, 1).filter((date) => date > after);
  return later.reduce((earliest, date) => (date < earliest ? date : earliest));
}

/** How many of the listed days fall on a date. In a month that is too short, several can fall on one date. */
export function listedDaysOn(terms: FixedDaysTerms, date: LocalDate): number {
  return listedDaysAround(terms, date, 0).filter((listed) => listed === date).length;
}

/** The dates of the listed days of the month before, of the date's own month, and of some months after it. */
function listedDaysAround(terms: FixedDaysTerms, date: LocalDate, monthsAfter: 0 | 1): LocalDate[] {
  const { year, month } = partsOf(date);
  // A listed 31st may fall on the first of the next month, so the month before can still contain the wanted date.
  const months = Array.from({ length: 2 + monthsAfter }, (_, index) =>
    addMonths(clampedDate(year, month, 1), index - 1),
  );
  return months.flatMap((firstOfMonth) => listedDays(terms, firstOfMonth));
}

function listedDays(terms: FixedDaysTerms, firstOfMonth: LocalDate): LocalDate[] {
  const { year, month } = partsOf(firstOfMonth);
  return terms.fixedDaysOfMonth.map((day) =>
    day > daysInMonth(year, month) && terms.shortMonthHandlingMethod === 'FIRST_DAY_OF_NEXT_MONTH'
      ? addMonths(firstOfMonth, 1)
      : clampedDate(year, month, day),
  );
}
