import { median } from '../bench/statistics.ts';
import { timedKinds, type LoadFigures, type Timed } from './load/counts.ts';
import type { Disk, Memory } from './measures.ts';

/** One line of the soak: what the load did in an interval, and what the service took at its end. */
export interface Interval extends LoadFigures {
  /** The end of the interval, since the load began. */
  readonly minute: number;
  readonly memory: Memory;
  readonly disk: Disk;
}

/** A soak from its beginning to its end. */
export interface Series {
  readonly intervals: readonly Interval[];
  /** Intervals that end later than this are judged. */
  readonly warmUpMinutes: number;
  /** In use after a collection of all garbage: after the warm-up, and after the load. */
  readonly bytesInUse: { readonly warm: number; readonly end: number };
  readonly asked: Asked;
}

/** The load that was asked for. */
export interface Asked {
  readonly eventsPerSecond: number;
  readonly loansPerMinute: number;
  readonly commandsPerMinute: number;
}

export interface Limits {
  /** How many times its memory the service may have at the end, apart from {@link memoryAllowanceBytes}. */
  readonly memoryGrowth: number;
  /** How many times the 99th percentiles may be at the end, apart from {@link latencyAllowanceMilliseconds}. */
  readonly latencyGrowth: number;
  /** The share of the load that was asked for, at least. */
  readonly carriedShare: number;
}

export interface Verdict {
  readonly name: string;
  readonly rule: string;
  readonly isGood: boolean;
  /** The figures behind it. */
  readonly figures: string;
}

/** The share of the intervals after the warm-up that are compared: the first and the last fifth. */
const comparedShare = 0.2;

/** The fewest intervals after the warm-up that can be judged. */
export const judgedIntervalsMinimum = 5;

/** Memory that depends on when the engine last collected garbage. Bytes. */
const memoryAllowanceBytes = 32 * 1024 * 1024;

/** Latencies below a few milliseconds vary with the machine. Milliseconds. */
const latencyAllowanceMilliseconds = 2;

/** What SQLite adds to a batch, in pages and in its index. */
const diskPerEventByte = 1.25;

/** The local copy of an account, and its records in the log: those are compacted when they are twice what is live. */
const diskPerAccountByte = 3;

/** The write-ahead logs, which are between empty and full at any time. Bytes. */
const diskAllowanceBytes = 128 * 1024 * 1024;

/** Whether memory, disk and latencies stayed as they were. */
export function judge(series: Series, limits: Limits): Verdict[] {
  const judged = series.intervals.filter(({ minute }) => minute > series.warmUpMinutes);
  if (judged.length < judgedIntervalsMinimum) throw new Error(`${judged.length} intervals are too few to be judged`);
  const count = Math.floor(judged.length * comparedShare);
  const first = judged.slice(0, count);
  const last = judged.slice(-count);
  return [
    resident(first, last, limits),
    inUse(series, limits),
    disk(first, last),
    ...timedKinds.map((kind) => latency(kind, first, last, limits)),
    carried(judged, series.asked, limits),
    failures(series.intervals),
  ];
}

type Intervals = readonly Interval[];

function resident(first: Intervals, last: Intervals, { memoryGrowth }: Limits): Verdict {
  const [before, after] = medians(first, last, ({ memory }) => memory.residentBytes);
  return {
    name: 'resident memory',
    rule: `the median of the last fifth is at most ${memoryGrowth} times that of the first, and ${mebibytes(memoryAllowanceBytes)} more`,
    isGood: after <= before * memoryGrowth + memoryAllowanceBytes,
    figures: `${mebibytes(before)}, then ${mebibytes(after)}`,
  };
}

function inUse({ bytesInUse: { warm, end } }: Series, { memoryGrowth }: Limits): Verdict {
  return {
    name: 'memory in use',
    rule: `without garbage, at the end at most ${memoryGrowth} times that after the warm-up, and ${mebibytes(memoryAllowanceBytes)} more`,
    isGood: end <= warm * memoryGrowth + memoryAllowanceBytes,
    figures: `${mebibytes(warm)}, then ${mebibytes(end)}`,
  };
}

function disk(first: Intervals, last: Intervals): Verdict {
  const growthOf = (valueOf: (disk: Disk) => number): number => {
    const [before, after] = medians(first, last, (interval) => valueOf(interval.disk));
    return after - before;
  };
  const grown = growthOf(({ bytes }) => bytes);
  const events = growthOf(({ eventBytes }) => eventBytes);
  const accounts = growthOf(({ accountBytes }) => accountBytes);
  return {
    name: 'disk',
    rule: `grows by at most ${diskPerEventByte} times the events kept, ${diskPerAccountByte} times the copy of accounts, and ${mebibytes(diskAllowanceBytes)}`,
    isGood: grown <= events * diskPerEventByte + accounts * diskPerAccountByte + diskAllowanceBytes,
    figures: `${mebibytes(grown)} for ${mebibytes(events)} of events and ${mebibytes(accounts)} of accounts`,
  };
}

function latency(kind: Timed, first: Intervals, last: Intervals, { latencyGrowth }: Limits): Verdict {
  // An interval in which nothing was answered is the worst of all.
  const p99Of = (interval: Interval): number => interval[kind].p99 ?? Number.POSITIVE_INFINITY;
  const [before, after] = medians(first, last, p99Of);
  return {
    name: `p99 of ${kind}`,
    rule: `the median of the last fifth is at most ${latencyGrowth} times that of the first, and ${latencyAllowanceMilliseconds} ms more`,
    isGood: Number.isFinite(before) && after <= before * latencyGrowth + latencyAllowanceMilliseconds,
    figures: `${before.toFixed(1)} ms, then ${after.toFixed(1)} ms`,
  };
}

/** A service that becomes slower is asked for less when the load cannot keep its rate. */
function carried(
  judged: Intervals,
  { eventsPerSecond, loansPerMinute, commandsPerMinute }: Asked,
  { carriedShare }: Limits,
): Verdict {
  const sumOf = (valueOf: (interval: Interval) => number): number =>
    judged.reduce((sum, interval) => sum + valueOf(interval), 0);
  const seconds = sumOf((interval) => interval.seconds);
  const rates: readonly (readonly [what: string, actual: number, asked: number])[] = [
    ['events/s', sumOf(({ events }) => events) / seconds, eventsPerSecond],
    ['loans/min', (sumOf(({ loans }) => loans) / seconds) * 60, loansPerMinute],
    ['commands/min', (sumOf(({ commands }) => commands) / seconds) * 60, commandsPerMinute],
  ];
  return {
    name: 'load',
    rule: `at least ${carriedShare} of what was asked for`,
    isGood: rates.every(([, actual, asked]) => actual >= asked * carriedShare),
    figures: rates.map(([what, actual, asked]) => `${Math.round(actual)} of ${asked} ${what}`).join(', '),
  };
}

function failures(intervals: Intervals): Verdict {
  const count = intervals.reduce((sum, interval) => sum + interval.failures, 0);
  return {
    name: 'failures',
    rule: 'every request gets the expected response, and no stream ends by itself',
    isGood: count === 0,
    figures: `${count}`,
  };
}

function medians(
  first: Intervals,
  last: Intervals,
  valueOf: (interval: Interval) => number,
): readonly [before: number, after: number] {
  return [median(first.map(valueOf)), median(last.map(valueOf))];
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / (1024 * 1024))} MiB`;
}
