import type { FileOutcome } from './runner/runner.ts';
import type { TestFile } from './test-files.ts';

/** How many files may fail beside others and run again. More of them are no matter of a busy machine. */
export const secondRunsMaximum = 3;

/** A file that failed, and its outcome when it ran again. */
export interface SecondRun {
  readonly first: FileOutcome;
  readonly second: FileOutcome;
}

/**
 * Runs the files that failed again, one after another, when nothing runs beside them any more. Returns no second runs
 * when more than {@link secondRunsMaximum} failed. docs/decisions/0081-a-failed-file-runs-again.md has the reasons.
 * @param runAlone runs a file in a process that has run nothing else
 */
export async function runFailedAgain(
  outcomes: readonly FileOutcome[],
  runAlone: (file: TestFile) => Promise<FileOutcome>,
): Promise<SecondRun[]> {
  const failed = outcomes.filter(({ counts }) => counts.failed > 0);
  if (failed.length > secondRunsMaximum) return [];
  const secondRuns: SecondRun[] = [];
  for (const first of failed) secondRuns.push({ first, second: await runAlone(first.file) });
  return secondRuns;
}

/** The outcomes that count: that of the second run for a file that has one. */
export function countedOutcomes(outcomes: readonly FileOutcome[], secondRuns: readonly SecondRun[]): FileOutcome[] {
  const seconds = new Map(secondRuns.map(({ first, second }) => [first, second]));
  return outcomes.map((outcome) => seconds.get(outcome) ?? outcome);
}
