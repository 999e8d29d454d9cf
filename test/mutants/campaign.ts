import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KafkaGeneration } from '../support/cluster.ts';
import { withoutEquivalents, type Equivalent } from './equivalents.ts';
import { mutantsOf, nameOf, shuffled, type Mutant } from './mutant.ts';
import { copyBuild, type PrivateBuild } from './private-build.ts';
import { loads, reaches, readReach, recallReach, rememberReach, type Reach } from './reach.ts';
import { isFound, shareOf, survivorLines, type Trial } from './report.ts';
import { suitesOf, titleOf, type Suite } from './suites.ts';
import { runSuites, type Outcome } from './trial.ts';

export interface CampaignOptions {
  /** The folder with `src` and `test` as they were compiled; it stays as it is. */
  readonly build: string;
  /** Where it is remembered which code each test file executes. */
  readonly memory: string;
  /** Below src: `lending`, `broker/streaming`. */
  readonly folder: string;
  readonly count: number;
  readonly seed: number;
  readonly equivalents: readonly Equivalent[];
  /** Only these mutants, e.g. those that survived before; undefined for all. */
  readonly only?: ReadonlySet<string>;
  /** How many mutants are tried at the same time, each in a copy of the build of its own. */
  readonly processes: number;
  /** A suite is ended after three times its usual time and this, a process after twice this if it does not end. */
  readonly graceMilliseconds: number;
  readonly say: (line: string) => void;
  /** Starts clusters and returns the environment in which suites find them. */
  readonly startClusters: (generations: readonly KafkaGeneration[]) => Promise<Readonly<Record<string, string>>>;
}

export interface CampaignResult {
  /** In the order of the seed. */
  readonly trials: readonly Trial[];
  /** How many mutants the folder has that are not listed as equivalent. */
  readonly total: number;
  /** Suites without a fault in them that were run in between, and those of them that failed. */
  readonly controls: number;
  readonly failedControls: readonly string[];
}

/** How many mutants there are from one line of progress to the next. */
const mutantsPerProgress = 10;

/** After so many mutants a suite runs without a fault: it must still pass. */
const mutantsPerControl = 25;

/** So long may a suite take of which nothing is known yet. */
const firstRunMillisecondsMaximum = 300_000;

/** How many times as long a suite may take that seems to hang. */
const patienceWithHanging = 3;

/** How often a suite is run without a fault before it counts as one that fails by itself. */
const firstRunsMaximum = 2;

