import { subscriptionLag, type KnownLags, type LagServices, type SubscriptionLag } from './subscription-lag.ts';

/** Up to how many subscriptions every scrape gets lags of its own. */
export const subscriptionsAlwaysFresh = 1_000;

/** How old lags may be for each subscription that there is, and at most. Milliseconds. */
const ageMillisecondsPerSubscription = 0.5;
const ageMillisecondsMaximum = 50_000;

/**
 * The lags of all subscriptions, for scrapes. With many subscriptions, scrapes that follow one another get the same
 * lags for a while, so that scrapes take no more than a few hundredths of a processor's time, however often they come.
 * As long as nothing is published or committed, each computation returns the same list.
 */
export class RecentLags {
  readonly #services: LagServices;
  readonly #alwaysFresh: number;
  #lags: Promise<readonly SubscriptionLag[]> | undefined;
  /** What was computed last. */
  #known: KnownLags | undefined;
  /** When the lags stop counting as fresh. Monotonic milliseconds. */
  #freshUntil = Infinity;

  /** @param alwaysFresh Default {@link subscriptionsAlwaysFresh}. */
  constructor(services: LagServices, alwaysFresh = subscriptionsAlwaysFresh) {
    this.#services = services;
    this.#alwaysFresh = alwaysFresh;
  }

  /**
   * The lags; callers at the same time share them.
   * @throws what the log and the coordination store throw
   */
  get(): Promise<readonly SubscriptionLag[]> {
    const { clock } = this.#services;
    if (this.#lags !== undefined && clock.monotonic() < this.#freshUntil) return this.#lags;
    this.#freshUntil = Infinity;
    this.#lags = this.#compute();
    return this.#lags;
  }

  async #compute(): Promise<readonly SubscriptionLag[]> {
    const { clock, registry } = this.#services;
    let ageMilliseconds = 0;
    try {
      this.#known = await subscriptionLag(this.#services, this.#known);
      const count = registry.count('subscription');
      if (count > this.#alwaysFresh) {
        ageMilliseconds = Math.min(count * ageMillisecondsPerSubscription, ageMillisecondsMaximum);
      }
      return this.#known.lags;
    } finally {
      this.#freshUntil = clock.monotonic() + ageMilliseconds;
    }
  }
}
