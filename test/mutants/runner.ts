import { configureGlobal } from 'fast-check';
import Mocha from 'mocha';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as RootHooks from '../support/root-hooks.ts';
import { CoverageOfTests } from './coverage-of-tests.ts';
import type { RunnerMessage, RunnerTask } from './trial.ts';

/**
 * The process that runs test files of a build until the first failure. When all passed, it lets the process exit by
 * itself, like the runner of the tests: an open resource is a fault too.
 */
process.once('message', (task) => {
  void runTask(task as RunnerTask);
});

async function runTask(task: RunnerTask): Promise<void> {
  const { build, steps, seed, reports } = task;
  const coverage = reports === undefined ? undefined : new CoverageOfTests(build, reports);
  // The first example that fails is enough.
  configureGlobal({ seed, endOnFailure: true });
  const hooks = await importFrom<typeof RootHooks>(build, 'test/support/root-hooks.js');
  for (const index of steps.keys()) {
    await send({ kind: 'began', index });
    const startedAt = performance.now();
    const reason = await runStep(task, index, hooks, coverage);
    const milliseconds = Math.round(performance.now() - startedAt);
    await send(reason === undefined ? { kind: 'passed', milliseconds } : { kind: 'failed', reason });
    // The parent ends this process and everything that it started.
    if (reason !== undefined) return;
  }
  process.disconnect();
  // Only when nothing is open any more. Shutting down the engine could wait for ever for a native module.
  process.once('beforeExit', () => process.exit());
}

/** Runs tests of one file. @returns why one failed, undefined when they passed */
async function runStep(
  { build, steps, testMilliseconds }: RunnerTask,
  index: number,
  hooks: typeof RootHooks | undefined,
  coverage: CoverageOfTests | undefined,
): Promise<string | undefined> {
  const { path = '', titles } = steps[index] ?? {};
  const mocha = new Mocha({ timeout: testMilliseconds, bail: true, reporter: Mocha.reporters.Base });
  if (hooks !== undefined) mocha.rootHooks(hooks.mochaHooks);
  mocha.addFile(join(build, path));
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    return `It cannot be loaded: ${String(error)}`;
  }
  if (titles !== undefined) mocha.grep(new RegExp(`^(?:${titles.map(escaped).join('|')})$`));
  let reason: string | undefined;
  await new Promise((resolve) => {
    const runner = mocha.run(resolve);
    runner.on('test', (test) => void send({ kind: 'test', title: test.fullTitle() }));
    runner.on('fail', (test, error) => (reason ??= `${test.fullTitle()}: ${String(error)}`));
    coverage?.follow(runner);
  });
  coverage?.endFile();
  return reason;
}

function escaped(title: string): string {
  return title.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

async function importFrom<M>(build: string, path: string): Promise<M | undefined> {
  const file = join(build, path);
  return existsSync(file) ? ((await import(pathToFileURL(file).href)) as M) : undefined;
}

function send(message: RunnerMessage): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}
