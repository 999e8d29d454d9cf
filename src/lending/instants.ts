import type { LocalDate } from './terms.ts';

/** The calendar day (UTC) of an instant given in milliseconds since the epoch. */
export function dayOf(instant: number): LocalDate {
  return toInstant(instant).slice(0, 10);
}

/** An instant as RFC 3339 in UTC. */
export function toInstant(instant: number): string {
  return new Date(instant).toISOString();
}

/** The first instant of a calendar day, UTC: how the API writes a day as a date-time. */
export function startOfDay(day: LocalDate): string {
  return `${day}T00:00:00Z`;
}

/** {@link startOfDay} of a day that there may not be. */
export function startOfDayOrNull(day: LocalDate | null): string | null {
  return day === null ? null : startOfDay(day);
}
