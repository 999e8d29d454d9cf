/**
 * What a process did in the last hour, as a person sees it at a glance.
 * In: the metrics of the process, looked at every ten seconds. Out: rates, percentiles and counts, now and in the past.
 * Start with `ActivityHistory` below; `quantiles.ts` reads percentiles from the buckets of a histogram.
 */

import { every, type Clock, type Timer } from '../../clock.ts';
import type { Metrics } from '../../metrics.ts';
import { bucketIncreases, quantileOf, type Buckets } from './quantiles.ts';

/** How often the metrics are looked at. Milliseconds. */
export const intervalMilliseconds = 10_000;

/** How many points are kept: an hour. */
export const pointsMaximum = 360;

/** One interval. Rates are per second, durations in seconds. */
export interface ActivityPoint {
  readonly published: number;
  readonly delivered: number;
  readonly commandsDecided: number;
  /** Null when nothing was published in the interval. */
  readonly publishP99: number | null;
  /** Null when nothing was committed in the interval. */
  readonly commitP99: number | null;
  /** At the end of the interval, like the next one. */
  readonly openStreams: number;
  readonly commandsWaiting: number;
  /** What all subscriptions lack; null while that is not known, like the next one. */
  readonly unconsumedEvents: number | null;
  readonly diskUsedBytes: number | null;
}

/** What no metric says: it is read once for each interval. */
export type Readings = Pick<ActivityPoint, 'openStreams' | 'unconsumedEvents' | 'diskUsedBytes'>;

/** What the counters said at some time. */
interface Totals {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly published: number;
  readonly delivered: number;
  readonly commandsDecided: number;
  readonly publish: Buckets;
  readonly commit: Buckets;
}

type Measured = Pick<
  Metrics,
  'publishedEvents' | 'deliveredEvents' | 'commands' | 'publishSeconds' | 'commitSeconds' | 'workerLag'
>;

/** Keeps the points of an hour. What it costs does not depend on how much happens. */
export class ActivityHistory {
  readonly #clock: Clock;
  readonly #metrics: Measured;
  readonly #measure: () => Promise<Readings>;
  readonly #points: ActivityPoint[] = [];
  #last: Totals | undefined;
  #lastPointAt = 0;
  #timer: Timer | undefined;

  /** @param measure Updates the gauges that are worked out on request, and reads what is none. */
  constructor(clock: Clock, metrics: Measured, measure: () => Promise<Readings>) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#measure = measure;
  }

  /** Looks at the metrics from now on. @param onFailure Called when a look fails; the next one is made all the same. */
  async start(onFailure: (error: unknown) => void): Promise<void> {
    this.#last = await this.#totals();
    this.#timer = every(this.#clock, intervalMilliseconds, () => void this.look().catch(onFailure));
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Oldest first. */
  get points(): readonly ActivityPoint[] {
    return this.#points;
  }

  /** When the last point was made. Milliseconds since the epoch; 0 before the first one. */
  get lastPointAt(): number {
    return this.#lastPointAt;
  }

  /** Adds a point for the time since the last one. */
  async look(): Promise<void> {
    const readings = await this.#measure();
    const totals = await this.#totals();
    const commandsWaiting = await sumOf(this.#metrics.workerLag);
    const before = this.#last;
    this.#last = totals;
    if (before === undefined || totals.at <= before.at) return;
    const seconds = (totals.at - before.at) / 1_000;
    const rate = (name: 'published' | 'delivered' | 'commandsDecided'): number =>
      // Series of what was deleted are removed, which lowers the sum.
      Math.max(0, totals[name] - before[name]) / seconds;
    this.#points.push({
      published: rate('published'),
      delivered: rate('delivered'),
      commandsDecided: rate('commandsDecided'),
      publishP99: quantileOf(bucketIncreases(before.publish, totals.publish), 0.99),
      commitP99: quantileOf(bucketIncreases(before.commit, totals.commit), 0.99),
      commandsWaiting,
      ...readings,
    });
    if (this.#points.length > pointsMaximum) this.#points.shift();
    this.#lastPointAt = this.#clock.now();
  }

  async #totals(): Promise<Totals> {
    const { publishedEvents, deliveredEvents, commands, publishSeconds, commitSeconds } = this.#metrics;
    return {
      at: this.#clock.monotonic(),
      published: await sumOf(publishedEvents),
      delivered: await sumOf(deliveredEvents),
      commandsDecided: await sumOf(commands),
      publish: await bucketsOf(publishSeconds),
      commit: await bucketsOf(commitSeconds),
    };
  }
}

interface Summable {
  get(): Promise<{ readonly values: readonly { readonly value: number }[] }>;
}

/** Over all labels. */
async function sumOf(metric: Summable): Promise<number> {
  let sum = 0;
  for (const { value } of (await metric.get()).values) sum += value;
  return sum;
}

interface Histogrammed {
  get(): Promise<{
    readonly values: readonly { readonly metricName?: string; readonly labels: object; readonly value: number }[];
  }>;
}

/** Over all labels but the bound. */
async function bucketsOf(metric: Histogrammed): Promise<Buckets> {
  const buckets = new Map<number, number>();
  for (const { metricName = '', labels, value } of (await metric.get()).values) {
    if (!metricName.endsWith('_bucket')) continue;
    const { le } = labels as { readonly le?: number | string };
    const bound = le === '+Inf' ? Infinity : Number(le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + value);
  }
  return buckets;
}
