import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutant.ts';

/** Which code a test file executes, as V8 counted it, and how long it takes. */
export interface Reach {
  readonly milliseconds: number;
  /** The compiled files that it loads, relative to the build, with a hash of what is in them. */
  readonly loaded: Readonly<Record<string, string>>;
  /** The executed parts of each file of src: pairs of offsets, the second after the part. */
  readonly executed: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

interface CoverageRange {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface CoverageReport {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly CoverageRange[] }[];
  }[];
}

export function reaches(reach: Reach, { compiled, mutation }: Mutant): boolean {
  const parts = reach.executed[compiled] ?? [];
  return parts.some(([from, to]) => from <= mutation.from && mutation.from < to);
}

/** Whether a test file loads the file of a mutant at all. */
export function loads(reach: Reach, { compiled }: Mutant): boolean {
  return reach.loaded[compiled] !== undefined;
}

/**
 * Reads what the processes of a test file wrote with NODE_V8_COVERAGE.
 * @param reports the folder that they wrote to
 */
export function readReach(build: string, reports: string, milliseconds: number): Reach {
  const painted = new Map<string, Uint8Array>();
  for (const name of readdirSync(reports)) {
    const { result } = JSON.parse(readFileSync(join(reports, name), 'utf8')) as CoverageReport;
    for (const { url, functions } of result) {
      const file = url.startsWith('file:') ? relative(build, fileURLToPath(url)) : '..';
      if (file.startsWith('..')) continue;
      const ranges = functions.flatMap((each) => each.ranges);
      const executed = painted.get(file) ?? new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
      painted.set(file, executed);
      paint(executed, ranges);
    }
  }
  const executed: Record<string, readonly (readonly [number, number])[]> = {};
  for (const [file, bytes] of painted) if (file.startsWith('src')) executed[file] = partsOf(bytes);
  return { milliseconds, loaded: hashesOf(build, [...painted.keys()]), executed };
}

/** Marks what a process executed: the narrowest range around a place has its count. */
function paint(executed: Uint8Array, ranges: readonly CoverageRange[]): void {
  const own = new Uint8Array(executed.length);
  const widthOf = ({ startOffset, endOffset }: CoverageRange): number => endOffset - startOffset;
  for (const range of ranges.toSorted((a, b) => widthOf(b) - widthOf(a))) {
    own.fill(range.count > 0 ? 1 : 0, range.startOffset, range.endOffset);
  }
  for (const [offset, isExecuted] of own.entries()) if (isExecuted === 1) executed[offset] = 1;
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

/** What is remembered of a test file, as long as nothing that it loads was changed; undefined otherwise. */
export function recallReach(build: string, memory: string): Reach | undefined {
  if (!existsSync(memory)) return undefined;
  const reach = JSON.parse(readFileSync(memory, 'utf8')) as Reach;
  const isCurrent = Object.entries(reach.loaded).every(([file, hash]) => hashOf(join(build, file)) === hash);
  return isCurrent ? reach : undefined;
}

export function rememberReach(memory: string, reach: Reach): void {
  mkdirSync(dirname(memory), { recursive: true });
  writeFileSync(memory, JSON.stringify(reach));
}
