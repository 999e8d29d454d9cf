import type { Subscription } from '../definitions/subscription.ts';
import { subscriptionLag, type LagServices, type SubscriptionLag } from './subscription-lag.ts';

/** Up to how many subscriptions every scrape gets lags of its own. */
export const subscriptionsAlwaysFresh = 1_000;

/** How old lags may be for each subscription that there is, and at most. Milliseconds. */
const ageMillisecondsPerSubscription = 0.5;
const ageMillisecondsMaximum = 50_000;

/**
 * The lags of all subscriptions, for scrapes. With many subscriptions, scrapes that follow one another get the same
 * lags for a while, so that scrapes take no more than a few hundredths of a processor's time, however often they come.
 */
export class RecentLags {
  readonly #services: LagServices;
  readonly #alwaysFresh: number;
  #lags: Promise<SubscriptionLag[]> | undefined;
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

  async #compute(): Promise<SubscriptionLag[]> {
    const { clock, registry } = this.#services;
    let ageMilliseconds = 0;
    try {
      const lags = await subscriptionLag(this.#services);
      const count = registry.list<Subscription>('subscription').length;
      if (count > this.#alwaysFresh) {
        ageMilliseconds = Math.min(count * ageMillisecondsPerSubscription, ageMillisecondsMaximum);
      }
      return lags;
    } finally {
      this.#freshUntil = clock.monotonic() + ageMilliseconds;
    }
  }
}
