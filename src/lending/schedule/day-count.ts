import { addDays, addMonths, daysBetween, daysInMonth, isLeapYear, partsOf } from '../dates.ts';
import type { DateParts } from '../dates.ts';
import { addFractions, fraction, multiplyFractions } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import type { DaysInYear, DueDateTerms, InterestTerms, LocalDate, UnmovedPeriod } from '../terms.ts';
import { type FixedDaysTerms, listedDaysOn, nextFixedDay, unitLength } from './due-dates.ts';

/** The days over which one installment's interest accrues: after the first date, up to and including the second. */
export interface AccrualPeriod {
  readonly accruesAfter: LocalDate;
  readonly dueDate: LocalDate;
  /** The days before they were moved to working days; absent or null when they were not. */
  readonly unmoved?: UnmovedPeriod | null;
}

/** The terms that decide how long a range of days counts. Every `ScheduleTerms` has them. */
export interface AccrualTerms {
  readonly interest: InterestTerms;
  readonly dueDates: DueDateTerms;
}

/** The days of a year that annualise a rate quoted per day, and of which a nominal day is a fraction. */
export const daysPerYear: Readonly<Record<DaysInYear, number>> = {
  ACTUAL_365_FIXED: 365,
  ACTUAL_364: 364,
  ACTUAL_360: 360,
  ACTUAL_ACTUAL_ISDA: 365,
  E30_360: 360,
  E30_42_365: 365,
};

/** Whether every month counts thirty days under the convention. */
export function countsThirtyDayMonths(convention: DaysInYear): boolean {
  return convention === 'E30_360' || convention === 'E30_42_365';
}

/**
 * Days that the convention counts from one date (excluded) to another (included): calendar days, or days of thirty-day
 * months. Negative when `to` is before `from`.
 */
export function countedDays(convention: DaysInYear, from: LocalDate, to: LocalDate): number {
  return countsThirtyDayMonths(convention) ? days30E360Isda(from, to) : daysBetween(from, to);
}

/** The part of a year from one date (excluded) to another (included). Source: 2006 ISDA Definitions, section 4.16. */
export function yearFraction(convention: DaysInYear, from: LocalDate, to: LocalDate): Fraction {
  if (convention === 'ACTUAL_ACTUAL_ISDA') return actualActualIsda(from, to);
  return fraction(countedDays(convention, from, to), daysPerYear[convention]);
}

/** Each day belongs to the year in which it begins: 31 December to 1 January is a day of the old year. */
function actualActualIsda(from: LocalDate, to: LocalDate): Fraction {
  const [fromYear, toYear] = [partsOf(from).year, partsOf(to).year];
  const lengthOf = (year: number): number => (isLeapYear(year) ? 366 : 365);
  if (fromYear === toYear) return fraction(daysBetween(from, to), lengthOf(fromYear));
  const sinceNewYear = (date: LocalDate, year: number): Fraction =>
    fraction(daysBetween(`${String(year).padStart(4, '0')}-01-01`, date), lengthOf(year));
  const ofFrom = sinceNewYear(from, fromYear);
  const ofTo = sinceNewYear(to, toYear);
  return addFractions(fraction(toYear - fromYear), addFractions(ofTo, fraction(-ofFrom.numerator, ofFrom.denominator)));
}

function days360(from: DateParts, to: DateParts): number {
  return (to.year - from.year) * 360 + (to.month - from.month) * 30 + (to.day - from.day);
}

/** 30E/360, the Eurobond basis: a 31st counts as the 30th, February keeps its days. 2006 ISDA Definitions 4.16(g). */
export function days30E360(from: LocalDate, to: LocalDate): number {
  const clipped = (date: LocalDate): DateParts => {
    const parts = partsOf(date);
    return { ...parts, day: Math.min(parts.day, 30) };
  };
  return days360(clipped(from), clipped(to));
}

/**
 * 30E/360 (ISDA): the last day of any month counts as its 30th, so every full month has thirty days. 2006 ISDA
 * Definitions 4.16(h).
 * @param terminationDate when it is the end date and lies in February, that end date keeps its day. Loans pass none:
 * their last month has thirty days like any other.
 */
export function days30E360Isda(from: LocalDate, to: LocalDate, terminationDate?: LocalDate): number {
  const thirtieth = (date: LocalDate): DateParts => {
    const parts = partsOf(date);
    return parts.day === daysInMonth(parts.year, parts.month) ? { ...parts, day: 30 } : parts;
  };
  const end = partsOf(to);
  return days360(thirtieth(from), end.month === 2 && to === terminationDate ? end : thirtieth(to));
}

/**
 * The years that the days from `from` (excluded) to `to` (included) count as, within the period they belong to.
 *
 * ACTUAL_DAYS_COUNT: the day count of the dates. REPAYMENT_PERIODICITY: the period's nominal length times the days'
 * share of the period's days. So the parts of a period sum to the whole, and a month is a twelfth of a year whatever
 * its length, also where the period was moved to working days. Days beyond the period's end count at the same rate.
 */
