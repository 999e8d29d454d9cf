import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endIfHelpIsAsked } from '../../scripts/read-usage.ts';
import { endByItself } from '../../scripts/suite/open-resources.ts';
import { fuzz } from './fuzz.ts';
import { isClean, reportOf } from './report.ts';

/** The command line of the fuzzer. */

endIfHelpIsAsked('fuzz');

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string' },
    backend: { type: 'string', default: 'embedded' },
    keep: { type: 'boolean', default: false },
  },
});

function countOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new Error(`--${name} is a whole number, not "${text}"`);
}

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : countOf('seed', values.seed);
const folder = mkdtempSync(join(tmpdir(), `lendstream-fuzz-${seed}-`));
const backend = values.backend === 'cluster' ? 'cluster' : 'embedded';
printLine(`Seed ${seed} on ${backend}; files in ${folder}`);
const outcome = await fuzz({ backend, folder, seed, requests: countOf('requests', values.requests), printLine });
for (const line of reportOf(outcome, folder)) printLine(line);
if (isClean(outcome) && !values.keep) rmSync(folder, { recursive: true, force: true });
process.exitCode = isClean(outcome) ? 0 : 1;
endByItself(printLine);
