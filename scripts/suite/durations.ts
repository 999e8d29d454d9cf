import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FileOutcome } from './runner/runner.ts';
import { nameOn, type TestFile } from './test-files.ts';

/** How long a test file took, and how much of that time processors worked for it, its processes among them. Seconds. */
export interface Duration {
  readonly seconds: number;
  readonly processorSeconds: number;
}

/** What the slow test files took when that was last recorded, by name and backend. */
type Durations = Readonly<Record<string, Duration>>;

/** Files that take less are not recorded: their order does not matter. Seconds. */
const recordedSecondsMinimum = 2;

const table = fileURLToPath(new URL('../../../scripts/suite/durations.json', import.meta.url));

/** The order in which the files are handed out to runners, by what they took when that was last recorded. */
export function inOrderOfStart(files: readonly TestFile[]): TestFile[] {
  return orderOfStart(files, JSON.parse(readFileSync(table, 'utf8')) as Durations);
}

/**
 * The slowest files first, so that no runner ends with one alone. Files that mostly wait alternate with files that
 * mostly work: the slowest of all are those that wait, and a run of them would leave the processors idle. Before all
 * others come those on the previous Kafka, which ends when they are done.
 */
export function orderOfStart(files: readonly TestFile[], durations: Durations): TestFile[] {
  const known = files
    .map((file) => ({ file, ...(durations[keyOf(file)] ?? unknown) }))
    .sort((left, right) => right.seconds - left.seconds);
  const [seconds, processorSeconds] = [sumOf(known, 'seconds'), sumOf(known, 'processorSeconds')];
  const works = (each: Duration): boolean => each.processorSeconds * seconds > processorSeconds * each.seconds;
  const ordered = [...withStarts(known.filter(works)), ...withStarts(known.filter((each) => !works(each)))]
    .sort((left, right) => left.start - right.start)
    .map(({ file }) => file);
  const onPrevious = (file: TestFile): number => Number(file.needs.includes('previous'));
  return ordered.sort((left, right) => onPrevious(right) - onPrevious(left));
}

type Known = Duration & { readonly file: TestFile };

/** When each file starts if they run one after another, as a part of the time that all of them take. */
function withStarts(files: readonly Known[]): { file: TestFile; start: number }[] {
  const total = sumOf(files, 'seconds');
  let before = 0;
  return files.map(({ file, seconds }) => {
    const start = total === 0 ? 0 : before / total;
    before += seconds;
    return { file, start };
  });
}

const unknown: Duration = { seconds: 0, processorSeconds: 0 };

function sumOf(durations: readonly Duration[], which: keyof Duration): number {
  return durations.reduce((sum, duration) => sum + duration[which], 0);
}

/** Writes the table of slow files again, from a run of all of them. */
export function recordDurations(outcomes: readonly FileOutcome[]): void {
  const slow = outcomes
    .map(({ file, milliseconds, processorSeconds }) => {
      const duration = { seconds: Math.round(milliseconds / 1_000), processorSeconds: Math.round(processorSeconds) };
      return [keyOf(file), duration] as const;
    })
    .filter(([, { seconds }]) => seconds >= recordedSecondsMinimum)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  writeFileSync(table, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`);
}

function keyOf({ source, backend }: TestFile): string {
  return nameOn(backend, source);
}
