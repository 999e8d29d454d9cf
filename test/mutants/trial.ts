import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KafkaGeneration } from '../support/cluster.ts';
import { titleOf, type Suite } from './suites.ts';

/** What a runner process is to run. */
export interface RunnerTask {
  readonly build: string;
  readonly files: readonly string[];
  /** Of the examples that property tests make. */
  readonly seed: number;
  /** How long one test may take. */
  readonly testMilliseconds: number;
}

export type RunnerMessage =
  | { readonly kind: 'began'; readonly file: string }
  | { readonly kind: 'passed'; readonly file: string; readonly milliseconds: number }
  | { readonly kind: 'failed'; readonly file: string; readonly reason: string }
  | { readonly kind: 'needs clusters'; readonly generations: readonly KafkaGeneration[] };

export type Outcome =
  | { readonly kind: 'passed'; readonly milliseconds: number }
  | { readonly kind: 'failed' | 'hung'; readonly suite: Suite; readonly reason: string }
  | { readonly kind: 'needs clusters'; readonly generations: readonly KafkaGeneration[] };

export interface TrialOptions {
  readonly build: string;
  readonly seed: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** How long a suite may take before it counts as one that hangs. */
  readonly millisecondsOf: (suite: Suite) => number;
  /** How long a process may take from its last test to its end. */
  readonly endMilliseconds: number;
  /** How many times as long as all of that a process may take; once unless given. */
  readonly patience?: number;
}

const runner = fileURLToPath(new URL('runner.js', import.meta.url));

const testMillisecondsMaximum = { embedded: 30_000, cluster: 60_000 } as const;

/** How long a process may take to start. */
const startMillisecondsMaximum = 20_000;

/** Memory of a runner, so that a fault that fills it ends the process and not the machine. */
const heapMegabytes = 2_048;

/** Runs suites in processes of their own, one after the other, until one fails, hangs, or lacks a cluster. */
export async function runSuites(suites: readonly Suite[], options: TrialOptions): Promise<Outcome> {
  let milliseconds = 0;
  for (const backend of ['embedded', 'cluster'] as const) {
    const group = suites.filter((suite) => suite.backend === backend);
    if (group.length === 0) continue;
    const outcome = await runGroup(group, backend, options);
    if (outcome.kind !== 'passed') return outcome;
    milliseconds += outcome.milliseconds;
  }
  return { kind: 'passed', milliseconds };
}

async function runGroup(
  suites: readonly Suite[],
  backend: Suite['backend'],
  { build, seed, environment, millisecondsOf, endMilliseconds, patience = 1 }: TrialOptions,
): Promise<Outcome> {
  const temporary = mkdtempSync(join(tmpdir(), 'lendstream-mutant-'));
  const child = fork(runner, [], {
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    // A group of its own, so that it ends together with what it started.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, ...environment, TMPDIR: temporary, TEST_BACKEND: backend },
  });
  const endGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  };
  process.once('exit', endGroup);
  let current = suites[0] as Suite;
  let milliseconds = 0;
  let passed = 0;
  try {
    return await new Promise<Outcome>((resolve) => {
      const hung = (reason: string): void => resolve({ kind: 'hung', suite: current, reason });
      let deadline = setTimeout(hung, patience * startMillisecondsMaximum, 'The process did not start');
      const waitFor = (limit: number, reason: string): void => {
        clearTimeout(deadline);
        deadline = setTimeout(hung, patience * limit, `${reason} within ${patience * limit} ms`);
      };
      child.on('message', (message: RunnerMessage) => {
        if (message.kind === 'began') {
          current = suites.find(({ path }) => path === message.file) ?? current;
          waitFor(millisecondsOf(current), `${titleOf(current)} did not end`);
        } else if (message.kind === 'passed') {
          milliseconds += message.milliseconds;
          passed += 1;
          waitFor(endMilliseconds, 'The process did not end by itself');
        } else {
          clearTimeout(deadline);
          resolve(message.kind === 'failed' ? { kind: 'failed', suite: current, reason: message.reason } : message);
        }
      });
      child.once('exit', (code, signal) => {
        clearTimeout(deadline);
        if (code === 0 && passed === suites.length) resolve({ kind: 'passed', milliseconds });
        else resolve({ kind: 'failed', suite: current, reason: `The process ended with ${signal ?? `code ${code}`}` });
      });
      child.once('error', (error) => hung(String(error)));
      child.send({
        build,
        files: suites.map(({ path }) => path),
        seed,
        testMilliseconds: testMillisecondsMaximum[backend],
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
