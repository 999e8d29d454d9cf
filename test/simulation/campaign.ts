import { simulate, type RunOptions, type RunResult } from './simulation.ts';

/** How many lines of a history are shown with its violation. The command that repeats the run shows all. */
const shownLines = 40;

/** How often the campaign reports its progress. */
const seedsPerReport = 1_000;

/** What a report has of a violation, for finding its cause. */
export function describeFailure({ seed, steps, violation, history }: RunResult, options: RunOptions): string {
  const repeated = ['--seed', seed, ...(options.isShort === true ? ['--short'] : [])];
  if (options.redis !== undefined) repeated.push('--store', 'redis');
  return [
    `Seed ${seed} failed at step ${steps}: ${violation}`,
    ...history.slice(-shownLines),
    `Repeat it with: npm run simulate -- ${repeated.join(' ')}`,
  ].join('\n');
}

/**
 * Runs seeds one after another.
 * @param say Gets the output, line by line.
 * @param isUntilFailure Stops at the first seed that fails.
 * @returns how many of them failed
 */
export async function runCampaign(
  first: number,
  count: number,
  say: (line: string) => void,
  { isUntilFailure = false, ...options }: RunOptions & { readonly isUntilFailure?: boolean } = {},
): Promise<number> {
  let failures = 0;
  let steps = 0;
  let simulatedMilliseconds = 0;
  const sum = (seeds: number): string => {
    const hours = (simulatedMilliseconds / 3_600_000).toFixed(1);
    return `${seeds} seeds from ${first}: ${steps} steps, ${hours} simulated hours, ${failures} failed`;
  };
  for (let done = 0; done < count; done += 1) {
    const result = await simulate(first + done, options);
    steps += result.steps;
    simulatedMilliseconds += result.simulatedMilliseconds;
    if (result.violation !== undefined) {
      failures += 1;
      // The same seed has the same history again.
      say(describeFailure(await simulate(result.seed, { ...options, isRecording: true }), options));
      if (isUntilFailure) return failures;
    }
    if ((done + 1) % seedsPerReport === 0 && done + 1 < count) say(sum(done + 1));
  }
  say(sum(count));
  return failures;
}
