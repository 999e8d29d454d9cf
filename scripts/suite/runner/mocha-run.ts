import Mocha from 'mocha';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { mochaHooks } from '../../../test/support/root-hooks.ts';
import { propertyTimeFactor } from '../../../test/support/values/property-runs.ts';
import type { Counts } from '../counts.ts';
import { nameBackend } from './named-backend.ts';
import { inSources } from './source-positions.ts';
import type { Backend } from '../test-files.ts';

/** Work that takes a moment on one machine takes several on a cluster. Milliseconds. */
const timeoutMilliseconds: Record<Backend, number> = { embedded: 60_000, cluster: 90_000 };

export interface MochaOutcome {
  readonly counts: Counts;
  /** The failures with their reasons, as Mocha prints them; empty when there are none. */
  readonly failures: string;
}

/**
 * Runs compiled test files in this process, on a backend that is there, and prints what Mocha prints.
 * @param beforeTests is called when the suites are declared, and before the first of them runs
 */
export async function runMocha(
  compiledFiles: readonly string[],
  backend: Backend,
  reporter: 'spec' | 'dot',
  beforeTests: () => Promise<void> = () => Promise.resolve(),
): Promise<MochaOutcome> {
  const mocha = new Mocha({
    timeout: timeoutMilliseconds[backend] * propertyTimeFactor,
    slow: 2_000,
    reporter,
    forbidOnly: process.env['CI'] !== undefined,
    rootHooks: mochaHooks,
  });
  nameBackend(backend);
  for (const file of compiledFiles) await declareTests(mocha, file);
  await beforeTests();
  const failedTests: Mocha.Test[] = [];
  const counts = await new Promise<Counts>((resolve) => {
    const runner = mocha.run((failed) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      resolve({ passed: passes, failed, skipped: pending });
    });
    runner.on('fail', (test, error: unknown) => {
      failedTests.push(test);
      if (error instanceof Error) error.stack = inSources(error.stack ?? '');
    });
  });
  const failures = printed(() => Mocha.reporters.Base.list(failedTests));
  // Otherwise it would listen for errors of this process, and keep the files that it has run.
  mocha.dispose();
  return { counts, failures };
}

let filesDeclared = 0;

/**
 * Loads a file, which declares its tests. Mocha itself would load it once in a process, and a process runs it a second
 * time for the other backend: each time under an address of its own.
 */
async function declareTests(mocha: Mocha, compiled: string): Promise<void> {
  filesDeclared += 1;
  mocha.suite.emit(Mocha.Suite.constants.EVENT_FILE_PRE_REQUIRE, globalThis, compiled, mocha);
  await import(`${pathToFileURL(compiled).href}?run=${filesDeclared}`);
}

/** What Mocha prints while that is called. */
function printed(action: () => void): string {
  const { Base } = Mocha.reporters;
  const { consoleLog } = Base;
  const lines: string[] = [];
  Base.consoleLog = (...values: unknown[]) => {
    lines.push(format(...values));
  };
  try {
    action();
  } finally {
    Base.consoleLog = consoleLog;
  }
  return lines.join('\n').trimEnd();
}
