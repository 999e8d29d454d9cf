import { serviceProgramVariable } from '../../test/support/processes/service-program.ts';
import type { Cluster, KafkaGeneration } from '../../test/support/clusters/provided-cluster.ts';
import { noTests, sumOf, type Counts } from './counts.ts';
import { inOrderOfStart, recordDurations } from './durations.ts';
import { providePrograms } from './programs.ts';
import { report } from './report.ts';
import { Runner, type FileOutcome } from './runner/runner.ts';
import { countedOutcomes, runFailedAgain } from './second-runs.ts';
import { useScratchFolder } from './scratch-folder.ts';
import { ServiceBundle } from './service-bundle.ts';
import { startTestClusters, type TestClusters } from './test-clusters.ts';
import { isGeneration, onCluster, startsService, type Backend, type TestFile } from './test-files.ts';
import { WorkQueue } from './work-queue.ts';

export interface SideBySideOptions {
  /** How many files run at the same time, each in a process. */
  readonly runners: number;
  /** Whether the test titles of all files are printed, or only of those that failed. */
  readonly verbose: boolean;
  /** Whether the table of slow files is written again. */
  readonly recordsDurations: boolean;
  /** Whether a file that failed is not run again. */
  readonly once: boolean;
}

/** One runner in four begins with the second runs on the cluster, so that they are spread over the whole run. */
const preferences: readonly Backend[] = ['embedded', 'cluster', 'embedded', 'embedded'];

/**
 * Runs test files in several processes side by side, with a Kafka and a Redis for those that need them. Suites that are
 * independent of the backend run on both. A few files that failed run again at the end, alone. Returns the counts of
 * all tests. A runner that did not end well is one more failure.
 */
export async function runSideBySide(files: readonly TestFile[], options: SideBySideOptions): Promise<Counts> {
  useScratchFolder();
  const all = inOrderOfStart([...files, ...onCluster(files)]);
  const queue = new WorkQueue(all);
  const clusters = new Map<KafkaGeneration, Cluster>();
  const runners = new Set<Runner>();
  const endRunners = (): void => runners.forEach((runner) => runner.kill());
  process.on('exit', endRunners);

  // Files that need none of it run in the meantime.
  const provideNeeds = async (): Promise<TestClusters> => {
    const needs = [...new Set(all.flatMap((file) => file.needs))];
    await providePrograms(needs);
    queue.settle('browser', true);
    const generations = needs.filter(isGeneration);
    // With the first cluster come the jars that other clusters need, too.
    if (generations.length === 0) queue.settle('servers', true);
    return startTestClusters(generations, (generation, cluster) => {
      if (cluster !== undefined) {
        clusters.set(generation, cluster);
        for (const runner of runners) runner.provide(generation, cluster);
      }
      queue.settle(generation, cluster !== undefined);
      queue.settle('servers', true);
    });
  };
  const providing = provideNeeds();
  if (all.some(startsService)) {
    const bundle = new ServiceBundle();
    await bundle.make();
    process.env[serviceProgramVariable] = bundle.program;
  }
  const unfinished = new Set(all);
  // Without any request, a broker still takes processor time.
  const release = async ({ needs }: TestFile): Promise<void> => {
    const still = new Set([...unfinished].flatMap((file) => file.needs));
    const generations = needs.filter(isGeneration).filter((generation) => !still.has(generation));
    for (const generation of generations) await (await providing).release(generation);
  };
  const outcomes: FileOutcome[] = [];
  const badEnds: string[] = [];
  const ends: Promise<void>[] = [];
  const end = (runner: Runner | undefined): void => {
    if (runner === undefined) return;
    ends.push(
      runner.end().then((problem) => {
        runners.delete(runner);
        if (problem !== '') badEnds.push(problem);
      }),
    );
  };
  const start = (): Runner => {
    const runner = new Runner(clusters);
    runners.add(runner);
    return runner;
  };
  const drainQueue = async (preferred: Backend, index: number): Promise<void> => {
    let runner: Runner | undefined;
    for (;;) {
      const file = await queue.take(preferred, index);
      if (file === undefined) break;
      if (runner?.isAlive !== true) {
        end(runner);
        runner = start();
      }
      const outcome = await runner.run(file);
      queue.done(file);
      outcomes.push(outcome);
      report.file(outcome, options.verbose);
      // Its second run needs the same.
      if (outcome.counts.failed > 0 && !options.once) continue;
      unfinished.delete(file);
      await release(file);
    }
    end(runner);
  };
  await Promise.all(
    Array.from({ length: options.runners }, (_, index) =>
      drainQueue(preferences[index % preferences.length] as Backend, index),
    ),
  );
  await Promise.all(ends);
  const runAlone = async (file: TestFile): Promise<FileOutcome> => {
    report.again(file);
    const runner = start();
    const outcome = await runner.run(file);
    report.file(outcome, options.verbose);
    end(runner);
    await Promise.all(ends);
    return outcome;
  };
  const secondRuns = options.once ? [] : await runFailedAgain(outcomes, runAlone);
  await (await providing).stop();
  process.off('exit', endRunners);
  if (options.recordsDurations) recordDurations(outcomes);
  report.summary(outcomes, badEnds, secondRuns);
  return sumOf(...countedOutcomes(outcomes, secondRuns).map(({ counts }) => counts), {
    ...noTests,
    failed: badEnds.length,
  });
}
