import type { Mutant } from './mutant.ts';
import type { Plan } from './plan.ts';
import type { Outcome } from './trial.ts';

/** A mutant and the result of its tests. */
export interface Trial extends Omit<Plan, 'lists'> {
  readonly mutant: Mutant;
  readonly outcome: Outcome;
  /** How long its tests really took, together with the start of their processes. */
  readonly milliseconds: number;
}

/** Whether a test failed or did not end with the fault. */
export function isFound({ outcome }: Pick<Trial, 'outcome'>): boolean {
  return outcome.kind !== 'passed';
}

/** The percentage of found mutants; 100 for none. */
export function percentFound(trials: readonly Trial[]): number {
  return trials.length === 0 ? 100 : (100 * trials.filter(isFound).length) / trials.length;
}

/** `57 of 60 found (95.0 %), 2 of them because a test did not end; 1.4 s each` */
export function shareOf(trials: readonly Trial[]): string {
  const found = trials.filter(isFound);
  const hung = found.filter(({ outcome }) => outcome.kind === 'hung').length;
  const share = `${found.length} of ${trials.length} found (${percentFound(trials).toFixed(1)} %)`;
  const seconds = trials.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1_000;
  const mean = trials.length === 0 ? '' : `; ${(seconds / trials.length).toFixed(1)} s each`;
  return `${share}${hung === 0 ? '' : `, ${hung} of them because a test did not end`}${mean}`;
}

/** The position of a survivor, the tests that did not find it, and its line without the fault and with it. */
export function survivorLines({ mutant, files, leftOut }: Trial): readonly string[] {
  const { file, line, mutation, before, after } = mutant;
  const left = leftOut === 0 ? '' : `  (${leftOut} of ${files} test files were left out)`;
  const tests = files === 0 ? '  (no test executes it)' : left;
  return [`${file}:${line}  ${mutation.operator}${tests}`, `  - ${before}`, `  + ${after}`];
}
