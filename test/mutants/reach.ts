import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CoverageReport } from './coverage-of-tests.ts';
import type { Mutant } from './mutant.ts';

/** The executed parts of each file of src: pairs of offsets, the second after the part. */
type Executed = Readonly<Record<string, readonly (readonly [number, number])[]>>;

/** Which code a test executes, and how long it takes with its hooks. */
export interface TestReach {
  /** With the titles of its suites. */
  readonly title: string;
  readonly milliseconds: number;
  readonly executed: Executed;
}

/** Which code a test file executes, as V8 counted it, and how long it takes. */
export interface Reach {
  readonly milliseconds: number;
  /** The compiled files that it loads, relative to the build, with a hash of their content. */
  readonly loaded: Readonly<Record<string, string>>;
  /** Outside of its tests: in hooks, while files are loaded, and in the threads and processes that it starts. */
  readonly between: Executed;
  readonly tests: readonly TestReach[];
}

/** The tests of a file that execute the place of a mutant in their thread. */
export function testsReaching(reach: Reach, mutant: Mutant): readonly TestReach[] {
  return reach.tests.filter(({ executed }) => isExecuted(executed, mutant));
}

/** Whether a test file executes the place of a mutant where the test cannot be determined. */
export function reachesBetween(reach: Reach, mutant: Mutant): boolean {
  return isExecuted(reach.between, mutant);
}

function isExecuted(executed: Executed, { compiled, mutation }: Mutant): boolean {
  const parts = executed[compiled] ?? [];
  return parts.some(([from, to]) => from <= mutation.from && mutation.from < to);
}

type Painted = Map<string, Uint8Array>;

/**
 * Reads the reports that the processes of a test file wrote with NODE_V8_COVERAGE, and its runner for each test.
 * @param reports the folder of the reports
 */
export function readReach(build: string, reports: string, milliseconds: number): Reach {
  const loaded = new Set<string>();
  const between: Painted = new Map();
  const tests = new Map<string, { milliseconds: number; painted: Painted }>();
  for (const name of readdirSync(reports)) {
    const report = JSON.parse(readFileSync(join(reports, name), 'utf8')) as CoverageReport;
    // Tests of one title are run together.
    const test = report.test && (tests.get(report.test.title) ?? { milliseconds: 0, painted: new Map() });
    if (report.test !== undefined && test !== undefined) {
      test.milliseconds += report.test.milliseconds;
      tests.set(report.test.title, test);
    }
    for (const { url, functions } of report.result) {
      const file = url.startsWith('file:') ? relative(build, fileURLToPath(url)) : '..';
      if (file.startsWith('..')) continue;
      loaded.add(file);
      if (!file.startsWith('src')) continue;
      const ranges = functions.flatMap((each) => each.ranges);
      paint(test?.painted ?? between, file, ranges);
    }
  }
  return {
    milliseconds,
    loaded: hashesOf(build, [...loaded]),
    between: partsOfFiles(between),
    tests: [...tests].map(([title, test]) => ({
      title,
      milliseconds: test.milliseconds,
      executed: partsOfFiles(test.painted),
    })),
  };
}

type Ranges = CoverageReport['result'][number]['functions'][number]['ranges'];

/** Marks what a process executed: the narrowest range around a place has its count. */
function paint(painted: Painted, file: string, ranges: Ranges): void {
  const length = Math.max(0, ...ranges.map(({ endOffset }) => endOffset));
  const own = new Uint8Array(length);
  const widthOf = ({ startOffset, endOffset }: Ranges[number]): number => endOffset - startOffset;
  for (const range of ranges.toSorted((a, b) => widthOf(b) - widthOf(a))) {
    own.fill(range.count > 0 ? 1 : 0, range.startOffset, range.endOffset);
  }
  const before = painted.get(file) ?? new Uint8Array();
  const executed = before.length < length ? new Uint8Array(length) : before;
  if (executed !== before) executed.set(before);
  for (const [offset, isExecuted] of own.entries()) if (isExecuted === 1) executed[offset] = 1;
  painted.set(file, executed);
}

function partsOfFiles(painted: Painted): Executed {
  const parts = [...painted].map(([file, bytes]) => [file, partsOf(bytes)] as const);
  return Object.fromEntries(parts.filter(([, ofFile]) => ofFile.length > 0));
}

function partsOf(executed: Uint8Array): readonly (readonly [number, number])[] {
  const parts: (readonly [number, number])[] = [];
  let from = executed.indexOf(1);
  while (from !== -1) {
    const end = executed.indexOf(0, from);
    const to = end === -1 ? executed.length : end;
    parts.push([from, to]);
    from = executed.indexOf(1, to);
  }
  return parts;
}

function hashesOf(build: string, files: readonly string[]): Record<string, string> {
  return Object.fromEntries(files.map((file) => [file, hashOf(join(build, file))]));
}

function hashOf(path: string): string {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}

/**
 * The stored results of a test file, as long as nothing that it loads was changed; undefined otherwise.
 * @param folder below src: nothing is stored for other folders
 */
export function recallReach(build: string, memory: string, folder: string): Reach | undefined {
  if (!existsSync(memory)) return undefined;
  const reach = JSON.parse(readFileSync(memory, 'utf8')) as Reach;
  const isCurrent = Object.entries(reach.loaded).every(([file, hash]) => hashOf(join(build, file)) === hash);
  return isCurrent ? ofFolder(reach, folder) : undefined;
}

export function rememberReach(memory: string, reach: Reach): void {
  mkdirSync(dirname(memory), { recursive: true });
  writeFileSync(memory, JSON.stringify(reach));
}

/** Only what concerns one folder of src. */
export function ofFolder(reach: Reach, folder: string): Reach {
  const prefix = `src/${folder}/`;
  const within = (executed: Executed): Executed =>
    Object.fromEntries(Object.entries(executed).filter(([file]) => file.startsWith(prefix)));
  return {
    ...reach,
    between: within(reach.between),
    tests: reach.tests.map((test) => ({ ...test, executed: within(test.executed) })),
  };
}
