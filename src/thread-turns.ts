import { systemClock } from './clock.ts';

/**
 * Lets the process end only between two pieces of native work of its threads. Node ends the threads wherever they are,
 * and a native module that has to report an error to a thread that is ending aborts the whole process.
 */

const [idle, busy, ended] = [0, 1, 2];

/** How long the end of the process waits for the threads. It ends all the same afterwards. Milliseconds. */
const waitMillisecondsMaximum = 2_000;

const turns = new Set<Int32Array>();

/** In the main thread: what a new thread receives, to learn that the process ends. At first the thread is busy. */
export function newTurn(): Int32Array {
  if (turns.size === 0) process.on('exit', endTurns);
  const turn = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  turn[0] = busy;
  turns.add(turn);
  return turn;
}

/** In the main thread: the thread has ended. */
export function forgetTurn(turn: Int32Array): void {
  turns.delete(turn);
  if (turns.size === 0) process.off('exit', endTurns);
}

/** In the thread: does native work, or nothing when the process ends. */
export function inTurn(turn: Int32Array, work: () => void): void {
  if (Atomics.compareExchange(turn, 0, idle, busy) !== idle) return;
  try {
    work();
  } finally {
    endWork(turn);
  }
}

/** In the thread: the work that it began with, loading its modules, is done. */
export function endWork(turn: Int32Array): void {
  Atomics.store(turn, 0, idle);
  Atomics.notify(turn, 0);
}

function endTurns(): void {
  const deadline = systemClock.monotonic() + waitMillisecondsMaximum;
  for (const turn of turns) {
    while (Atomics.compareExchange(turn, 0, idle, ended) === busy) {
      const left = deadline - systemClock.monotonic();
      if (left <= 0) return;
      Atomics.wait(turn, 0, busy, left);
    }
  }
}
