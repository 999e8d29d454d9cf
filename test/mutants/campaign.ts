import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutEquivalents, type Equivalent } from './equivalents.ts';
import { mutantsOf, nameOf, shuffled, type Mutant } from './mutant.ts';
import { Findings, planFor } from './plan.ts';
import { copyBuild, type PrivateBuild } from './private-build.ts';
import { ofFolder, readReach, recallReach, rememberReach, type Reach } from './reach.ts';
import { isFound, shareOf, survivorLines, type Trial } from './report.ts';
import { needsCluster, suitesOf, titleOf, type Suite } from './suites.ts';
import { byBackend, runSteps, type Outcome, type Step } from './trial.ts';

export interface CampaignOptions {
  /** The folder with the compiled `src` and `test`, which is not changed. */
  readonly build: string;
  /** The folder that stores which code each test executes. */
  readonly memory: string;
  /** Below src: `lending`, `broker/streaming`. */
  readonly folder: string;
  readonly count: number;
  readonly seed: number;
  readonly equivalents: readonly Equivalent[];
  /** Only these mutants, e.g. those that survived before; undefined for all. */
  readonly only?: ReadonlySet<string>;
  /** How many mutants are tried at the same time, each in its own copy of the build. */
  readonly processes: number;
  /** How long the tests of one mutant may take together, by their usual time. */
  readonly millisecondsPerMutant: number;
  /** How much longer than three times its usual time a test may take. */
  readonly graceMilliseconds: number;
  readonly say: (line: string) => void;
  /** Starts a cluster and returns the environment in which suites find it. Called once, when a suite needs it. */
  readonly startCluster: () => Promise<Readonly<Record<string, string>>>;
}

export interface CampaignResult {
  /** In the order of the seed. */
  readonly trials: readonly Trial[];
  /** How many mutants the folder has that are not listed as equivalent. */
  readonly total: number;
  /** Tests that were run without a fault in between, and those of them that failed. */
  readonly controls: number;
  readonly failedControls: readonly string[];
}

/** The number of mutants between two lines of progress. */
const mutantsPerProgress = 10;

/** After this many mutants, the tests that found the last one run without a fault: they must still pass. */
const mutantsPerControl = 25;

/** By which factor a test that seems to hang may take longer. */
const patienceWithHanging = 3;

/** How often a suite is run without a fault before it counts as failing by itself. */
const firstRunsMaximum = 2;

