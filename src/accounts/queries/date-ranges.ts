import { addDays, isLocalDate } from '../../lending/dates.ts';
import { dayOf } from '../../lending/instants.ts';
import type { LocalDate } from '../../lending/terms.ts';
import type { Bound } from './conditions.ts';
import { instantInZone, startOfDayInZone } from './zone-days.ts';

/** The days and instants that criteria name, as ranges of comparable values. */

export interface Range {
  readonly from: Bound;
  readonly to: Bound;
}

/** Where and when a search is made: its days are those of the zone of the organization. */
export interface SearchTime {
  /** A name such as Europe/Berlin. */
  readonly zone: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The last day of a year with four digits. */
const lastDay = '9999-12-31';

export type DateKind = 'instant' | 'day';

const dateForm =
  /^(\d{4}-\d{2}-\d{2})(?:T((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)(?:\.(\d{1,9}))?(Z|[+-](?:0\d|1[0-7]):?[0-5]\d|[+-]18:?00)?)?$/;

/** A date of a criterion: a day as it was written, and the instants that it stands for. */
export interface CriterionDate {
  readonly day: LocalDate;
  /** From the first instant that it includes to the first one after it. An exact time stands for itself. */
  readonly range: Range;
}

/**
 * Reads a day such as `2026-11-20`, or a time on it. A time without an offset is in the zone of the organization.
 * @returns undefined for any other text
 */
export function readDate(text: string, kind: DateKind, { zone }: SearchTime): CriterionDate | undefined {
  const [, day, time, fraction = '', offset] = dateForm.exec(text) ?? [];
  if (day === undefined || !isLocalDate(day)) return undefined;
  if (kind === 'day') return { day, range: wholeDays(day, day, kind, zone) };
  if (time === undefined) return { day, range: wholeDays(day, day, kind, zone) };
  const clock = time.length === 5 ? `${time}:00` : time;
  const second =
    offset === undefined ? instantInZone(zone, `${day}T${clock}`) : Date.parse(`${day}T${clock}${withColon(offset)}`);
  // Accounts have whole milliseconds. A finer time lies between two: after the first and before the second.
  const [before, finer] = [fraction.slice(0, 3).padEnd(3, '0'), fraction.slice(3)];
  const instant = second + Number(before);
  const isBetween = /[1-9]/.test(finer);
  const first = textOf(isBetween ? instant + 1 : instant);
  return { day: dayOf(instant, zone), range: range(first, true, textOf(instant), true) };
}

/** The days from one to another, both included. */
export function wholeDays(first: LocalDate, last: LocalDate, kind: DateKind, zone: string): Range {
  if (kind === 'day') return range(first, true, last, true);
  const from = { value: textOf(startOfDayInZone(zone, first)), included: true };
  // The year of the next day has five digits.
  if (last === lastDay) return { from, to: { value: `${lastDay}T23:59:59.999Z`, included: true } };
  return { from, to: { value: textOf(startOfDayInZone(zone, addDays(last, 1))), included: false } };
}

/** The operators whose days follow from today. */
export type RelativeDays = 'TODAY' | 'THIS_WEEK' | 'THIS_MONTH' | 'THIS_YEAR';

/** The first and the last day that an operator means. A week begins on Monday. */
export function relativeDays(operator: RelativeDays, { zone, now }: SearchTime): readonly [LocalDate, LocalDate] {
  const today = dayOf(now, zone);
  const [year, month] = [today.slice(0, 4), today.slice(0, 7)];
  switch (operator) {
    case 'TODAY':
      return [today, today];
    case 'THIS_WEEK': {
      const daysSinceMonday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7;
      const monday = addDays(today, -daysSinceMonday);
      return [monday, addDays(monday, 6)];
    }
    case 'THIS_MONTH': {
      const inNextMonth = addDays(`${month}-28`, 4);
      return [`${month}-01`, addDays(`${inNextMonth.slice(0, 7)}-01`, -1)];
    }
    case 'THIS_YEAR':
      break;
  }
  return [`${year}-01-01`, `${year}-12-31`];
}

/** Today and the days before it. @param days How many days before. */
export function lastDays(days: number, { zone, now }: SearchTime): readonly [LocalDate, LocalDate] {
  const today = dayOf(now, zone);
  return [addDays(today, -days), today];
}

function range(from: string, fromIncluded: boolean, to: string, toIncluded: boolean): Range {
  return { from: { value: from, included: fromIncluded }, to: { value: to, included: toIncluded } };
}

function textOf(instant: number): string {
  return new Date(instant).toISOString();
}

function withColon(offset: string): string {
  return /^[+-]\d{4}$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset;
}
