import { figure, median, quantile } from './statistics.ts';

/** The output of a benchmark while it runs and at its end. */
export interface Report {
  /** Rounds that count, for everything that is measured in rounds. */
  readonly rounds: number;
  readonly lines: readonly string[];
  /** When rounds of the service were under way, for its profile. */
  readonly measuredTimes: readonly MeasuredTime[];
  /** Says what is measured from now on. */
  begin(title: string): void;
  /** Writes to standard error for the person who waits; the text is not part of the report. */
  progress(text: string): void;
  print(text: string): void;
  printRatio(ratio: Ratio): void;
  printFigure(name: string, text: string, reached: boolean, target: string): void;
  /** Prints that a figure with a target was not measured. That counts as missed: it may be. */
  printUnmeasured(name: string, reason: string): void;
  /** Runs a round of the service that counts. */
  measured<Result>(round: () => Promise<Result>): Promise<Result>;
  /** Runs both in turns, the service first, drops the first turn of each, and returns the pairs. */
  inTurns(first: () => Promise<number>, second: () => Promise<number>): Promise<Turns>;
  conclusion(): Conclusion;
}

/** The time of one round. Microseconds of the system's monotonic clock, which all its processes share. */
export interface MeasuredTime {
  /** What was measured. */
  readonly title: string;
  readonly begin: number;
  readonly end: number;
}

/** How the run ends. */
export interface Conclusion {
  readonly text: string;
  readonly exitCode: 0 | 1;
}

export interface Ratio {
  readonly name: string;
  readonly ratios: readonly number[];
  readonly atLeast: number;
  /** A better value than the target, not required. */
  readonly stretch?: number;
  readonly figures: string;
}

export interface Turns {
  readonly firsts: readonly number[];
  readonly seconds: readonly number[];
  readonly ratios: readonly number[];
}

/** The width of the names of figures. */
export const nameColumns = 52;

/**
 * @param title The first line: the machine and setup behind the figures.
 * @param isProfiled Whether the service writes profiles, which makes it slower: no target is then judged.
 * @param progress Shows a line to the person who waits.
 */
export function createReport(
  rounds: number,
  title: string,
  isProfiled: boolean,
  progress: (text: string) => void = (text) => void process.stderr.write(`${text}\n`),
): Report {
  const lines = [title];
  let missed = 0;
  const unmeasured: string[] = [];
  progress(title);
  const print = (text: string): void => {
    lines.push(text);
    progress(`  ${text}`);
  };
  const outcomeOf = (isReached: boolean): string => {
    if (isProfiled) return 'PROFILED, not judged';
    if (!isReached) missed += 1;
    return isReached ? 'ok' : 'MISSED';
  };
  let measuredTitle = title;
  const measuredTimes: MeasuredTime[] = [];
  const measured: Report['measured'] = async (round) => {
    const begin = monotonicMicroseconds();
    const result = await round();
    measuredTimes.push({ title: measuredTitle, begin, end: monotonicMicroseconds() });
    return result;
  };
  return {
    rounds,
    lines,
    measuredTimes,
    begin(text) {
      measuredTitle = text;
      progress(text);
    },
    measured,
    progress,
    print,
    printRatio({ name, ratios, atLeast, stretch, figures }) {
      const value = median(ratios);
      print(
        `${name.padEnd(nameColumns)} ${value.toFixed(2)} (${spread(ratios, (each) => each.toFixed(2))})` +
          `  at least ${atLeast}${stretch === undefined ? '' : ` (stretch ${stretch})`}  ${outcomeOf(value >= atLeast)}   ${figures}`,
      );
    },
    printFigure(name, text, reached, target) {
      print(`${name.padEnd(nameColumns)} ${text}  target ${target}  ${outcomeOf(reached)}`);
    },
    printUnmeasured(name, reason) {
      unmeasured.push(`${name} (${reason})`);
      print(`${name.padEnd(nameColumns)} NOT MEASURED: ${reason}`);
    },
    async inTurns(first, second) {
      const firsts: number[] = [];
      const seconds: number[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        const a = round === 0 ? await first() : await measured(first);
        const b = await second();
        progress(`    ${round === 0 ? 'warm-up' : `round ${round}`}: ${figure(a)} against ${figure(b)}`);
        if (round === 0) continue;
        firsts.push(a);
        seconds.push(b);
      }
      return { firsts, seconds, ratios: firsts.map((value, index) => value / (seconds[index] ?? Number.NaN)) };
    },
    conclusion() {
      if (isProfiled) return { text: 'The service was profiled: no target was judged.', exitCode: 0 };
      if (missed === 0 && unmeasured.length === 0) return { text: 'Every target was reached.', exitCode: 0 };
      const sentences = [
        ...(missed === 0 ? [] : [`${missed} ${missed === 1 ? 'target was' : 'targets were'} missed.`]),
        ...unmeasured.map((each) => `Not measured, which counts as missed: ${each}.`),
      ];
      return { text: sentences.join('\n'), exitCode: 1 };
    },
  };
}

function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** The 10th to the 90th percentile. */
export function spread(values: readonly number[], write: (value: number) => string = figure): string {
  return `${write(quantile(values, 0.1))}..${write(quantile(values, 0.9))}`;
}

/** The medians of both sides of a ratio, to show the scale. */
export function against({ firsts, seconds }: Turns, unit: string): string {
  return `${figure(median(firsts))} against ${figure(median(seconds))} ${unit}`;
}
