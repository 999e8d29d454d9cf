import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../../../clock.ts';

/** How late the event loop is: how long what could run at once has to wait. */
export interface EventLoopDelay {
  /** The mean since the last call, or since the start. Milliseconds. */
  read(): number;
  /** Ends the measurement. */
  close(): void;
}

/**
 * How often the event loop is asked. Each time wakes the process: at 20 milliseconds that took 0.25 % of a core while
 * nothing happened. Milliseconds.
 */
const resolutionMilliseconds = 50;

/** Asks the event loop of this process regularly, outside of JavaScript, and compares its times with the plan. */
export function measureEventLoopDelay(): EventLoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  histogram.enable();
  let readAt = systemClock.monotonic();
  let readCount = histogram.count;
  return {
    read() {
      const now = systemClock.monotonic();
      const { count } = histogram;
      // The count is enough, and costs nothing: the histogram would compute its mean from all of its buckets.
      const interval = (now - readAt) / Math.max(1, count - readCount);
      readAt = now;
      readCount = count;
      return Math.max(0, interval - resolutionMilliseconds);
    },
    close: () => void histogram.disable(),
  };
}
