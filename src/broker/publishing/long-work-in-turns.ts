import { giveWay } from '../../clock.ts';

/**
 * Runs work that may be long. Wherever the work yields, all other work of the process goes first. Work that never
 * yields finishes at once, so that short work waits for nothing.
 * @returns the result of the work; a promise of it when the work yielded
 */
export function inTurns<Result>(work: Generator<void, Result>): Result | Promise<Result> {
  const first = work.next();
  return first.done === true ? first.value : laterTurns(work);
}

async function laterTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    await giveWay();
    const turn = work.next();
    if (turn.done === true) return turn.value;
  }
}
