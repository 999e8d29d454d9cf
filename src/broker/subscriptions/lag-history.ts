import { withTimeout, type Clock } from '../../clock.ts';
import { isLendstreamError } from '../../errors.ts';
import type { RecentLags } from './recent-lags.ts';
import type { SubscriptionLag } from './subscription-lag.ts';

/** How often the lags are looked at. Milliseconds. */
export const lagIntervalMilliseconds = 10_000;

/** How many values each subscription has: an hour. */
export const lagValuesMaximum = 360;

/** How many subscriptions have a history: those that lacked most. They take 3 MB. */
export const lagHistoriesMaximum = 1_000;

/** After this time a look goes on without a waiting caller: the log or the coordination store is slow. */
const patienceMilliseconds = 2_000;

/** The course of a lag. */
export interface LagCourse {
  /** Seconds from one value to the next. */
  readonly intervalSeconds: number;
  /** When the last value was seen. Milliseconds since the epoch; null without values. */
  readonly lastAt: number | null;
  /** Oldest first; null where it was not known. */
  readonly values: readonly (number | null)[];
}

interface Series {
  /** One place for each interval of an hour, used again and again; NaN where it was not known. */
  readonly values: Float64Array;
  /** The interval since which it is kept. */
  readonly since: number;
  /** The last value. */
  latest: number;
}

/** What was kept last. */
interface Kept {
  readonly lags: readonly SubscriptionLag[];
  readonly total: number;
  /** Whether keeping the same lags again gives each series that is there its value again, and changes nothing else. */
  readonly isSettled: boolean;
}

/**
 * The lags of the last hour, in memory. It asks for what scrapes ask for, as often as a scrape does, and what it keeps
 * is bounded, however many subscriptions there are.
 */
export class LagHistory {
  readonly #clock: Clock;
  readonly #lags: Pick<RecentLags, 'get'>;
  readonly #historiesMaximum: number;
  readonly #series = new Map<string, Series>();
  #isLooking = false;
  #latestTotal: number | null = null;
  #kept: Kept | undefined;
  /** The interval of the last look, whether it found something or not, and its end. */
  #last: { readonly interval: number; readonly at: number } | undefined;

  /** @param historiesMaximum Default {@link lagHistoriesMaximum}. */
  constructor(clock: Clock, lags: Pick<RecentLags, 'get'>, historiesMaximum = lagHistoriesMaximum) {
    this.#clock = clock;
    this.#lags = lags;
    this.#historiesMaximum = historiesMaximum;
  }

