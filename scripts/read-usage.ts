import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';

/** The usage of a script: the text that its `--help` prints. */
export function readUsage(script: string): string {
  return readFileSync(join(packageRoot, `scripts/usage/${script}.txt`), 'utf8').trimEnd();
}

/** Prints that text and ends this process when one of its arguments asks for it. */
export function endIfHelpIsAsked(script: string): void {
  if (!process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return;
  process.stdout.write(`${readUsage(script)}\n`);
  process.exit(0);
}
