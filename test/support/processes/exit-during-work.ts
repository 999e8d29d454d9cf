import { writeSync } from 'node:fs';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { endWork, inTurn, newTurn } from '../../../src/thread-turns.ts';

/**
 * A process that exits with 3 while a thread of it works. The thread writes `begin` and `end` for each piece of its
 * work. The argument is how long a piece takes. Milliseconds.
 */
const standardOutput = 1;

if (isMainThread) {
  const turn = newTurn();
  const worker = new Worker(new URL(import.meta.url), { workerData: { turn, milliseconds: Number(process.argv[2]) } });
  worker.on('message', () => process.exit(3));
} else {
  const { turn, milliseconds } = workerData as { readonly turn: Int32Array; readonly milliseconds: number };
  const work = (): void => {
    writeSync(standardOutput, 'begin\n');
    parentPort?.postMessage('begun', []);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    writeSync(standardOutput, 'end\n');
  };
  endWork(turn);
  inTurn(turn, work);
  // As the main thread has asked for the turn by now, this does nothing.
  inTurn(turn, work);
}
