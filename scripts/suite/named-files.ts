import { wantedClusters } from '../../test/support/cluster.ts';
import { provideCluster, providedCluster } from '../../test/support/clusters/provided-cluster.ts';
import { noTests, sumOf, type Counts } from './counts.ts';
import { runMocha } from './runner/mocha-run.ts';
import { startTestClusters, type TestClusters } from './test-clusters.ts';
import { onCluster, type TestFile } from './test-files.ts';
import { providePrograms } from './programs.ts';

/**
 * Runs some test files in this process, with a Kafka and a Redis when one of them needs it. Those of them that run on
 * either backend run a second time, on the cluster, which is started for them, too.
 */
export async function runNamedFiles(files: readonly TestFile[]): Promise<Counts> {
  let clusters: Promise<TestClusters> | undefined;
  const onBoth = onCluster(files);
  const { counts } = await runMocha(compiledOf(files), 'embedded', 'spec', async () => {
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
  const all = sumOf(counts, await runOnCluster(onBoth));
  await started?.stop();
  return all;
}

/** Runs files on the cluster of the first run; runs none without a cluster. */
async function runOnCluster(files: readonly TestFile[]): Promise<Counts> {
  if (files.length === 0 || providedCluster('current') === undefined) return noTests;
  console.log(`\n  The suites that are about neither backend, on Kafka and Redis (${files.length} files)`);
  return (await runMocha(compiledOf(files), 'cluster', 'dot')).counts;
}

function compiledOf(files: readonly TestFile[]): string[] {
  return files.map(({ compiled }) => compiled);
}
