import { setTimeout as sleep } from 'node:timers/promises';

/** The pause before the next attempt. Milliseconds. */
const retryMilliseconds = 200;
/** How long a system may take to recover. Milliseconds. */
const insistMilliseconds = 60_000;

/** Retries while it fails, as it may until the system has recovered. @throws the last error when that takes too long */
export async function insist<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + insistMilliseconds;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(retryMilliseconds);
    }
  }
}
