import { existsSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as workerThreads from 'node:worker_threads';
import { serviceProgramVariable } from '../../test/support/processes/service-program.ts';

/** The compiled service, whose threads this process starts. */
const compiledService = fileURLToPath(new URL('../../src/', import.meta.url));

/**
 * Lets this process start the threads of the service from the bundle of the test run: the same code in few files, which
 * takes a thread half of the processor time of loading it. Tests start thousands of threads. Does nothing without a
 * bundle.
 */
export function startThreadsFromBundle(): void {
  const program = process.env[serviceProgramVariable];
  if (program === undefined) return;
  const bundle = dirname(program);
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };
  threads.Worker = class extends threads.Worker {
    constructor(script: string | URL, options?: workerThreads.WorkerOptions) {
      super(bundled(script, bundle), options);
    }
  };
  syncBuiltinESMExports();
}

/** The program in the bundle, or the script itself where it has none. */
function bundled(script: string | URL, bundle: string): string | URL {
  if (!(script instanceof URL) || script.protocol !== 'file:') return script;
  const path = relative(compiledService, fileURLToPath(script));
  const program = join(bundle, path);
  return !path.startsWith('..') && existsSync(program) ? program : script;
}
