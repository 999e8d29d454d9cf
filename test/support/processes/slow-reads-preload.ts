import { createRequire, syncBuiltinESMExports } from 'node:module';
import type * as workerThreads from 'node:worker_threads';

/**
 * Loaded before the service: each read of the topic of accounts beyond its beginning takes a second, as from a very
 * slow disk, until the process receives SIGUSR2.
 */
const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };

const slowTopic = 'lendstream.accounts';
const readMilliseconds = 1_000;

interface Request {
  readonly request?: { readonly topic?: string; readonly from?: number } | null;
}

threads.Worker = class extends threads.Worker {
  readonly #waiting = new Map<() => void, NodeJS.Timeout>();
  #isSlow = true;

  constructor(...parameters: ConstructorParameters<typeof workerThreads.Worker>) {
    super(...parameters);
    process.once('SIGUSR2', () => {
      this.#isSlow = false;
      for (const [send, timer] of this.#waiting) {
        clearTimeout(timer);
        send();
      }
      this.#waiting.clear();
    });
  }

  override postMessage(message: unknown, transfer?: readonly workerThreads.Transferable[]): void {
    const { topic, from = 0 } = (message as Request).request ?? {};
    const send = (): void => super.postMessage(message, transfer);
    if (!this.#isSlow || topic !== slowTopic || from === 0) {
      send();
      return;
    }
    const sendLate = (): void => {
      this.#waiting.delete(send);
      send();
    };
    this.#waiting.set(send, setTimeout(sendLate, readMilliseconds));
  }
};
syncBuiltinESMExports();
