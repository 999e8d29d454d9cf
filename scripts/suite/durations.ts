import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FileOutcome } from './runner.ts';
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
  const working = new Begun(known.filter(works));
  const waiting = new Begun(known.filter((each) => !works(each)));
  const ordered: TestFile[] = [];
  while (ordered.length < files.length) ordered.push((working.isBefore(waiting) ? waiting : working).begin());
  const onPrevious = (file: TestFile): number => Number(file.needs.includes('previous'));
  return ordered.sort((left, right) => onPrevious(right) - onPrevious(left));
}

/** Files in their order, and how much of their time was begun. */
class Begun {
  readonly #files: readonly (Duration & { readonly file: TestFile })[];
  readonly #seconds: number;
  #count = 0;
  #begunSeconds = 0;

  constructor(files: readonly (Duration & { readonly file: TestFile })[]) {
    this.#files = files;
    this.#seconds = sumOf(files, 'seconds');
  }

  /** Whether a larger part of these was begun than of the others, or all of them. */
  isBefore(others: Begun): boolean {
    if (this.#isOver || others.#isOver) return this.#isOver;
    return this.#begunSeconds * others.#seconds > others.#begunSeconds * this.#seconds;
  }

  begin(): TestFile {
    const next = this.#files[this.#count];
    if (next === undefined) throw new Error('All files were begun');
    this.#count += 1;
    this.#begunSeconds += next.seconds;
    return next.file;
  }

  get #isOver(): boolean {
    return this.#count === this.#files.length;
  }
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
