import { configureGlobal } from 'fast-check';
import Mocha from 'mocha';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Cluster from '../support/cluster.ts';
import type * as RootHooks from '../support/root-hooks.ts';
import type { RunnerMessage, RunnerTask } from './trial.ts';

/**
 * The process that runs test files of a build until the first failure. When all passed it lets the process end by
 * itself, as the runner of the tests does: something that stays open is a fault, too.
 */
process.once('message', (task) => {
  void runTask(task as RunnerTask);
});

async function runTask({ build, files, seed, testMilliseconds }: RunnerTask): Promise<void> {
  // The first example that fails is enough.
  configureGlobal({ seed, endOnFailure: true });
  const hooks = await importFrom<typeof RootHooks>(build, 'test/support/root-hooks.js');
  for (const file of files) {
    await send({ kind: 'began', file });
    const startedAt = performance.now();
    const reason = await runFile(build, file, testMilliseconds, hooks);
    const milliseconds = Math.round(performance.now() - startedAt);
    await send(reason === undefined ? { kind: 'passed', file, milliseconds } : { kind: 'failed', file, reason });
    // The parent ends the process, and whatever it started.
    if (reason !== undefined) return;
  }
  process.disconnect();
  // Only when nothing is open any more. Shutting the engine down could wait for ever for a native module.
  process.once('beforeExit', () => process.exit());
}

/** Runs one test file. @returns why it failed, undefined when it passed */
async function runFile(
  build: string,
  file: string,
  timeout: number,
  hooks: typeof RootHooks | undefined,
): Promise<string | undefined> {
  const mocha = new Mocha({ timeout, bail: true, reporter: Mocha.reporters.Base });
  if (hooks !== undefined) mocha.rootHooks(hooks.mochaHooks);
  mocha.addFile(join(build, file));
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    return `It cannot be loaded: ${String(error)}`;
  }
  const clusters = await importFrom<typeof Cluster>(build, 'test/support/cluster.js');
  const generations =
    clusters?.wantedClusters().filter((wanted) => clusters.providedCluster(wanted) === undefined) ?? [];
  if (generations.length > 0) await send({ kind: 'needs clusters', generations });
  let reason: string | undefined;
  await new Promise((resolve) => {
    const runner = mocha.run(resolve);
    runner.on('fail', (test, error) => (reason ??= `${test.fullTitle()}: ${String(error)}`));
  });
  return reason;
}

async function importFrom<M>(build: string, path: string): Promise<M | undefined> {
  const file = join(build, path);
  return existsSync(file) ? ((await import(pathToFileURL(file).href)) as M) : undefined;
}

function send(message: RunnerMessage): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}
