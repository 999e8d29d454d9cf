import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/package-root.ts';
import { composeDescription } from './openapi/compose.ts';
import { endIfHelpIsAsked } from './read-usage.ts';

/**
 * Builds schemas/openapi.json from its source files. With `--check` it writes nothing, and fails when the file in the
 * tree differs from what they give.
 */
endIfHelpIsAsked('generate');

const target = join(packageRoot, 'schemas/openapi.json');

const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
const made = `${JSON.stringify(composeDescription(join(packageRoot, 'schemas'), version), null, 2)}\n`;
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== made) {
    console.error(`${target} is out of date: run npm run generate`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, made);
}
