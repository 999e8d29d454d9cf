/**
 * The time of the outside world. Code that makes decisions takes `now` as an argument; only the edges (HTTP handlers,
 * the worker's loop, adapters) hold a clock.
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

/** A wall-clock instant as RFC 3339 in UTC with milliseconds. Every timestamp of this product has this form. */
export function toTimestamp(milliseconds: number): string {
  if (milliseconds !== written.milliseconds) written = { milliseconds, text: new Date(milliseconds).toISOString() };
  return written.text;
}

/** The instant that was written last, kept because things that happen at once have the same one. */
let written = { milliseconds: Number.NaN, text: '' };
