import { daysBetween, daysInMonth, isLeapYear, partsOf } from '../dates.ts';
import type { DateParts } from '../dates.ts';
import { addFractions, fraction } from '../fraction.ts';
import type { Fraction } from '../fraction.ts';
import type { DaysInYear, LocalDate } from '../terms.ts';

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
