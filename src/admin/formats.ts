/** Numbers and times as a person reads them. */

/** A count with separators between the thousands. */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** An amount with all its digits, and separators between the thousands. */
export function formatAmount(amount: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(amount);
  if (match === null) return amount;
  const [, sign = '', whole = '', fraction = ''] = match;
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${fraction}`;
}

/** A size in its largest unit. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const size = bytes / 2 ** (10 * power);
  return `${size >= 100 || power === 0 ? Math.round(size) : size.toFixed(1)} ${units[power]}`;
}

/** A time that something takes, from microseconds to seconds. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  const milliseconds = seconds * 1_000;
  return `${milliseconds >= 10 ? Math.round(milliseconds) : milliseconds.toFixed(1)} ms`;
}

/** How long something lasts, in its largest unit. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Older times are shown as their date. */
const relativeSecondsMaximum = 30 * 86_400;

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const zoneFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

/** A time as its distance from now, or as a date when that is far. */
export function formatTime(milliseconds: number, now: number): string {
  const seconds = (now - milliseconds) / 1_000;
  if (Math.abs(seconds) > relativeSecondsMaximum) return dateFormat.format(milliseconds);
  if (Math.abs(seconds) < 5) return 'just now';
  return seconds > 0 ? `${formatDuration(seconds)} ago` : `in ${formatDuration(-seconds)}`;
}

const clockFormat = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' });

/** A time to the millisecond, with the day when it is not today. */
export function formatClock(milliseconds: number, now: number): string {
  const day = dayFormat.format(milliseconds);
  const clock = clockFormat.format(milliseconds);
  return now - milliseconds < 86_400_000 && day === dayFormat.format(now) ? clock : `${day}, ${clock}`;
}

/** A time of the API as a field for times has it, in the time zone of the user. Empty for a text that is no time. */
export function localTimeOf(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** A time to the second, with the time zone of the user. */
export function formatExactTime(milliseconds: number): string {
  return zoneFormat.format(milliseconds);
}
