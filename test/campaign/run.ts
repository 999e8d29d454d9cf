import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endIfHelpIsAsked } from '../../scripts/read-usage.ts';
import { packageRoot } from '../../src/schemas.ts';
import { reportOf, type StepOutcome } from './report.ts';
import { steps, type CampaignSettings, type Step } from './steps.ts';

/** The command line of the campaign: it runs the parts one after another, and writes the report after each. */

const compiled = fileURLToPath(new URL('../../', import.meta.url));

endIfHelpIsAsked('campaign');

function settingsOf(words: readonly string[]) {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: 'string' },
      requests: { type: 'string', default: '1000000' },
      minutes: { type: 'string', default: '60' },
      seeds: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
      report: { type: 'string', default: resolve(packageRoot, 'coverage/campaign.md') },
    },
  });
  const names = values.only?.split(',') ?? steps.map(({ name }) => name);
  const unknown = names.find((name) => !steps.some((step) => step.name === name));
  if (unknown !== undefined)
    throw new Error(`--only takes ${steps.map(({ name }) => name).join(', ')}, not ${unknown}`);
  const settings: CampaignSettings = {
    requests: numberOf('requests', values.requests),
    minutes: numberOf('minutes', values.minutes),
    seeds: numberOf('seeds', values.seeds),
    seed: numberOf('seed', values.seed),
  };
  return { settings, chosen: steps.filter(({ name }) => names.includes(name)), report: values.report };
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (text !== '' && Number.isFinite(number) && number >= 0) return number;
  throw new Error(`--${name} is a number, not "${text}"`);
}

const printLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function refuse(error: unknown): never {
  process.stderr.write(`lendstream: ${(error as Error).message}\n`);
  process.exit(2);
}

let running: ChildProcess | undefined;
let isInterrupted = false;

async function run(step: Step, settings: CampaignSettings): Promise<StepOutcome> {
  const words = step.arguments(settings).map(String);
  const beginning = performance.now();
  printLine(`\n${step.title}: ${words.join(' ')}`);
  running = spawn(process.execPath, ['--enable-source-maps', `${compiled}${step.program}`, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
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
  const command = `node dist/${step.program} ${words.join(' ')}`;
  return { step, command, isGood: code === 0, milliseconds: performance.now() - beginning, output };
}

function readSettings(): ReturnType<typeof settingsOf> {
  try {
    return settingsOf(process.argv.slice(2));
  } catch (error) {
    return refuse(error);
  }
}

const { settings, chosen, report } = readSettings();
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
