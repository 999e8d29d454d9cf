import { dirname } from 'node:path';
import { reachesBetween, testsReaching, type Reach, type TestReach } from './reach.ts';
import type { Mutant } from './mutant.ts';
import { titleOf, type Suite } from './suites.ts';
import type { Step } from './trial.ts';

/** Which tests run for a mutant, and in which order. */
export interface Plan {
  /** One list after another, each in separate processes. */
  readonly lists: readonly (readonly Step[])[];
  /** How many test files execute the place, and how many of them are left out because they would take too long. */
  readonly files: number;
  readonly leftOut: number;
}

/** By which factor the test file that mirrors the mutant's file is preferred to another one of the same duration. */
const worthOfMirror = 4;

/** By which factor the other test files of the mutant's folder are preferred: they know most about it. */
const worthOfFolder = 3;

/** By which factor a test file is preferred for each mutant of the same file that it found before. */
const worthOfFinding = 2;

/** Starting a process takes this long in any case, so faster tests have the same priority. */
const startMilliseconds = 200;

/** How much of the time for a mutant the quickest tests of one file may take, before those of the others have run. */
const shareOfFile = 0.15;

/** Records which test files found the mutants of a file. */
export class Findings {
  readonly #counts = new Map<string, number>();

  add(mutant: Mutant, suite: Suite): void {
    this.#counts.set(keyOf(mutant, suite), this.countOf(mutant, suite) + 1);
  }

  countOf(mutant: Mutant, suite: Suite): number {
    return this.#counts.get(keyOf(mutant, suite)) ?? 0;
  }
}

function keyOf({ compiled }: Mutant, suite: Suite): string {
  return `${compiled} ${titleOf(suite)}`;
}

/**
 * The tests that execute the place of the fault, the quickest first. A test file that mirrors the file or found faults
 * in it before comes earlier. The slower tests of each file follow, and where hooks, threads or processes execute the
 * place too, those that may not execute it.
 * @param millisecondsMaximum tests beyond this sum of usual times are left out, except for those of one file
 */
export function planFor(
  mutant: Mutant,
  reaches: ReadonlyMap<Suite, Reach>,
  findings: Findings,
  millisecondsMaximum: number,
): Plan {
  const executing: Required<Step>[] = [];
  const others: Required<Step>[] = [];
  for (const [suite, reach] of reaches) {
    const reaching = testsReaching(reach, mutant);
    const wanted = reachesBetween(reach, mutant) ? reach.tests : reaching;
    const first = quickestOf(reaching.length > 0 ? reaching : wanted, millisecondsMaximum * shareOfFile);
    if (first.length > 0) executing.push(stepOf(suite, reach, first));
    const rest = wanted.filter((test) => !first.includes(test));
    if (rest.length > 0) others.push(stepOf(suite, reach, rest));
  }
  const mirror = mutant.compiled.replace(/^src/, 'test').replace(/\.js$/, '.test.js');
  const folder = `${dirname(mirror)}/`;
  const rank = ({ suite, milliseconds }: Required<Step>): number => {
    const own = suite.path === mirror ? worthOfMirror : suite.path.startsWith(folder) ? worthOfFolder : 0;
    const worth = 1 + own + worthOfFinding * findings.countOf(mutant, suite);
    return Math.max(milliseconds, startMilliseconds) / worth;
  };
  let sum = 0;
  const lists = [executing, others].map((steps) =>
    steps
      .sort((a, b) => rank(a) - rank(b))
      .filter(({ milliseconds }) => {
        const fits = sum === 0 || sum + milliseconds <= millisecondsMaximum;
        if (fits) sum += milliseconds;
        return fits;
      }),
  );
  const files = executing.length;
  return { lists, files, leftOut: files - (lists[0]?.length ?? 0) };
}

/** The quickest tests, one at least, that take no longer than this together. */
function quickestOf(tests: readonly TestReach[], millisecondsMaximum: number): readonly TestReach[] {
  let sum = 0;
  return tests
    .toSorted((a, b) => a.milliseconds - b.milliseconds)
    .filter(({ milliseconds }, index) => (sum += milliseconds) <= millisecondsMaximum || index === 0);
}

function stepOf(suite: Suite, { milliseconds, tests: all }: Reach, tests: readonly TestReach[]): Required<Step> {
  const millisecondsOf = new Map(tests.map((test) => [test.title, test.milliseconds]));
  const hooks = Math.max(0, milliseconds - sumOf(all));
  return {
    suite,
    titles: tests.map(({ title }) => title),
    milliseconds: hooks + sumOf(tests),
    // The hooks before the next test and after the last one count for each.
    millisecondsOfTest: (title) => hooks + (millisecondsOf.get(title) ?? 0),
  };
}

function sumOf(tests: readonly TestReach[]): number {
  return tests.reduce((sum, test) => sum + test.milliseconds, 0);
}
