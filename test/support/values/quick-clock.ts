import { type Clock, systemClock } from '../../../src/clock.ts';

/**
 * The time of the machine, some times as fast. Unlike a simulated clock it goes on while threads and disks work, so a
 * whole service can live through hours in a test.
 */
export function quickClock(factor: number): Clock {
  const startedAt = systemClock.now();
  const monotonicAt = systemClock.monotonic();
  const clock: Clock = {
    now: () => Math.floor(startedAt + clock.monotonic()),
    monotonic: () => (systemClock.monotonic() - monotonicAt) * factor,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / factor, signal),
    at: (deadline, callback) => systemClock.at(monotonicAt + deadline / factor, callback),
  };
  return clock;
}
