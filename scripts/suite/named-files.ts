import { fork } from 'node:child_process';
import { once } from 'node:events';
import { provideCluster, providedCluster, wantedClusters } from '../../test/support/cluster.ts';
import { noTests, sumOf, type Counts } from './counts.ts';
import { runMocha } from './mocha-run.ts';
import { startTestClusters, type TestClusters } from './test-clusters.ts';
import { onCluster, type TestFile } from './test-files.ts';
import { providePrograms } from './programs.ts';

/** Whether this process is the second run of {@link runNamedFiles}. */
export const isSecondRun = process.env['TEST_BACKEND'] === 'cluster';

/**
 * Runs some test files in this process, with a Kafka and a Redis when one of them needs it. Those of them that run on
 * either backend run a second time, on the cluster, in a process of their own. The cluster is started for them, too.
 * @param program The path of this program, for the second run.
 */
export async function runNamedFiles(files: readonly TestFile[], program: string): Promise<Counts> {
  const compiled = files.map((file) => file.compiled);
  if (isSecondRun) return (await runMocha(compiled, 'cluster', 'dot')).counts;
  let clusters: Promise<TestClusters> | undefined;
  const onBoth = onCluster(files);
  const { counts } = await runMocha(compiled, 'embedded', 'spec', async () => {
    if (files.some(({ needs }) => needs.includes('browser'))) await providePrograms(['browser']);
    const needed = new Set(wantedClusters());
    const isNeededNow = needed.size > 0;
    if (onBoth.length > 0) needed.add('current');
    clusters = startTestClusters([...needed], (generation, cluster) => {
      if (cluster !== undefined) provideCluster(generation, cluster);
    });
    // For the second run alone it may start while the first one runs.
    if (isNeededNow) await clusters;
  });
  const started = await clusters;
  const all = sumOf(counts, await runOnCluster(onBoth, program));
  await started?.stop();
  return all;
}

/** Runs files on the cluster of the first run; runs none without a cluster. */
async function runOnCluster(files: readonly TestFile[], program: string): Promise<Counts> {
  const cluster = providedCluster('current');
  if (files.length === 0 || cluster === undefined) return noTests;
  console.log(`\n  The suites that are about neither backend, on Kafka and Redis (${files.length} files)`);
  const environment = {
    ...process.env,
    TEST_BACKEND: 'cluster',
    KAFKA_BROKERS: cluster.kafkaBrokers.join(','),
    REDIS_URL: cluster.redisUrl,
  };
  const child = fork(
    program,
    files.map(({ source }) => source),
    { env: environment },
  );
  let counts: Counts = { ...noTests, failed: 1 };
  child.on('message', (message) => (counts = message as Counts));
  await once(child, 'exit');
  return counts;
}
