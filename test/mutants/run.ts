import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  WrongUsage,
  optionsOf,
  orEnd,
  percentage,
  seed as seedOption,
  text,
  wholeNumber,
} from '../../scripts/command-line.ts';
import { startTestClusters, type TestClusters } from '../../scripts/suite/test-clusters.ts';
import { packageRoot } from '../../src/package-root.ts';
import type { Cluster } from '../support/clusters/provided-cluster.ts';
import { readEquivalents } from './equivalents.ts';
import { nameOf, type MutantName } from './mutant.ts';
import { isFound, percentFound, shareOf, survivorLines } from './report.ts';

/** The command line of the mutants. */

const {
  folder: givenFolder,
  seed,
  'at-least': atLeast,
  survivors: survivorsFile,
  ...options
} = optionsOf('mutants', {
  folder: text(undefined),
  count: wholeNumber(1, 200),
  seed: seedOption(),
  'at-least': percentage(95),
  processes: wholeNumber(1, 1),
  seconds: wholeNumber(1, 60),
  survivors: text(undefined),
  again: text(undefined),
});

const build = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
const equivalentsFile = join(packageRoot, 'test/mutants/equivalent.json');
/** Ignored by git. */
const memory = join(packageRoot, 'coverage/mutants');
const graceMilliseconds = 3_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

let started: TestClusters | undefined;

/** Starts one cluster for the whole campaign. Suites that also need the previous Kafka skip that part. */
async function startCluster(): Promise<Readonly<Record<string, string>>> {
  let cluster: Cluster | undefined;
  started = await startTestClusters(['current'], (_generation, provided) => (cluster = provided));
  if (cluster === undefined) throw new Error('The tests of this folder need a cluster');
  return { KAFKA_BROKERS: cluster.kafkaBrokers.join(','), REDIS_URL: cluster.redisUrl };
}

function existingFolder(): string {
  if (givenFolder === undefined) throw new WrongUsage('--folder is missing');
  if (!existsSync(join(build, 'src', givenFolder))) throw new WrongUsage(`there is no folder src/${givenFolder}`);
  return givenFolder;
}

async function run(folder: string): Promise<void> {
  const { again, count, processes, seconds } = options;
  const only =
    again === undefined ? undefined : new Set((JSON.parse(readFileSync(again, 'utf8')) as MutantName[]).map(nameOf));
  say(`Seed ${seed}`);
  // Loaded now, so that a wrong command line or --help is answered at once.
  const { runCampaign } = await import('./campaign.ts');
  const result = await runCampaign({
    build,
    memory,
    folder,
    count,
    seed,
    equivalents: readEquivalents(equivalentsFile),
    ...(only === undefined ? {} : { only }),
    processes,
    millisecondsPerMutant: 1_000 * seconds,
    graceMilliseconds,
    say,
    startCluster,
  });
  const survivors = result.trials.filter((trial) => !isFound(trial));
  if (survivors.length > 0) say('\nNo test found:');
  for (const trial of survivors) for (const line of survivorLines(trial)) say(line);
  if (survivorsFile !== undefined) {
    const names = survivors.map(({ mutant: { file, text, change, occurrence } }) => ({
      file,
      text,
      change,
      occurrence,
    }));
    writeFileSync(survivorsFile, `${JSON.stringify(names, undefined, 2)}\n`);
  }
  say(`\n${shareOf(result.trials)}; seed ${seed}`);
  say(`${result.controls - result.failedControls.length} of ${result.controls} runs without a fault passed`);
  process.exitCode = percentFound(result.trials) < atLeast || result.failedControls.length > 0 ? 1 : 0;
}

// Everything that was started ends with this process, and so do the copies of the build.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

const folder = orEnd(existingFolder);
try {
  await run(folder);
} finally {
  await started?.stop();
}
