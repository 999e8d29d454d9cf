import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { numberAboveZero, optionsOf, seed, someOf, text, wholeNumber } from '../../scripts/command-line.ts';
import { packageRoot } from '../../src/package-root.ts';
import { reportOf, type StepOutcome } from './report.ts';
import { steps, type CampaignSettings, type Step } from './steps.ts';

/** The command line of the campaign: it runs the parts one after another, and writes the report after each. */

const compiled = fileURLToPath(new URL('../../', import.meta.url));

const { only, report, ...settings } = optionsOf('campaign', {
  only: someOf(steps.map(({ name }) => name)),
  requests: wholeNumber(1, 1_000_000),
  minutes: numberAboveZero(60),
  seeds: wholeNumber(1, 100_000),
  seed: seed(),
  report: text<string>(resolve(packageRoot, 'coverage/campaign.md')),
});
const chosen = steps.filter(({ name }) => only.includes(name));

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

let running: ChildProcess | undefined;
let isInterrupted = false;

async function run(step: Step, settings: CampaignSettings): Promise<StepOutcome> {
  const words = step.arguments(settings).map(String);
  const beginning = performance.now();
  printLine(`\n${step.title}: ${words.join(' ')}`);
  running = spawn(process.execPath, ['--enable-source-maps', `${compiled}${step.program}`, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...step.environment },
  });
  const output: string[] = [];
  for (const stream of [running.stdout, running.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      printLine(line);
    });
  }
  const [code, signal] = (await once(running, 'close')) as [number | null, NodeJS.Signals | null];
  running = undefined;
  if (code !== 0) output.push(`It ended with ${signal ?? `exit code ${code}`}.`);
  const variables = Object.entries(step.environment ?? {}).map(([name, value]) => `${name}=${value}`);
  const command = [...variables, 'node', `dist/${step.program}`, ...words].join(' ');
  return { step, command, isGood: code === 0, milliseconds: performance.now() - beginning, output };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    running?.kill('SIGTERM');
  });
}
const begun = new Date();
const outcomes: StepOutcome[] = [];
mkdirSync(dirname(resolve(report)), { recursive: true });
for (const step of chosen) {
  if (isInterrupted) break;
  outcomes.push(await run(step, settings));
  writeFileSync(report, reportOf(settings, begun, outcomes));
}
const failed = outcomes.filter(({ isGood }) => !isGood);
for (const { step } of failed) printLine(`FAILED: ${step.title}`);
printLine(`${outcomes.length} of ${chosen.length} parts ran, ${failed.length} failed. The report is in ${report}`);
process.exitCode = failed.length > 0 || outcomes.length < chosen.length ? 1 : 0;
