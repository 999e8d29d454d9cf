import type { LocalDate } from './terms.ts';

/** Calendar arithmetic on `YYYY-MM-DD` in the proleptic Gregorian calendar, without clock or zone. */
export interface DateParts {
  /** 1..9999. */
  readonly year: number;
  /** 1..12. */
  readonly month: number;
  /** 1..31. */
  readonly day: number;
}

const pattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const monthsPerYear = 12;
/** February without its leap day. */
const shortestMonthDays = 28;
/** Where the day begins in the text of a date. */
const dayAt = 'YYYY-MM-'.length;

/** Whether the year has a 29 February, in the proleptic Gregorian calendar. */
export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Days of the month, 28..31. `month` is 1..12. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Whether the text is an existing day, written `YYYY-MM-DD`. */
export function isLocalDate(text: string): boolean {
  const match = pattern.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return year >= 1 && month >= 1 && month <= monthsPerYear && day >= 1 && day <= daysInMonth(year, month);
}

/** @throws RangeError when the text is not a calendar day. */
export function partsOf(date: LocalDate): DateParts {
  const known = knownParts.get(date);
  if (known !== undefined) return known;
  if (!isLocalDate(date)) throw new RangeError(`not a calendar day: ${date}`);
  const parts = { year: Number(date.slice(0, 4)), month: Number(date.slice(5, 7)), day: Number(date.slice(8)) };
  if (knownParts.size >= knownPartsMaximum) knownParts.clear();
  knownParts.set(date, parts);
  return parts;
}

/** The most days whose parts are known: more than the due dates of a portfolio over ten years. */
const knownPartsMaximum = 4096;
const knownParts = new Map<LocalDate, DateParts>();

/** The given day of a month, or the month's last day if it is shorter: day 31 of April is 30 April. */
export function clampedDate(year: number, month: number, day: number): LocalDate {
  return format({ year, month, day: Math.min(day, daysInMonth(year, month)) });
}

/** 00 to 31. */
const twoDigits = Array.from({ length: 32 }, (_, number) => String(number).padStart(2, '0'));

function format({ year, month, day }: DateParts): LocalDate {
  if (year < 1 || year > 9999) throw new RangeError(`year ${year} lies outside the calendar`);
  return `${String(year).padStart(4, '0')}-${twoDigits[month]}-${twoDigits[day]}`;
}

/** Days since 0000-03-01. A year counted from March has its leap day last, so month lengths need no table. */
function dayNumber({ year, month, day }: DateParts): number {
  const marchYear = month > 2 ? year : year - 1;
  const marchMonth = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + Math.floor((marchMonth * 153 + 2) / 5) + day - 1;
}

function fromDayNumber(dayNumber: number): DateParts {
  const era = Math.floor(dayNumber / 146_097);
  const dayOfEra = dayNumber - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((dayOfYear * 5 + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((marchMonth * 153 + 2) / 5) + 1,
  };
}

/** Days from one date to another; negative when `to` is before `from`. */
export function daysBetween(from: LocalDate, to: LocalDate): number {
  return dayNumber(partsOf(to)) - dayNumber(partsOf(from));
}

/** The day of the week of a date, from 0 for Monday. */
export function weekdayOf(date: LocalDate): number {
  // 1 March of the year 0 was a Wednesday.
  return (dayNumber(partsOf(date)) + 2) % 7;
}

/** The date `days` days later; earlier for a negative count. @throws RangeError outside the years 1..9999. */
export function addDays(date: LocalDate, days: number): LocalDate {
  const parts = partsOf(date);
  const day = parts.day + days;
  // Most of them: another day of the same month, however short that is.
  if (day >= 1 && day <= shortestMonthDays) return `${date.slice(0, dayAt)}${twoDigits[day]}`;
  return format(fromDayNumber(dayNumber(parts) + days));
}

/**
 * The date `months` months later, on `anchorDay` or on the month's last day where the month is shorter. Passing the
 * same anchor day at every step keeps a series from drifting: 31 January, 28 February, 31 March.
 */
export function addMonths(date: LocalDate, months: number, anchorDay: number = partsOf(date).day): LocalDate {
  const { year, month } = partsOf(date);
  const index = year * monthsPerYear + (month - 1) + months;
  return clampedDate(Math.floor(index / monthsPerYear), (index % monthsPerYear) + 1, anchorDay);
}
