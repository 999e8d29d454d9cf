import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { titleOf, type Suite } from './suites.ts';

/** Tests of one file that are run together. */
export interface Step {
  readonly suite: Suite;
  /** Undefined for all of them. */
  readonly titles?: readonly string[];
  /** The usual duration of the file, and of a test with its hooks; both undefined before they were measured. */
  readonly milliseconds?: number;
  readonly millisecondsOfTest?: (title: string) => number;
}

/** The options of a runner process. */
export interface RunnerTask {
  readonly build: string;
  readonly steps: readonly { readonly path: string; readonly titles?: readonly string[] }[];
  /** The seed of the examples of property tests. */
  readonly seed: number;
  /** How long one test may take. */
  readonly testMilliseconds: number;
  /** A folder for reports of what each test executes. */
  readonly reports?: string;
}

export type RunnerMessage =
  | { readonly kind: 'began'; readonly index: number }
  | { readonly kind: 'test'; readonly title: string }
  | { readonly kind: 'passed'; readonly milliseconds: number }
  | { readonly kind: 'failed'; readonly reason: string };

export type Outcome =
  | { readonly kind: 'passed'; readonly milliseconds: number }
  | { readonly kind: 'failed' | 'hung'; readonly step: Step; readonly reason: string };

export interface TrialOptions {
  readonly build: string;
  readonly seed: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** How much longer than three times its usual time a test, the start of a file or the end of a process may take. */
  readonly graceMilliseconds: number;
  /** By which factor a process may take longer than all of that; default 1. */
  readonly patience?: number;
  /** A folder for reports of what each test executes, which are made only then. */
  readonly reports?: string;
}

/** In the order in which a trial uses them: without a cluster, tests take less time. */
const backends: readonly Suite['backend'][] = ['embedded', 'cluster'];

const runner = fileURLToPath(new URL('runner.js', import.meta.url));

const testMillisecondsMaximum = { embedded: 30_000, cluster: 60_000 } as const;

/** How long a process may take to start. */
const startMillisecondsMaximum = 20_000;

/** The time allowed for a file without a known duration. */
const firstRunMillisecondsMaximum = 300_000;

/** After how many times its usual time a test counts as hanging. */
const patienceWithTests = 3;

/** The memory of a runner, so that a fault that fills it ends the process and not the machine. */
const heapMegabytes = 2_048;

/** Runs tests in one process for each backend, one file after another, until one fails or hangs. */
export async function runSteps(steps: readonly Step[], options: TrialOptions): Promise<Outcome> {
  let milliseconds = 0;
  for (const backend of backends) {
    const group = steps.filter(({ suite }) => suite.backend === backend);
    if (group.length === 0) continue;
    const outcome = await runGroup(group, backend, options);
    if (outcome.kind !== 'passed') return outcome;
    milliseconds += outcome.milliseconds;
  }
  return { kind: 'passed', milliseconds };
}

/** Steps in the order in which they run: a process runs on one backend. */
export function byBackend(steps: readonly Step[]): readonly Step[] {
  return backends.flatMap((backend) => steps.filter(({ suite }) => suite.backend === backend));
}

/** How long a test of a step may take, or one of its hooks where no title is given. */
function limitOf({ milliseconds, millisecondsOfTest }: Step, graceMilliseconds: number, title?: string): number {
  if (milliseconds === undefined) return firstRunMillisecondsMaximum;
  const usual = title === undefined ? milliseconds : (millisecondsOfTest?.(title) ?? milliseconds);
  return patienceWithTests * usual + graceMilliseconds;
}

async function runGroup(
  steps: readonly Step[],
  backend: Suite['backend'],
  { build, seed, environment, graceMilliseconds, patience = 1, reports }: TrialOptions,
): Promise<Outcome> {
  const temporary = mkdtempSync(join(tmpdir(), 'lendstream-mutant-'));
  const child = fork(runner, [], {
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    // A process group, so that it ends together with everything that it started.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, ...environment, TMPDIR: temporary, TEST_BACKEND: backend },
  });
  const endGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The process group is gone.
    }
  };
  process.once('exit', endGroup);
  let current = steps[0] as Step;
  let milliseconds = 0;
  let passed = 0;
  try {
    return await new Promise<Outcome>((resolve) => {
      const hung = (reason: string): void => resolve({ kind: 'hung', step: current, reason });
      let deadline = setTimeout(hung, patience * startMillisecondsMaximum, 'The process did not start');
      const waitFor = (limit: number, reason: string): void => {
        clearTimeout(deadline);
        deadline = setTimeout(hung, patience * limit, `${reason} within ${patience * limit} ms`);
      };
      child.on('message', (message: RunnerMessage) => {
        if (message.kind === 'began') {
          current = steps[message.index] ?? current;
          waitFor(limitOf(current, graceMilliseconds), `${titleOf(current.suite)} did not begin`);
        } else if (message.kind === 'test') {
          waitFor(limitOf(current, graceMilliseconds, message.title), `${message.title} did not end`);
        } else if (message.kind === 'passed') {
          milliseconds += message.milliseconds;
          passed += 1;
          waitFor(graceMilliseconds, 'The process did not end by itself');
        } else {
          clearTimeout(deadline);
          resolve({ kind: 'failed', step: current, reason: message.reason });
        }
      });
      child.once('exit', (code, signal) => {
        clearTimeout(deadline);
        if (code === 0 && passed === steps.length) resolve({ kind: 'passed', milliseconds });
        else resolve({ kind: 'failed', step: current, reason: `The process ended with ${signal ?? `code ${code}`}` });
      });
      child.once('error', (error) => hung(String(error)));
      child.send({
        build,
        steps: steps.map(({ suite: { path }, titles }) => (titles === undefined ? { path } : { path, titles })),
        seed,
        testMilliseconds: testMillisecondsMaximum[backend],
        ...(reports === undefined ? {} : { reports }),
      } satisfies RunnerTask);
    });
  } finally {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    endGroup();
    await exited;
    process.removeListener('exit', endGroup);
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}
