import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { systemClock } from '../../../clock.ts';

/** How late the event loop is: how long what could run at once has to wait. */
export interface EventLoopDelay {
  /** The mean since the last call, or since the start. Milliseconds. */
  read(): number;
  /** Ends the measurement. */
  close(): void;
}

/**
 * How often the event loop is asked while it is busy. Each time wakes the process: while nothing happened, that took
 * more of a core than most other things. Milliseconds.
 */
const resolutionMilliseconds = 50;

/**
 * The share of the time in which the event loop runs from which on it is asked. Below it, it could not be late for
 * long, and one reading tells enough: how late the reading itself is.
 */
const busyShareMinimum = 0.25;

/**
 * Asks the event loop of this process, outside of JavaScript, and compares its times with the plan.
 * @param intervalMilliseconds After which time the caller plans to read again.
 */
export function measureEventLoopDelay(intervalMilliseconds: number): EventLoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  let isAsked = false;
  let readAt = systemClock.monotonic();
  let readCount = 0;
  let usage = performance.eventLoopUtilization();
  return {
    read() {
      const now = systemClock.monotonic();
      const elapsed = now - readAt;
      readAt = now;
      let delay = elapsed - intervalMilliseconds;
      if (isAsked) {
        // The count is enough, and costs nothing: the histogram would compute its mean from all of its buckets.
        const { count } = histogram;
        delay = elapsed / Math.max(1, count - readCount) - resolutionMilliseconds;
      }
      const usageNow = performance.eventLoopUtilization();
      const isBusy = performance.eventLoopUtilization(usageNow, usage).utilization >= busyShareMinimum;
      usage = usageNow;
      if (isBusy && !isAsked) histogram.enable();
      if (!isBusy && isAsked) histogram.disable();
      isAsked = isBusy;
      readCount = histogram.count;
      return Math.max(0, delay);
    },
    close: () => void histogram.disable(),
  };
}
