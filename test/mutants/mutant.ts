import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { mutationsOf, withMutation, type Mutation } from './operators.ts';

/** One small fault at one place of the compiled code, named in a way that stays valid when lines move. */
export interface Mutant {
  /** The compiled file, relative to the build: `src/lending/dates.js`. */
  readonly compiled: string;
  /** The source file, relative to the project: `src/lending/dates.ts`. */
  readonly file: string;
  /** Line of the source, from 1. */
  readonly line: number;
  /** The text of that line, trimmed. */
  readonly text: string;
  /** The change in one line: `a < b → a <= b`. */
  readonly change: string;
  /** Which of the places with the same text and change of the file this is, from 1. */
  readonly occurrence: number;
  readonly mutation: Mutation;
  /** The compiled lines around it without the fault, in one line. */
  readonly before: string;
  /** The same with the fault. */
  readonly after: string;
}

/** The name of a mutant in lists. */
export type MutantName = Pick<Mutant, 'file' | 'text' | 'change' | 'occurrence'>;

export function nameOf({ file, text, change, occurrence }: MutantName): string {
  return [file, text, change, occurrence].join('\n');
}

/**
 * Every mutant of the compiled files below a folder.
 * @param build the folder with `src` and `test` as they were compiled
 * @param folder below src: `lending`, `broker/streaming`
 */
export function mutantsOf(build: string, folder: string): readonly Mutant[] {
  const root = join(build, 'src', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .sort()
    .flatMap((path) => mutantsOfFile(build, join('src', folder, path)));
}

/** Every mutant of one compiled file, relative to the build; none where it or its source is gone. */
export function mutantsOfFile(build: string, compiled: string): readonly Mutant[] {
  if (!existsSync(join(build, compiled))) return [];
  const code = readFileSync(join(build, compiled), 'utf8');
  const source = sourceOf(build, compiled, code);
  if (source === undefined) return [];
  const occurrences = new Map<string, number>();
  return mutationsOf(code).map((mutation) => {
    const line = source.lineAt(mutation.start);
    const named = { file: source.file, text: (source.lines[line - 1] ?? '').trim(), change: mutation.change };
    const key = nameOf({ ...named, occurrence: 0 });
    const occurrence = (occurrences.get(key) ?? 0) + 1;
    occurrences.set(key, occurrence);
    return { ...named, ...linesAround(code, mutation), compiled, line, occurrence, mutation };
  });
}

interface Source {
  readonly file: string;
  readonly lines: readonly string[];
  /** The line of the source, from 1, for an offset of the compiled code. */
  lineAt(offset: number): number;
}

/** The source of compiled code; the compiled file itself without a map, undefined when its source is gone. */
function sourceOf(build: string, compiled: string, code: string): Source | undefined {
  const project = dirname(build);
  const path = join(build, compiled);
  const positionAt = positionsIn(code);
  if (!existsSync(`${path}.map`)) {
    return { file: compiled, lines: code.split('\n'), lineAt: (offset) => positionAt(offset).line + 1 };
  }
  const payload = JSON.parse(readFileSync(`${path}.map`, 'utf8')) as SourceMapPayload;
  const sourcePath = resolve(dirname(path), payload.sources[0] ?? '');
  if (!existsSync(sourcePath)) return undefined;
  const map = new SourceMap(payload);
  return {
    file: relative(project, sourcePath),
    lines: readFileSync(sourcePath, 'utf8').split('\n'),
    lineAt(offset) {
      const { line, column } = positionAt(offset);
      const entry = map.findEntry(line, column);
      return 'originalLine' in entry ? entry.originalLine + 1 : line + 1;
    },
  };
}

/** Converts offsets in a text to line and column, from 0. */
function positionsIn(code: string): (offset: number) => { line: number; column: number } {
  const starts = [0];
  for (let at = code.indexOf('\n'); at !== -1; at = code.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { line, column: offset - (starts[line] ?? 0) };
  };
}

/** The compiled lines that a fault changes, without it and with it, each in one line. */
function linesAround(code: string, mutation: Mutation): { before: string; after: string } {
  const from = code.lastIndexOf('\n', mutation.start) + 1;
  const end = code.indexOf('\n', mutation.end);
  const tail = end === -1 ? 0 : code.length - end;
  const changed = withMutation(code, mutation);
  const inOneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');
  return {
    before: inOneLine(code.slice(from, code.length - tail)),
    after: inOneLine(changed.slice(from, changed.length - tail)),
  };
}

/**
 * The mutants in the order of a seed. The name of each determines its position, so that a change elsewhere or one
 * mutant less does not move the others.
 */
export function shuffled(mutants: readonly Mutant[], seed: number): readonly Mutant[] {
  const rank = (mutant: Mutant): string =>
    createHash('sha256')
      .update(`${seed}\n${nameOf(mutant)}`)
      .digest('hex');
  return mutants
    .map((mutant) => ({ mutant, rank: rank(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ mutant }) => mutant);
}
