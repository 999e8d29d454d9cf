import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FileOutcome } from './runner.ts';
import { nameOn, type TestFile } from './test-files.ts';

/** How long the slow test files took when that was last recorded, in seconds, by name and backend. */
type Durations = Readonly<Record<string, number>>;

/** Files that take less are not recorded: their order does not matter. Seconds. */
const recordedSecondsMinimum = 2;

const table = fileURLToPath(new URL('../../../scripts/suite/durations.json', import.meta.url));

/**
 * The slowest files first, as far as that is known; before them those on the previous Kafka, which ends when they are
 * done.
 */
export function slowestFirst(files: readonly TestFile[]): TestFile[] {
  const durations = JSON.parse(readFileSync(table, 'utf8')) as Durations;
  const secondsOf = (file: TestFile): number => durations[keyOf(file)] ?? 0;
  const onPrevious = (file: TestFile): number => Number(file.needs.includes('previous'));
  return [...files].sort((left, right) => onPrevious(right) - onPrevious(left) || secondsOf(right) - secondsOf(left));
}

/** Writes the table of slow files again, from a run of all of them. */
export function recordDurations(outcomes: readonly FileOutcome[]): void {
  const slow = outcomes
    .map(({ file, milliseconds }) => [keyOf(file), Math.round(milliseconds / 1_000)] as const)
    .filter(([, seconds]) => seconds >= recordedSecondsMinimum)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  writeFileSync(table, `${JSON.stringify(Object.fromEntries(slow), null, 2)}\n`);
}

function keyOf({ source, backend }: TestFile): string {
  return nameOn(backend, source);
}
