import type { Mutant } from './mutant.ts';
import type { Outcome } from './trial.ts';

/** A mutant and what its tests did. */
export interface Trial {
  readonly mutant: Mutant;
  readonly outcome: Outcome;
}

/** Whether a test failed or did not end with the fault. */
export function isFound({ outcome }: Trial): boolean {
  return outcome.kind !== 'passed';
}

/** How many of a hundred were found; all of none. */
export function percentFound(trials: readonly Trial[]): number {
  return trials.length === 0 ? 100 : (100 * trials.filter(isFound).length) / trials.length;
}

/** `57 of 60 found (95.0 %), 2 of them because a test did not end`. */
export function shareOf(trials: readonly Trial[]): string {
  const found = trials.filter(isFound);
  const hung = found.filter(({ outcome }) => outcome.kind === 'hung').length;
  const share = `${found.length} of ${trials.length} found (${percentFound(trials).toFixed(1)} %)`;
  return hung === 0 ? share : `${share}, ${hung} of them because a test did not end`;
}

/** Where a survivor stands, and its line without the fault and with it. */
export function survivorLines({ mutant }: Trial): readonly string[] {
  const { file, line, mutation, before, after } = mutant;
  return [`${file}:${line}  ${mutation.operator}`, `  - ${before}`, `  + ${after}`];
}
