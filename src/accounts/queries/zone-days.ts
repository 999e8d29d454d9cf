import type { LocalDate } from '../../lending/terms.ts';

/** When days and times of a time zone begin. */

const hourMilliseconds = 3_600_000;

const writers = new Map<string, Intl.DateTimeFormat>();

/** The first instant of a day in a zone, in milliseconds since the epoch. */
export function startOfDayInZone(zone: string, day: LocalDate): number {
  return instantInZone(zone, `${day}T00:00:00`);
}

/**
 * The instant at which clocks of a zone show a time; the first one where they show it twice, and the time plus the gap
 * where they leave it out.
 * @param time `2026-11-20T14:30:00`, without an offset.
 */
export function instantInZone(zone: string, time: string): number {
  const asUtc = Date.parse(`${time}Z`);
  // No zone changes its clocks twice within two days, so one of the two offsets is the right one.
  const candidates = [-24, 24].map((hours) => asUtc - offsetAt(zone, asUtc + hours * hourMilliseconds));
  const matching = candidates.filter((candidate) => wallClock(zone, candidate) === time.slice(0, 19));
  return Math.min(...(matching.length > 0 ? matching : [Math.max(...candidates)]));
}

function offsetAt(zone: string, instant: number): number {
  const wholeSecond = Math.floor(instant / 1_000) * 1_000;
  return Date.parse(`${wallClock(zone, wholeSecond)}Z`) - wholeSecond;
}

/** What the clocks of a zone show, to the second. */
function wallClock(zone: string, instant: number): string {
  if (zone === 'UTC') return new Date(instant).toISOString().slice(0, 19);
  const parts = Object.fromEntries(
    writerOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const day = `${String(parts['year']).padStart(4, '0')}-${parts['month']}-${parts['day']}`;
  return `${day}T${parts['hour']}:${parts['minute']}:${parts['second']}`;
}

function writerOf(zone: string): Intl.DateTimeFormat {
  const known = writers.get(zone);
  if (known !== undefined) return known;
  const writer = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  writers.set(zone, writer);
  return writer;
}
