import { createRequire, syncBuiltinESMExports } from 'node:module';
import type * as workerThreads from 'node:worker_threads';

/**
 * Loaded before the service: SIGUSR2 ends the thread whose script END_LOG_THREAD names, like a crash. A line reports
 * that it began.
 */
const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };
const named = process.env['END_LOG_THREAD'] ?? '';

threads.Worker = class extends threads.Worker {
  constructor(...parameters: ConstructorParameters<typeof workerThreads.Worker>) {
    super(...parameters);
    if (!String(parameters[0]).includes(named)) return;
    process.once('SIGUSR2', () => void this.terminate());
    process.stdout.write(`Started ${named}\n`);
  }
};
syncBuiltinESMExports();