  /**
   * Adds the lags of now; call it once in each interval. While an earlier look goes on, it begins no other.
   * @returns the events that all subscriptions lack; null when that could not be read in a short while
   */
  async look(): Promise<number | null> {
    this.#advance();
    if (this.#isLooking) return null;
    this.#latestTotal = null;
    try {
      await withTimeout(this.#clock, this.#read(), patienceMilliseconds, () => undefined);
    } catch (error) {
      // The log or the coordination store is unavailable; other parts report it.
      if (!isLendstreamError(error) || !error.retriable) throw error;
    }
    return this.#latestTotal;
  }

  /**
   * How the lag of a subscription went; without values when it is not among those that are kept.
   * @param valuesMaximum More are joined to fewer, longer intervals, with the largest value of each.
   */
  of(subscriptionId: string, valuesMaximum = lagValuesMaximum): LagCourse {
    const series = this.#series.get(subscriptionId);
    if (series === undefined || this.#last === undefined) {
      return { intervalSeconds: lagIntervalMilliseconds / 1_000, lastAt: null, values: [] };
    }
    const { interval, at } = this.#last;
    const count = Math.min(interval - series.since + 1, lagValuesMaximum);
    const values = Array.from({ length: count }, (_, index) => {
      const value = series.values[placeOf(interval - count + 1 + index)];
      return value === undefined || Number.isNaN(value) ? null : value;
    });
    const joined = Math.ceil(count / valuesMaximum);
    return {
      intervalSeconds: (joined * lagIntervalMilliseconds) / 1_000,
      lastAt: at,
      values: joined === 1 ? values : largestOfEach(values, joined),
    };
  }

  /** Begins the interval of now, and forgets what was an hour before it and before those that were missed. */
  #advance(): void {
    const interval = Math.floor(this.#clock.monotonic() / lagIntervalMilliseconds);
    const before = this.#last?.interval ?? interval;
    this.#last = { interval, at: this.#clock.now() };
    const passed = Math.min(interval - before, lagValuesMaximum);
    for (const { values } of this.#series.values()) {
      for (let each = interval - passed + 1; each <= interval; each += 1) values[placeOf(each)] = Number.NaN;
    }
  }

  async #read(): Promise<void> {
    this.#isLooking = true;
    try {
      const lags = await this.#lags.get();
      // As long as nothing happens, it is the same list.
      if (this.#kept?.lags === lags && this.#kept.isSettled) this.#keepAgain();
      else this.#keepAll(lags);
      this.#latestTotal = this.#kept?.total ?? 0;
    } finally {
      this.#isLooking = false;
    }
  }

  #keepAll(lags: readonly SubscriptionLag[]): void {
    const bySubscription = new Map<string, number>();
    let total = 0;
    for (const { subscriptionId, unconsumedEvents } of lags) {
      bySubscription.set(subscriptionId, (bySubscription.get(subscriptionId) ?? 0) + unconsumedEvents);
      total += unconsumedEvents;
    }
    this.#keep(bySubscription);
    // Where something lacks and not all have a place, a peak that is an hour old makes room for others.
    this.#kept = { lags, total, isSettled: total === 0 || this.#series.size === bySubscription.size };
  }

  #keepAgain(): void {
    const place = placeOf(this.#last?.interval ?? 0);
    for (const series of this.#series.values()) series.values[place] = series.latest;
  }

  #keep(lags: ReadonlyMap<string, number>): void {
    for (const id of this.#series.keys()) {
      if (!lags.has(id)) this.#series.delete(id);
    }
    const interval = this.#last?.interval ?? 0;
    for (const id of this.#worstOf(lags)) {
      const series = this.#series.get(id) ?? {
        values: new Float64Array(lagValuesMaximum).fill(Number.NaN),
        since: interval,
        latest: Number.NaN,
      };
      series.latest = lags.get(id) ?? Number.NaN;
      series.values[placeOf(interval)] = series.latest;
      this.#series.set(id, series);
    }
  }

  #mayReplaceAny(lags: ReadonlyMap<string, number>): boolean {
    for (const [id, events] of lags) if (events > 0 && !this.#series.has(id)) return true;
    return false;
  }

  /** Those to keep. When there are too many, the ones with the smallest peaks of the last hour go. */
  #worstOf(lags: ReadonlyMap<string, number>): Iterable<string> {
    if (lags.size <= this.#historiesMaximum) return lags.keys();
    // At rest, with all places taken, nothing is compared: a lag of 0 replaces none.
    if (this.#series.size === this.#historiesMaximum && !this.#mayReplaceAny(lags)) return [...this.#series.keys()];
    const peaks = new Map<string, number>();
    // Kept ones first: the order of equal peaks stays, so that no history gives way to an equal one.
    for (const [id, { values }] of this.#series) {
      peaks.set(
        id,
        values.reduce((peak, value) => (value > peak ? value : peak), lags.get(id) ?? 0),
      );
    }
    for (const [id, events] of lags) {
      if (!peaks.has(id)) peaks.set(id, events);
    }
    const worst = [...peaks]
      .toSorted(([, left], [, right]) => right - left)
      .slice(0, this.#historiesMaximum)
      .map(([id]) => id);
    const kept = new Set(worst);
    for (const id of this.#series.keys()) {
      if (!kept.has(id)) this.#series.delete(id);
    }
    return worst;
  }
}

/** Where the value of an interval is. */
function placeOf(interval: number): number {
  return interval % lagValuesMaximum;
}

/** The last group is complete, the first one may be shorter. */
function largestOfEach(values: readonly (number | null)[], size: number): (number | null)[] {
  const groups: (number | null)[] = [];
  for (let end = values.length; end > 0; end -= size) {
    const known = values.slice(Math.max(0, end - size), end).filter((value) => value !== null);
    groups.push(known.length === 0 ? null : Math.max(...known));
  }
  return groups.toReversed();
}
