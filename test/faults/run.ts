import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flag, numberAboveZero, oneOf, optionsOf, seed as seedOption } from '../../scripts/command-line.ts';
import { endByItself } from '../../scripts/suite/runner/open-resources.ts';
import { randomPlan, smokePlan } from './plan.ts';

/** The command line of the fault runs. */

/** How long an open resource may keep the process alive. */
const lingerMilliseconds = 10_000;

const { backend, brokers, minutes, smoke, seed, keep } = optionsOf('faults', {
  backend: oneOf(['cluster', 'embedded'], 'cluster'),
  brokers: oneOf(['1', '3'], '1'),
  minutes: numberAboveZero(10),
  smoke: flag,
  seed: seedOption(),
  keep: flag,
});

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const folder = mkdtempSync(join(tmpdir(), `lendstream-faults-${seed}-`));
const systemFolder = join(folder, 'system');
// Loaded now, so that a wrong command line or --help is answered at once.
const [{ startClusterSystem }, { startEmbeddedSystem }, { runPlan }] = await Promise.all([
  import('./cluster-system.ts'),
  import('./embedded-system.ts'),
  import('./harness.ts'),
]);
const system =
  backend === 'embedded'
    ? await startEmbeddedSystem(systemFolder)
    : await startClusterSystem({ folder: systemFolder, brokers: brokers === '3' ? 3 : 1, printLine });
const plan = smoke ? smokePlan(system.shape, seed) : randomPlan(system.shape, seed, minutes * 60_000);
printLine(
  `Seed ${seed}, ${plan.faults.length} faults in ${(plan.lasts / 60_000).toFixed(1)} minutes; files in ${folder}`,
);
const report = await runPlan(system, { folder, plan, printLine });
for (const line of report.lines) printLine(line);
if (report.isGood && !keep) rmSync(folder, { recursive: true, force: true });
process.exitCode = report.isGood ? 0 : 1;
endByItself(printLine, lingerMilliseconds);
