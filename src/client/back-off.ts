/** How long to wait before an attempt is repeated. */
export interface BackOffOptions {
  /** About the first wait. Milliseconds, default 250. */
  readonly firstMilliseconds?: number;
  /** The longest wait. Milliseconds, default 30 seconds. */
  readonly maximumMilliseconds?: number;
}

const defaults = { firstMilliseconds: 250, maximumMilliseconds: 30_000 };

/**
 * The wait after a number of failures in a row: twice as long each time, and somewhere between half of it and all of
 * it, so that many clients do not come back at the same moment.
 * @param failures From 1.
 * @param chance A number from 0 to 1, at random.
 * @param leastMilliseconds What the service asked for with `Retry-After`; it is never undercut.
 */
export function backOffMilliseconds(
  failures: number,
  chance: number,
  options: BackOffOptions = {},
  leastMilliseconds = 0,
): number {
  const { firstMilliseconds, maximumMilliseconds } = { ...defaults, ...options };
  const whole = Math.min(maximumMilliseconds, firstMilliseconds * 2 ** Math.min(failures - 1, 30));
  return Math.max(leastMilliseconds, (whole * (1 + chance)) / 2);
}
