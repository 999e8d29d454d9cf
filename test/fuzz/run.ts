import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flag, oneOf, optionsOf, seed as seedOption, wholeNumber } from '../../scripts/command-line.ts';
import { endByItself } from '../../scripts/suite/runner/open-resources.ts';
import type { Outcome } from './campaign.ts';

/** The command line of the fuzzer. */

const { requests, seed, backend, keep } = optionsOf('fuzz', {
  requests: wholeNumber(1, 10_000),
  seed: seedOption(),
  backend: oneOf(['embedded', 'cluster'], 'embedded'),
  keep: flag,
});

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const folder = mkdtempSync(join(tmpdir(), `lendstream-fuzz-${seed}-`));
printLine(`Seed ${seed} on ${backend}; files in ${folder}`);
// Loaded now, so that a wrong command line or --help is answered at once.
const [{ startCluster }, { fuzz }, { isClean, reportOf }] = await Promise.all([
  import('../../scripts/local-cluster/local-cluster.ts'),
  import('./fuzz.ts'),
  import('./report.ts'),
]);
const cluster = backend === 'cluster' ? await startCluster({ printLine }) : undefined;
let outcome: Outcome;
try {
  outcome = await fuzz({ cluster, folder, seed, requests, printLine });
} finally {
  await cluster?.stop();
}
for (const line of reportOf(outcome, folder)) printLine(line);
if (isClean(outcome) && !keep) rmSync(folder, { recursive: true, force: true });
process.exitCode = isClean(outcome) ? 0 : 1;
endByItself(printLine);
