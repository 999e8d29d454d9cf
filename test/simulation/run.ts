import { flag, oneOf, optionsOf, text, wholeNumber } from '../../scripts/command-line.ts';
import type { RedisForRuns } from './redis/redis-server.ts';

/** The command line of the simulation. It loads the rest when it is read, so that a wrong one is answered at once. */

const options = optionsOf('simulate', {
  seeds: wholeNumber(1, 1_000),
  from: wholeNumber<number>(0, 1),
  seed: wholeNumber(0, undefined),
  'until-failure': flag,
  short: flag,
  mutants: flag,
  named: text(''),
  store: oneOf(['memory', 'redis'], 'memory'),
});

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Runs one seed and prints its history. */
async function repeat(seed: number, isShort: boolean, redis: RedisForRuns | undefined): Promise<number> {
  const { simulate } = await import('./simulation.ts');
  const result = await simulate(seed, { isRecording: true, isShort, redis });
  const { violation, history, steps, simulatedMilliseconds } = result;
  for (const line of history) say(line);
  const seconds = Math.round(simulatedMilliseconds / 1000);
  say(`Seed ${seed}: ${steps} steps, ${seconds} simulated seconds, ${violation ?? 'every invariant held'}`);
  return violation === undefined ? 0 : 1;
}

async function main(): Promise<number> {
  const { mutants, named, store } = options;
  if (mutants) return (await (await import('./mutants.ts')).runMutants(say, named)) === 0 ? 0 : 1;
  if (store === 'memory') return run(undefined);
  const { startRedisForRuns } = await import('./redis/redis-server.ts');
  const redis = await startRedisForRuns();
  // Its server would go on without it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void redis.stop().finally(() => process.exit(130)));
  }
  try {
    return await run(redis);
  } finally {
    await redis.stop();
  }
}

/** @param redis What executes the scripts, when the store is the one of a cluster. */
async function run(redis: RedisForRuns | undefined): Promise<number> {
  const { seed, from, seeds, short: isShort, 'until-failure': isUntilFailure } = options;
  if (seed !== undefined) return repeat(seed, isShort, redis);
  const { runCampaign } = await import('./campaign.ts');
  const failures = await runCampaign(from, seeds, say, { isShort, isUntilFailure, redis });
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
