import type { CommandHeader } from './commands.ts';
import type { LocalDate } from './terms.ts';

/** The calendar day of an instant given in milliseconds since the epoch, in a time zone; UTC where none is given. */
export function dayOf(instant: number, timeZone = 'UTC'): LocalDate {
  return timeZone === 'UTC' ? toInstant(instant).slice(0, 10) : dayFormat(timeZone).format(instant);
}

/** The day on which a command entered the log, where the organization is: the today of its decision. */
export function dayOfCommand({ receivedAt, receivedOn }: Pick<CommandHeader, 'receivedAt' | 'receivedOn'>): LocalDate {
  return receivedOn ?? dayOf(receivedAt);
}

/** Formats days as `YYYY-MM-DD`. A formatter takes long to make, and there is one zone. */
function dayFormat(timeZone: string): Intl.DateTimeFormat {
  const cached = dayFormats.get(timeZone);
  if (cached !== undefined) return cached;
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  dayFormats.clear();
  dayFormats.set(timeZone, format);
  return format;
}

const dayFormats = new Map<string, Intl.DateTimeFormat>();

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