/** Plants faults one after another and runs the tests that execute each until the first failure. */
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
  readonly #findings = new Findings();
  #environment: Readonly<Record<string, string>> = {};
  controls = 0;
  readonly failedControls: string[] = [];

  constructor(options: CampaignOptions, builds: readonly PrivateBuild[]) {
    this.#options = options;
    this.#builds = builds;
  }

  /** Finds out which code each test executes, from the stored results where nothing was changed. */
  async learnReach(): Promise<void> {
    const { build, folder, memory, say, startCluster } = this.#options;
    const suites = suitesOf(build, folder);
    if (suites.some(needsCluster)) this.#environment = await startCluster();
    let learnt = 0;
    await this.#forEach(suites, async (suite, { folder: copy }) => {
      const file = join(memory, `${titleOf(suite).replaceAll('/', '.')}.json`);
      const known = recallReach(copy, file, folder);
      if (known !== undefined) {
        this.#reaches.set(suite, known);
        return;
      }
      learnt += 1;
      const reach = await this.#measure(suite, copy);
      if (reach === undefined) return;
      rememberReach(file, reach);
      this.#reaches.set(suite, ofFolder(reach, folder));
    });
    say(`${this.#reaches.size} suites, ${learnt} of them run for what they execute`);
  }

  /** Undefined where the suite fails without a fault, so that it cannot find any. */
  async #measure(suite: Suite, copy: string): Promise<Reach | undefined> {
    for (let run = 1; ; run += 1) {
      const reports = mkdtempSync(join(tmpdir(), 'lendstream-reach-'));
      try {
        const outcome = await this.#run([{ suite }], copy, { reports });
        if (outcome.kind === 'passed') return readReach(copy, reports, outcome.milliseconds);
        if (run < firstRunsMaximum) continue;
        this.#options.say(`Left out, because it fails by itself: ${titleOf(suite)}: ${outcome.reason}`);
        return undefined;
      } finally {
        rmSync(reports, { recursive: true, force: true });
      }
    }
  }

  async tryAll(mutants: readonly Mutant[]): Promise<readonly Trial[]> {
    const trials = new Map<Mutant, Trial>();
    let control: Step | undefined;
    await this.#forEach(mutants, async (mutant, build) => {
      const trial = await this.#try(mutant, build);
      trials.set(mutant, trial);
      if (!isFound(trial)) for (const line of survivorLines(trial)) this.#options.say(line);
      if (trials.size % mutantsPerProgress === 0) {
        this.#options.say(`${trials.size} of ${mutants.length}: ${shareOf([...trials.values()])}`);
      }
      if (trial.outcome.kind === 'failed') control = trial.outcome.step;
      if (trials.size % mutantsPerControl === 0 && control !== undefined) await this.#control(control, build.folder);
    });
    return mutants.flatMap((mutant) => trials.get(mutant) ?? []);
  }

  async #try(mutant: Mutant, build: PrivateBuild): Promise<Trial> {
    const startedAt = performance.now();
    const { lists, ...plan } = planFor(mutant, this.#reaches, this.#findings, this.#options.millisecondsPerMutant);
    const takeBack = build.plant(mutant.compiled, mutant.mutation);
    let outcome: Outcome = { kind: 'passed', milliseconds: 0 };
    try {
      for (const steps of lists) {
        if (outcome.kind === 'passed') outcome = await this.#runPatiently(steps, build.folder);
      }
    } finally {
      takeBack();
    }
    if (outcome.kind !== 'passed') this.#findings.add(mutant, outcome.step.suite);
    return { mutant, outcome, ...plan, milliseconds: performance.now() - startedAt };
  }

  /** A busy machine makes tests slow: only a test that does not end in a longer time either hangs. */
  async #runPatiently(steps: readonly Step[], build: string): Promise<Outcome> {
    const outcome = await this.#run(steps, build);
    if (outcome.kind !== 'hung') return outcome;
    const ordered = byBackend(steps);
    return this.#run(ordered.slice(ordered.indexOf(outcome.step)), build, { patience: patienceWithHanging });
  }

  /** Runs tests without a fault. A test that fails now shows that its findings may be wrong. */
  async #control(step: Step, copy: string): Promise<void> {
    this.controls += 1;
    const outcome = await this.#runPatiently([step], copy);
    if (outcome.kind === 'passed') return;
    const line = `${titleOf(step.suite)}: ${outcome.reason}`;
    this.failedControls.push(line);
    this.#options.say(`Fails without a fault, too: ${line}`);
  }

  /** Runs tests on a copy of the build. */
  #run(
    steps: readonly Step[],
    build: string,
    { reports, patience = 1 }: { readonly reports?: string; readonly patience?: number } = {},
  ): Promise<Outcome> {
    const { seed, graceMilliseconds } = this.#options;
    const coverage = reports === undefined ? {} : { NODE_V8_COVERAGE: reports };
    const environment = { ...this.#environment, ...coverage };
    const measuring = reports === undefined ? {} : { reports };
    return runSteps(steps, { build, seed, environment, patience, graceMilliseconds, ...measuring });
  }

  /** Processes a list with every copy of the build at the same time. */
  async #forEach<T>(items: readonly T[], work: (item: T, build: PrivateBuild) => Promise<void>): Promise<void> {
    const rest = items.values();
    await Promise.all(
      this.#builds.map(async (build) => {
        for (const item of rest) await work(item, build);
      }),
    );
  }
}
