import { createRequire, syncBuiltinESMExports } from 'node:module';
import type * as workerThreads from 'node:worker_threads';

/**
 * Loaded before the service: each SIGUSR2 ends the next of the threads whose scripts END_LOG_THREADS lists, like a
 * crash, when it was first begun before. A line reports that it began.
 */
const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };
const named = (process.env['END_LOG_THREADS'] ?? '').split(' ');
const begun = new Map<string, workerThreads.Worker>();

process.on('SIGUSR2', () => void begun.get(named.shift() ?? '')?.terminate());

threads.Worker = class extends threads.Worker {
  constructor(...parameters: ConstructorParameters<typeof workerThreads.Worker>) {
    super(...parameters);
    const script = named.find((each) => String(parameters[0]).includes(each));
    if (script === undefined || begun.has(script)) return;
    begun.set(script, this);
    process.stdout.write(`Started ${script}\n`);
  }
};
syncBuiltinESMExports();
