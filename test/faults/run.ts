import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endIfHelpIsAsked } from '../../scripts/read-usage.ts';
import { startClusterSystem } from './cluster-system.ts';
import { startEmbeddedSystem } from './embedded-system.ts';
import { endByItself } from '../../scripts/suite/open-resources.ts';
import { runPlan } from './harness.ts';
import { randomPlan, smokePlan } from './plan.ts';

/** The command line of the fault runs. */

endIfHelpIsAsked('faults');

/** How long an open resource may keep the process alive. */
const lingerMilliseconds = 10_000;

const { values } = parseArgs({
  options: {
    backend: { type: 'string', default: 'cluster' },
    brokers: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    smoke: { type: 'boolean', default: false },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new Error(`--${name} is a number, not "${text}"`);
}

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : numberOf('seed', values.seed);
const folder = mkdtempSync(join(tmpdir(), `lendstream-faults-${seed}-`));
const systemFolder = join(folder, 'system');
const brokers = values.brokers === '3' ? 3 : 1;
const system =
  values.backend === 'embedded'
    ? await startEmbeddedSystem(systemFolder)
    : await startClusterSystem({ folder: systemFolder, brokers, printLine });
const plan = values.smoke
  ? smokePlan(system.shape, seed)
  : randomPlan(system.shape, seed, numberOf('minutes', values.minutes) * 60_000);
printLine(
  `Seed ${seed}, ${plan.faults.length} faults in ${(plan.lasts / 60_000).toFixed(1)} minutes; files in ${folder}`,
);
const report = await runPlan(system, { folder, plan, printLine });
for (const line of report.lines) printLine(line);
if (report.isGood && !values.keep) rmSync(folder, { recursive: true, force: true });
process.exitCode = report.isGood ? 0 : 1;
endByItself(printLine, lingerMilliseconds);
