import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';

export interface LogLine {
  readonly file: string;
  readonly level: 'warn' | 'error';
  readonly message: string;
}

/** `logger.warn(` and the like, also with a computed level: `logger[... ? 'debug' : 'warn'](`. */
const call = /[lL]ogger(?:\.(warn|error)|\[([^\]]*)\])\(/g;

/** Every line of level warn or error that the service may log. */
export function logLines(): LogLine[] {
  const files = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('admin/'))
    .sort();
  return files.flatMap((path) => {
    const file = `src/${path}`;
    const text = readFileSync(join(packageRoot, file), 'utf8');
    return [...text.matchAll(call)].map((match): LogLine => {
      const level = `${match[1] ?? ''}${match[2] ?? ''}`.includes('error') ? 'error' : 'warn';
      return { file, level, message: lastText(text, match.index + match[0].length) };
    });
  });
}

/** The last text in quotes before the parenthesis that was opened before `start` closes. */
function lastText(source: string, start: number): string {
  let depth = 1;
  let last = '';
  for (let index = start; index < source.length && depth > 0; index += 1) {
    const character = source[index];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === "'") {
      const end = source.indexOf("'", index + 1);
      last = source.slice(index + 1, end);
      index = end;
    }
  }
  return last;
}
