import { parseArgs } from 'node:util';
import { endIfHelpIsAsked } from '../../scripts/read-usage.ts';
import { runCampaign } from './campaign.ts';
import { runMutants } from './mutants.ts';
import { simulate } from './simulation.ts';

/** The command line of the simulation. */

endIfHelpIsAsked('simulate');

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`--${name} is a whole number, not "${text}"`);
}

/** Runs one seed and prints its history. */
async function repeat(seed: number): Promise<number> {
  const { violation, history, steps, simulatedMilliseconds } = await simulate(seed, true);
  for (const line of history) say(line);
  const seconds = Math.round(simulatedMilliseconds / 1000);
  say(`Seed ${seed}: ${steps} steps, ${seconds} simulated seconds, ${violation ?? 'every invariant held'}`);
  return violation === undefined ? 0 : 1;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      'until-failure': { type: 'boolean', default: false },
      mutants: { type: 'boolean', default: false },
    },
  });
  if (values.seed !== undefined) return repeat(numberOf('seed', values.seed));
  if (values.mutants) return (await runMutants(say)) === 0 ? 0 : 1;
  const first = numberOf('from', values.from);
  const count = numberOf('seeds', values.seeds);
  const failures = await runCampaign(first, count, say, values['until-failure']);
  return failures === 0 ? 0 : 1;
}

main().then(
  (code) => {
    // A pipe accepts a history in pieces: the previous one has to be written first.
    process.stdout.write('', () => process.exit(code));
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  },
);