/** Plants one fault after the other and runs the tests that execute it until the first failure. */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { build, folder, count, seed, equivalents, only, say } = options;
  const counted = withoutEquivalents(mutantsOf(build, folder), equivalents);
  const chosen = shuffled(counted, seed)
    .filter((mutant) => only === undefined || only.has(nameOf(mutant)))
    .slice(0, count);
  const builds = Array.from({ length: options.processes }, (_, slot) => copyBuild(build, slot));
  try {
    const campaign = new Campaign(options, builds);
    await campaign.learnReach();
    say(`${chosen.length} of the ${counted.length} mutants of ${folder}`);
    const trials = await campaign.tryAll(chosen);
    return { trials, total: counted.length, controls: campaign.controls, failedControls: campaign.failedControls };
  } finally {
    for (const each of builds) each.remove();
  }
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #builds: readonly PrivateBuild[];
  readonly #reaches = new Map<Suite, Reach>();
  #environment: Readonly<Record<string, string>> = {};
  controls = 0;
  readonly failedControls: string[] = [];

  constructor(options: CampaignOptions, builds: readonly PrivateBuild[]) {
    this.#options = options;
    this.#builds = builds;
  }

  /** Finds out which code each suite executes, from memory where nothing was changed. */
  async learnReach(): Promise<void> {
    const { build, folder, memory, say } = this.#options;
    const suites = suitesOf(build, folder);
    let learnt = 0;
    await this.#forEach(suites, async (suite, { folder: copy }) => {
      const file = join(memory, `${titleOf(suite).replaceAll('/', '.')}.json`);
      const known = recallReach(copy, file);
      const reach = known ?? (await this.#measure(suite, copy));
      if (known === undefined) learnt += 1;
      if (reach === undefined) return;
      if (known === undefined) rememberReach(file, reach);
      this.#reaches.set(suite, reach);
    });
    say(`${this.#reaches.size} suites, ${learnt} of them run for what they execute`);
  }

  /** Undefined where the suite fails without a fault: it cannot find any. */
  async #measure(suite: Suite, copy: string): Promise<Reach | undefined> {
    for (let run = 1; ; run += 1) {
      const reports = mkdtempSync(join(tmpdir(), 'lendstream-reach-'));
      try {
        const outcome = await this.#run([suite], copy, { NODE_V8_COVERAGE: reports });
        if (outcome.kind === 'passed') return readReach(copy, reports, outcome.milliseconds);
        if (outcome.kind === 'needs clusters' || run < firstRunsMaximum) continue;
        this.#options.say(`Left out, because it fails by itself: ${titleOf(suite)}: ${outcome.reason}`);
        return undefined;
      } finally {
        rmSync(reports, { recursive: true, force: true });
      }
    }
  }

  async tryAll(mutants: readonly Mutant[]): Promise<readonly Trial[]> {
    const trials = new Map<Mutant, Trial>();
    let control: Suite | undefined;
    await this.#forEach(mutants, async (mutant, build) => {
      const outcome = await this.#try(mutant, build);
      const trial = { mutant, outcome };
      trials.set(mutant, trial);
      if (!isFound(trial)) for (const line of survivorLines(trial)) this.#options.say(line);
      if (trials.size % mutantsPerProgress === 0) {
        this.#options.say(`${trials.size} of ${mutants.length}: ${shareOf([...trials.values()])}`);
      }
      if (outcome.kind === 'failed') control = outcome.suite;
      if (trials.size % mutantsPerControl === 0 && control !== undefined) await this.#control(control, build.folder);
    });
    return mutants.flatMap((mutant) => trials.get(mutant) ?? []);
  }

  async #try(mutant: Mutant, build: PrivateBuild): Promise<Outcome> {
    const suites = this.#suitesFor(mutant);
    const takeBack = build.plant(mutant.compiled, mutant.mutation);
    try {
      const outcome = await this.#run(suites, build.folder);
      if (outcome.kind !== 'hung') return outcome;
      // A machine with much to do makes tests slow: only one that does not end in a longer time either hangs.
      const rest = suites.slice(suites.indexOf(outcome.suite));
      return await this.#run(rest, build.folder, {}, patienceWithHanging);
    } finally {
      takeBack();
    }
  }

  /**
   * The suites that execute the place of the fault: first the one that mirrors the file, then the quickest. Where none
   * is known to, those that load the file: a process that is killed tells nothing about what it executed.
   */
  #suitesFor(mutant: Mutant): readonly Suite[] {
    const known = [...this.#reaches];
    const executing = known.filter(([, reach]) => reaches(reach, mutant));
    const chosen = executing.length > 0 ? executing : known.filter(([, reach]) => loads(reach, mutant));
    const mirror = mutant.compiled.replace(/^src/, 'test').replace(/\.js$/, '.test.js');
    const rank = (suite: Suite, reach: Reach): number => (suite.path === mirror ? -1 : reach.milliseconds);
    return chosen.sort((a, b) => rank(...a) - rank(...b)).map(([suite]) => suite);
  }

  /** Runs a suite without a fault. One that fails now shows that findings of it may be no findings. */
  async #control(suite: Suite, copy: string): Promise<void> {
    this.controls += 1;
    const outcome = await this.#run([suite], copy);
    if (outcome.kind !== 'failed' && outcome.kind !== 'hung') return;
    const line = `${titleOf(suite)}: ${outcome.reason}`;
    this.failedControls.push(line);
    this.#options.say(`Fails without a fault, too: ${line}`);
  }

  /** Runs suites on a copy of the build, and starts the clusters that they turn out to need. */
  async #run(
    suites: readonly Suite[],
    build: string,
    environment: Readonly<Record<string, string>> = {},
    patience = 1,
  ): Promise<Outcome> {
    const { seed, graceMilliseconds, startClusters } = this.#options;
    const outcome = await runSuites(suites, {
      build,
      seed,
      environment: { ...this.#environment, ...environment },
      patience,
      endMilliseconds: 2 * graceMilliseconds,
      millisecondsOf: (suite) => {
        const usual = this.#reaches.get(suite)?.milliseconds;
        return usual === undefined ? firstRunMillisecondsMaximum : 3 * usual + graceMilliseconds;
      },
    });
    if (outcome.kind !== 'needs clusters') return outcome;
    this.#environment = { ...this.#environment, ...(await startClusters(outcome.generations)) };
    return this.#run(suites, build, environment, patience);
  }

  /** Works through a list with every copy of the build at the same time. */
  async #forEach<T>(items: readonly T[], work: (item: T, build: PrivateBuild) => Promise<void>): Promise<void> {
    const rest = items.values();
    await Promise.all(
      this.#builds.map(async (build) => {
        for (const item of rest) await work(item, build);
      }),
    );
  }
}
