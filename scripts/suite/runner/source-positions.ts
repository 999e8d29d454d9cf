import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';

/** Positions as the engine writes them into stacks. The address of a test file ends with its run. */
const position = /(?:file:\/\/)?(\/[^\s():?]+\.js)(?:\?run=\d+)?:(\d+):(\d+)/g;

/**
 * A stack with the positions in the sources of the files that were compiled. The engine's own option for that reads a
 * map for each file that any process or thread loads, and tests start thousands of threads.
 */
export function inSources(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replaceAll(position, (compiled: string, path: string, line: string, column: string) => {
    if (!maps.has(path)) maps.set(path, mapOf(path));
    const found = maps.get(path)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || !('originalSource' in found)) return compiled;
    const source = relative('.', resolve(dirname(path), found.originalSource));
    return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

function mapOf(path: string): SourceMap | undefined {
  const map = `${path}.map`;
  return existsSync(map) ? new SourceMap(JSON.parse(readFileSync(map, 'utf8')) as SourceMapPayload) : undefined;
}
