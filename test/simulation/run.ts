import { flag, optionsOf, text, wholeNumber } from '../../scripts/command-line.ts';

/** The command line of the simulation. It loads the rest when it is read, so that a wrong one is answered at once. */

const options = optionsOf('simulate', {
  seeds: wholeNumber(1, 1_000),
  from: wholeNumber<number>(0, 1),
  seed: wholeNumber(0, undefined),
  'until-failure': flag,
  short: flag,
  mutants: flag,
  named: text(''),
});

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Runs one seed and prints its history. */
async function repeat(seed: number, isShort: boolean): Promise<number> {
  const { simulate } = await import('./simulation.ts');
  const { violation, history, steps, simulatedMilliseconds } = await simulate(seed, { isRecording: true, isShort });
  for (const line of history) say(line);
  const seconds = Math.round(simulatedMilliseconds / 1000);
  say(`Seed ${seed}: ${steps} steps, ${seconds} simulated seconds, ${violation ?? 'every invariant held'}`);
  return violation === undefined ? 0 : 1;
}

async function main(): Promise<number> {
  const { seed, mutants, named, from, seeds, short: isShort, 'until-failure': isUntilFailure } = options;
  if (seed !== undefined) return repeat(seed, isShort);
  if (mutants) return (await (await import('./mutants.ts')).runMutants(say, named)) === 0 ? 0 : 1;
  const { runCampaign } = await import('./campaign.ts');
  const failures = await runCampaign(from, seeds, say, { isShort, isUntilFailure });
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
