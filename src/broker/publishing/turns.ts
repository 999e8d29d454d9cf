import { setImmediate } from 'node:timers/promises';

/**
 * Work that may be long and gives way: wherever it yields, whatever else the process has to do comes first. Goes on at
 * once where it never yields, so that short work waits for nobody.
 * @returns what the work comes to; a promise of it when it gave way
 */
export function inTurns<Result>(work: Generator<void, Result>): Result | Promise<Result> {
  const first = work.next();
  return first.done === true ? first.value : laterTurns(work);
}

async function laterTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    await setImmediate();
    const turn = work.next();
    if (turn.done === true) return turn.value;
  }
}
