import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readUsage } from '../../scripts/read-usage.ts';
import { startTestClusters, type TestClusters } from '../../scripts/suite/test-clusters.ts';
import { packageRoot } from '../../src/schemas.ts';
import type { Cluster } from '../support/cluster.ts';
import { runCampaign } from './campaign.ts';
import { readEquivalents } from './equivalents.ts';
import { nameOf, type MutantName } from './mutant.ts';
import { isFound, percentFound, shareOf, survivorLines } from './report.ts';

/** The command line of the mutants. */

const usage = readUsage('mutants');

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    count: { type: 'string', default: '200' },
    seed: { type: 'string' },
    'at-least': { type: 'string', default: '95' },
    processes: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    survivors: { type: 'string' },
    again: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const build = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
const equivalentsFile = join(packageRoot, 'test/mutants/equivalent.json');
/** Ignored by git. */
const memory = join(packageRoot, 'coverage/mutants');
const graceMilliseconds = 3_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** The options of the command line cannot be met. */
class UsageError extends Error {}

function countOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new UsageError(`--${name} is a whole number, not "${text}"`);
}

function percentOf(name: string, text: string): number {
  const number = Number(text);
  if (number >= 0) return number;
  throw new UsageError(`--${name} is a number, not "${text}"`);
}

let started: TestClusters | undefined;

/** Starts one cluster for the whole campaign. Suites that also need the previous Kafka skip that part. */
async function startCluster(): Promise<Readonly<Record<string, string>>> {
  let cluster: Cluster | undefined;
  started = await startTestClusters(['current'], (_generation, provided) => (cluster = provided));
  if (cluster === undefined) throw new Error('The tests of this folder need a cluster');
  return { KAFKA_BROKERS: cluster.kafkaBrokers.join(','), REDIS_URL: cluster.redisUrl };
}

async function run(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new UsageError(usage);
  if (!existsSync(join(build, 'src', folder))) throw new UsageError(`There is no folder src/${folder}`);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : countOf('seed', values.seed);
  const atLeast = percentOf('at-least', values['at-least']);
  const { again, survivors: survivorsFile } = values;
  const only =
    again === undefined ? undefined : new Set((JSON.parse(readFileSync(again, 'utf8')) as MutantName[]).map(nameOf));
  say(`Seed ${seed}`);
  const result = await runCampaign({
    build,
    memory,
    folder,
    count: countOf('count', values.count),
    seed,
    equivalents: readEquivalents(equivalentsFile),
    ...(only === undefined ? {} : { only }),
    processes: countOf('processes', values.processes),
    millisecondsPerMutant: 1_000 * countOf('seconds', values.seconds),
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

if (values.help) {
  say(usage);
} else {
  try {
    await run(values.folder);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    say(error.message);
    process.exitCode = 2;
  } finally {
    await started?.stop();
  }
}
