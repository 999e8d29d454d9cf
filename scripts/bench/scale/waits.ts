import { setTimeout as sleep } from 'node:timers/promises';

/** The pause between two requests that are timed. Milliseconds. */
const pauseMilliseconds = 20;

/**
 * Repeats a request, one at a time, until the work beside it is done.
 * @returns how long each of them took, in milliseconds
 */
export async function waitsBeside(work: Promise<unknown>, request: () => Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  const ended = new AbortController();
  const end = (): void => ended.abort();
  work.then(end, end);
  while (!ended.signal.aborted) {
    const begin = performance.now();
    await request();
    waits.push(performance.now() - begin);
    await sleep(pauseMilliseconds);
  }
  return waits;
}
