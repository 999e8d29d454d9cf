import { createRequire, syncBuiltinESMExports } from 'node:module';
import type * as workerThreads from 'node:worker_threads';

/** The threads that this process starts while a test runs. */
export interface StartedThreads {
  /** How many threads with this script were started so far. */
  count(script: string): number;
  /** The names of the requests to the threads with this script, in their order. */
  requests(script: string): string[];
  /** Ends the newest thread with this script, like a crash. */
  end(script: string): Promise<void>;
  /** Sees no further threads. */
  stop(): void;
}

/** Sees each thread that is started from now on. */
export function watchThreads(): StartedThreads {
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };
  const original = threads.Worker;
  const started: { readonly script: string; readonly worker: workerThreads.Worker; readonly requests: string[] }[] = [];
  const of = (script: string): typeof started => started.filter((each) => each.script.endsWith(script));
  threads.Worker = class extends original {
    readonly #requests: string[] = [];

    constructor(...parameters: ConstructorParameters<typeof workerThreads.Worker>) {
      super(...parameters);
      started.push({ script: String(parameters[0]), worker: this, requests: this.#requests });
    }

    override postMessage(...parameters: Parameters<workerThreads.Worker['postMessage']>): void {
      this.#requests.push((parameters[0] as { name: string }).name);
      super.postMessage(...parameters);
    }
  };
  syncBuiltinESMExports();
  return {
    count: (script) => of(script).length,
    requests: (script) => of(script).flatMap(({ requests }) => requests),
    end: async (script) => {
      await of(script).at(-1)?.worker.terminate();
    },
    stop: () => {
      threads.Worker = original;
      syncBuiltinESMExports();
    },
  };
}
