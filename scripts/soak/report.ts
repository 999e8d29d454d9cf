import { cpus } from 'node:os';
import { figure } from '../bench/statistics.ts';
import { mebibytes, type Asked, type Interval, type Series, type Verdict } from './judge.ts';
import type { Times } from './load/counts.ts';

/** The lines of a soak for people, on the terminal and in its report. */

const columns: readonly (readonly [title: string, write: (interval: Interval) => string])[] = [
  ['minute', ({ minute }) => minute.toFixed(minute < 10 ? 1 : 0)],
  ['resident', ({ memory }) => mebibytes(memory.residentBytes)],
  ['heap', ({ memory }) => mebibytes(memory.heapBytes)],
  ['disk', ({ disk }) => mebibytes(disk.bytes)],
  ['live events', ({ disk }) => mebibytes(disk.eventBytes)],
  ['accounts', ({ disk }) => mebibytes(disk.accountBytes)],
  ['events/s', ({ events, seconds }) => figure(events / seconds)],
  ['delivered/s', ({ delivered, seconds }) => figure(delivered / seconds)],
  ['loans/min', ({ loans, seconds }) => figure((loans / seconds) * 60)],
  ['commands/min', ({ commands, seconds }) => figure((commands / seconds) * 60)],
  ['publish ms', ({ publish }) => timesText(publish)],
  ['command ms', ({ command }) => timesText(command)],
  ['delivery ms', ({ delivery }) => timesText(delivery)],
  ['failures', ({ failures }) => String(failures)],
];

/** Wide enough for the times of requests: median, p99 and the longest. */
const columnWidths = columns.map(([title]) => (title.endsWith(' ms') ? 20 : Math.max(9, title.length)));

function timesText({ p50, p99, longest }: Times): string {
  return [p50, p99, longest].map((value) => (value === null ? '-' : figure(value))).join(' / ');
}

/** The names of the columns; times are p50, p99 and the longest. */
export const headLine = columns.map(([title], index) => title.padStart(columnWidths[index] ?? 0)).join(' ');

export function lineOf(interval: Interval): string {
  return columns.map(([, write], index) => write(interval).padStart(columnWidths[index] ?? 0)).join(' ');
}

export function verdictLines(verdicts: readonly Verdict[]): string[] {
  return verdicts.map(
    ({ name, rule, figures, isGood }) => `  ${isGood ? 'ok    ' : 'BROKEN'}  ${name}: ${figures} (${rule})`,
  );
}

/** The load that was asked for, in words. */
export function loadText({ eventsPerSecond, loansPerMinute, commandsPerMinute }: Asked, streams: number): string {
  return (
    `${figure(eventsPerSecond)} events/s to ${streams} streams, ` +
    `${figure(loansPerMinute)} loans and ${figure(commandsPerMinute)} commands a minute`
  );
}

/** The report in Markdown. */
export function reportOf(
  { backend, streams, begun }: { readonly backend: string; readonly streams: number; readonly begun: Date },
  series: Series,
  verdicts: readonly Verdict[],
): string {
  const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    '# Soak',
    '',
    `Begun ${begun.toISOString()}, ${backend}, ${loadText(series.asked, streams)}. ${machine()}.`,
    `The first ${series.warmUpMinutes.toFixed(1)} minutes are the warm-up. Times are p50 / p99 / longest.`,
    '',
    row(...columns.map(([title]) => title)),
    row(...columns.map(() => '---:')),
    ...series.intervals.map((interval) => row(...columns.map(([, write]) => write(interval)))),
    '',
    row('what', 'figures', 'rule', 'result'),
    row('---', '---', '---', '---'),
    ...verdicts.map(({ name, figures, rule, isGood }) => row(name, figures, rule, isGood ? 'ok' : '**BROKEN**')),
    '',
  ].join('\n');
}

/** What the figures were measured on. */
export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} x ${cpu?.model ?? 'unknown CPU'}, Node.js ${process.version}, ${process.platform} ${process.arch}`;
}
