/**
 * Time as the outside world gives it. Whatever decides takes `now` as an argument; only the edges (HTTP handlers, the
 * worker's loop, adapters) hold a clock.
 */
export interface Clock {
  /** Wall-clock time. Milliseconds since the epoch, UTC. */
  now(): number;
  /** Monotonic time for measuring durations and deadlines. Milliseconds, no defined zero. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/**
 * A wall-clock instant as RFC 3339 in UTC with milliseconds, the form every timestamp of this product is written in.
 */
export function toTimestamp(milliseconds: number): string {
  if (milliseconds !== written.milliseconds) written = { milliseconds, text: new Date(milliseconds).toISOString() };
  return written.text;
}

/** The instant that was written last: whatever happens at once is written with the same one. */
let written = { milliseconds: Number.NaN, text: '' };