export function elapsedYears(terms: AccrualTerms, period: AccrualPeriod, from: LocalDate, to: LocalDate): Fraction {
  const { daysInYear, scheduleInterestDaysCountMethod } = terms.interest;
  if (scheduleInterestDaysCountMethod === 'ACTUAL_DAYS_COUNT') return yearFraction(daysInYear, from, to);
  const nominal = period.unmoved ?? period;
  const fullPeriod = nominalYears(terms.dueDates, daysInYear, nominal.accruesAfter, nominal.dueDate);
  if (from === period.accruesAfter && to === period.dueDate) return fullPeriod;
  const days = countedDays(daysInYear, period.accruesAfter, period.dueDate);
  // Thirty-day months count no day between a 30th and a 31st. Such a period is divided by calendar days instead.
  const part =
    days > 0
      ? fraction(countedDays(daysInYear, from, to), days)
      : fraction(daysBetween(from, to), daysBetween(period.accruesAfter, period.dueDate));
  return multiplyFractions(fullPeriod, part);
}

/**
 * The nominal length in years of the time between two dates. Its whole weeks, months or years count nominally (1/52,
 * 1/12, 1), and the remainder by the day count. A period on the schedule's own grid has no remainder.
 */
export function nominalYears(terms: DueDateTerms, convention: DaysInYear, from: LocalDate, to: LocalDate): Fraction {
  if (terms.scheduleDueDatesMethod === 'FIXED_DAYS_OF_MONTH') return fixedDaysLength(terms, convention, from, to);
  if ('months' in unitLength[terms.repaymentPeriodUnit]) return monthsAndDays(convention, from, to);
  const days = daysBetween(from, to);
  const weeks = terms.repaymentPeriodUnit === 'WEEKS' ? Math.trunc(days / 7) : 0;
  return addFractions(fraction(weeks, 52), fraction(days - weeks * 7, daysPerYear[convention]));
}

function monthsAndDays(convention: DaysInYear, from: LocalDate, to: LocalDate): Fraction {
  const [start, end] = [partsOf(from), partsOf(to)];
  // 28 February to 31 March is a whole month of a schedule anchored to the 31st, not a month and three days.
  const monthEnd = start.day === daysInMonth(start.year, start.month);
  const anchorDay = monthEnd ? Math.max(start.day, end.day) : start.day;
  const difference = (end.year - start.year) * 12 + (end.month - start.month);
  const months = addMonths(from, difference, anchorDay) > to ? difference - 1 : difference;
  return addFractions(fraction(months, 12), yearFraction(convention, addMonths(from, months, anchorDay), to));
}

/**
 * A stub up to the first listed day by the day count, then every listed day by its share of a month. In a short month
 * two listed days can fall on one date. That date counts twice, so that every year has equally many listed days.
 */
function fixedDaysLength(terms: FixedDaysTerms, convention: DaysInYear, from: LocalDate, to: LocalDate): Fraction {
  const firstListed = isListed(terms, from) ? from : nextFixedDay(terms, from);
  if (firstListed > to) return yearFraction(convention, from, to);
  let listedDays = 0;
  let reached = firstListed;
  for (let next = nextFixedDay(terms, reached); next <= to; next = nextFixedDay(terms, next)) {
    listedDays += listedDaysOn(terms, next);
    reached = next;
  }
  const steps = fraction(listedDays, 12 * terms.fixedDaysOfMonth.length);
  return [yearFraction(convention, from, firstListed), steps, yearFraction(convention, reached, to)].reduce(
    addFractions,
  );
}

function isListed(terms: FixedDaysTerms, date: LocalDate): boolean {
  return nextFixedDay(terms, addDays(date, -1)) === date;
}

/**
 * The years a regular period counts as, independent of the calendar. A level payment is computed from it. Under
 * ACTUAL_DAYS_COUNT a thirty-day month is thirty of the day count's days, so that the payment matches what is charged.
 */
export function regularPeriodYears({ interest, dueDates }: AccrualTerms): Fraction {
  const { daysInYear } = interest;
  const byDays = interest.scheduleInterestDaysCountMethod === 'ACTUAL_DAYS_COUNT';
  const thirtyDayMonths = byDays && countsThirtyDayMonths(daysInYear);
  const month = thirtyDayMonths ? fraction(30, daysPerYear[daysInYear]) : fraction(1, 12);
  if (dueDates.scheduleDueDatesMethod === 'FIXED_DAYS_OF_MONTH') {
    return multiplyFractions(month, fraction(1, dueDates.fixedDaysOfMonth.length));
  }
  const count = fraction(dueDates.repaymentPeriodCount);
  const unit = unitLength[dueDates.repaymentPeriodUnit];
  if ('months' in unit) return multiplyFractions(multiplyFractions(count, fraction(unit.months)), month);
  if (dueDates.repaymentPeriodUnit === 'WEEKS' && !byDays) return multiplyFractions(count, fraction(1, 52));
  // Thirty-day months count only 360 of the 365 days that a schedule by days or weeks covers in a year.
  const day = fraction(1, thirtyDayMonths ? 365 : daysPerYear[daysInYear]);
  return multiplyFractions(multiplyFractions(count, fraction(unit.days)), day);
}
