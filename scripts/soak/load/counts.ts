import { quantile } from '../../bench/statistics.ts';

/** The times of one kind of request since the line before. Milliseconds; null when there was none. */
export interface Times {
  readonly p50: number | null;
  readonly p99: number | null;
  readonly longest: number | null;
}

/** What the load did since the line before. */
export interface LoadFigures {
  readonly seconds: number;
  /** Acknowledged. */
  readonly events: number;
  /** To all streams. */
  readonly delivered: number;
  /** New loans that were disbursed. */
  readonly loans: number;
  /** That changed a loan. */
  readonly commands: number;
  /** Requests without the expected response, and streams that ended by themselves. */
  readonly failures: number;
  readonly publish: Times;
  readonly command: Times;
  /** From sending an event to its arrival on a stream, which is with the one that fills its batch. */
  readonly delivery: Times;
}

/** What is timed, each with a figure of its own. */
export const timedKinds = ['publish', 'command', 'delivery'] as const;
export type Timed = (typeof timedKinds)[number];
type Counted = 'events' | 'delivered' | 'loans' | 'commands';

/** How many failures are printed; all are counted. */
const printedFailuresMaximum = 20;

/** What the load did since it was last asked. */
export class Counts {
  #since = performance.now();
  #counts = noCounts();
  #failures = 0;
  #printedFailures = 0;
  #milliseconds = noTimes();

  add(what: Counted, count: number): void {
    this.#counts[what] += count;
  }

  time(what: Timed, milliseconds: number): void {
    this.#milliseconds[what].push(milliseconds);
  }

  /** Counts a failure, and prints the first ones on standard error. */
  fail(error: unknown): void {
    this.#failures += 1;
    if (this.#printedFailures === printedFailuresMaximum) return;
    this.#printedFailures += 1;
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }

  /** The figures since the last call; it begins again at 0. */
  take(): LoadFigures {
    const now = performance.now();
    const { publish, command, delivery } = this.#milliseconds;
    const figures = {
      seconds: (now - this.#since) / 1_000,
      ...this.#counts,
      failures: this.#failures,
      publish: timesOf(publish),
      command: timesOf(command),
      delivery: timesOf(delivery),
    };
    this.#since = now;
    this.#counts = noCounts();
    this.#failures = 0;
    this.#milliseconds = noTimes();
    return figures;
  }
}

function noCounts(): Record<Counted, number> {
  return { events: 0, delivered: 0, loans: 0, commands: 0 };
}

function noTimes(): Record<Timed, number[]> {
  return { publish: [], command: [], delivery: [] };
}

function timesOf(milliseconds: readonly number[]): Times {
  if (milliseconds.length === 0) return { p50: null, p99: null, longest: null };
  return { p50: quantile(milliseconds, 0.5), p99: quantile(milliseconds, 0.99), longest: quantile(milliseconds, 1) };
}
