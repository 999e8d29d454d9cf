import { BoundedMap } from '../../bounded-map.ts';
import { after, type Clock } from '../../clock.ts';
import { networkOf } from './address-network.ts';
import type { LimitBounds } from './key-limits.ts';
import { TokenBucket } from './token-bucket.ts';
import { tooManyRequests } from './too-many-requests.ts';

/** How often one address may fail, and may ask without credentials. Infinite for no limit. */
export interface AddressLimits {
  readonly failedLoginsPerMinute: number;
  /** Requests without valid credentials. */
  readonly requestsPerSecond: number;
}

export const failedLoginsBounds: LimitBounds = { fallback: 30, minimum: 1, maximum: 1_000_000 };

export const addressRequestsBounds: LimitBounds = { fallback: 100, minimum: 1, maximum: 1_000_000 };

/** The most addresses that are remembered; those that did nothing for the longest time are forgotten first. */
export const addressesMaximum = 10_000;

/** Each failure beyond the first half of the limit is answered this much later than the one before. Milliseconds. */
export const slowingStepMilliseconds = 100;

/** The longest time for which a response is held back. Milliseconds. */
export const slowingMillisecondsMaximum = 2_000;

/** The most responses that are held back at once; more are refused immediately. */
export const slowedAnswersMaximum = 1_000;

/** How often an address failed; the number falls with the time. */
interface Failures {
  count: number;
  at: number;
}

/**
 * Slows down and then refuses addresses that fail to prove who they are, and those that ask too often without trying.
 * An IPv6 address counts as its /64.
 */
export class FailedLogins {
  readonly #limits: AddressLimits;
  readonly #clock: Clock;
  readonly #failures = new BoundedMap<string, Failures>(addressesMaximum);
  readonly #requests = new BoundedMap<string, TokenBucket>(addressesMaximum);
  #slowed = 0;

  constructor(limits: AddressLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Whether credentials that can be guessed are not even looked at, because the address failed too often. */
  isBlocked(address: string): boolean {
    // Most processes have not seen a failure.
    if (this.#failures.size === 0) return false;
    const failures = this.#failures.get(networkOf(address));
    return failures !== undefined && this.#countOf(failures) > this.#limits.failedLoginsPerMinute - 1;
  }

  /** Counts a request without valid credentials. @throws TOO_MANY_REQUESTS */
  countRequest(address: string): void {
    const limit = this.#limits.requestsPerSecond;
    if (limit === Infinity) return;
    const network = networkOf(address);
    const now = this.#clock.monotonic();
    const known = this.#requests.get(network);
    const bucket = known ?? new TokenBucket(limit, now);
    if (known === undefined) this.#requests.set(network, bucket);
    const wait = bucket.take(now);
    if (wait === 0) return;
    const detail = `One address may send ${limit} requests without valid credentials a second.`;
    throw tooManyRequests(detail, { name: 'requests_per_second', limit, windowSeconds: 1 }, wait);
  }

  /**
   * Counts a failure. Resolves when it may be answered: late, after many of them.
   * @throws TOO_MANY_REQUESTS after too many
   */
  async countFailure(address: string): Promise<void> {
    const limit = this.#limits.failedLoginsPerMinute;
    if (limit === Infinity) return;
    const count = this.#add(networkOf(address), limit);
    const delay = Math.min(slowingMillisecondsMaximum, (count - Math.ceil(limit / 2)) * slowingStepMilliseconds);
    if (delay <= 0) return;
    if (this.#slowed >= slowedAnswersMaximum) throw this.#tooManyFailures(slowingMillisecondsMaximum);
    this.#slowed += 1;
    await new Promise<void>((resolve) => after(this.#clock, delay, resolve));
    this.#slowed -= 1;
  }

  /** @returns how many failures count now, the new one included */
  #add(network: string, limit: number): number {
    const now = this.#clock.monotonic();
    const failures = this.#failures.get(network) ?? { count: 0, at: now };
    const count = this.#countOf(failures);
    if (count > limit - 1) throw this.#tooManyFailures(((count - limit + 1) / limit) * 60_000);
    failures.count = count + 1;
    failures.at = now;
    this.#failures.set(network, failures);
    return failures.count;
  }

  #countOf({ count, at }: Failures): number {
    const forgotten = ((this.#clock.monotonic() - at) / 60_000) * this.#limits.failedLoginsPerMinute;
    return Math.max(0, count - forgotten);
  }

  #tooManyFailures(waitMilliseconds: number): Error {
    const limit = this.#limits.failedLoginsPerMinute;
    const detail = `Too many requests of this address had credentials that are not valid: ${limit} a minute are answered.`;
    return tooManyRequests(detail, { name: 'failed_logins', limit, windowSeconds: 60 }, waitMilliseconds);
  }
}
