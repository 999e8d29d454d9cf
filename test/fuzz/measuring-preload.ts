import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BatchCache } from '../../src/embedded/batch-cache.ts';

/** Loaded into the service before everything else: measures it from the inside on request of the fuzzer. */

export interface Measurement {
  /** The longest time since the last measurement in which the event loop was blocked. Milliseconds. */
  readonly stallMilliseconds: number;
  /** Bytes. */
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Memory outside of the heap that is referenced by objects in it. Bytes. */
  readonly externalBytes: number;
  /** What the embedded log keeps of its batches, in both; it grows up to a limit of its own. Bytes. */
  readonly cacheBytes: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

/** Those of the process, found by their use. */
const caches = new Set<BatchCache>();
const add = Object.getOwnPropertyDescriptor(BatchCache.prototype, 'add')?.value as BatchCache['add'];
BatchCache.prototype.add = function (this: BatchCache, partition, batch) {
  caches.add(this);
  add.call(this, partition, batch);
};

process.on('message', (message) => {
  const stallMilliseconds = delay.max / 1e6;
  if (message === 'measure after collecting garbage') {
    collectGarbage();
    collectGarbage();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  delay.reset();
  const measurement: Measurement = {
    stallMilliseconds,
    residentBytes: rss,
    heapBytes: heapUsed,
    externalBytes: external,
    cacheBytes: [...caches].reduce((sum, { bytes }) => sum + bytes, 0),
  };
  process.send?.(measurement);
});
// A killed fuzzer leaves no service behind.
process.on('disconnect', () => process.exit());
// The service exits when it has nothing more to do, even if the fuzzer could still send requests.
process.channel?.unref();
