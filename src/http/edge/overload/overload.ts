import { every, type Clock, type Timer } from '../../../clock.ts';
import { LendstreamError } from '../../../errors.ts';
import type { Logger } from '../../../logger.ts';
import type { Metrics } from '../../../metrics.ts';
import type { EventLoopDelay } from './event-loop-delay.ts';

/** What a process that is overloaded refuses: first new streams, then new events and commands. */
export const shedWorkNames = ['streams', 'publishing'] as const;

export type ShedWork = (typeof shedWorkNames)[number];

/** From which measure on a process refuses new work. */
interface OverloadThresholds {
  /** The delay of the event loop, in two windows one after the other. Milliseconds. */
  readonly delayMilliseconds: number;
  /** The bodies in progress. */
  readonly bodyBytes: number;
}

/**
 * Streams go first: each costs something for as long as it is open, and another process can serve it. The bodies that
 * are published have budgets of their own, see bodies-in-flight.ts: at 256 MiB, later than streams, those larger than
 * 64 KiB are refused.
 */
export const overloadThresholds: Readonly<Record<ShedWork, OverloadThresholds>> = {
  streams: { delayMilliseconds: 500, bodyBytes: 192 * 1024 * 1024 },
  publishing: { delayMilliseconds: 1_000, bodyBytes: Infinity },
};

/** How long the delay of the event loop is averaged. Milliseconds. */
export const overloadWindowMilliseconds = 500;

/** After which time refused work may come again: both windows are new by then. Seconds. */
export const overloadRetrySeconds = 2;

/** The pause between log lines about refused work, as there may be thousands a second. Milliseconds. */
export const overloadWarningPauseMilliseconds = 60_000;

export interface OverloadServices {
  readonly delay: EventLoopDelay;
  /** The bodies in progress. */
  readonly bodies: { readonly bytes: number };
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'eventLoopDelay' | 'shedRequests'>;
  readonly logger: Logger;
}

/** Decides what this process does not begin, so that it can go on with what it has begun. */
export class Overload {
  readonly #services: OverloadServices;
  readonly #timer: Timer;
  #lastDelay = 0;
  /** The smaller one of the last two windows: a single stop, such as a garbage collection, is no overload. */
  #lastingDelay = 0;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #refused = 0;

  constructor(services: OverloadServices) {
    this.#services = services;
    // Each series begins at 0: an alert sees no increase in a series that begins with its first refusal.
    for (const work of shedWorkNames) services.metrics.shedRequests.inc({ work }, 0);
    this.#timer = every(services.clock, overloadWindowMilliseconds, () => this.#measure());
  }

  /** Whether some work is refused at present. */
  get isOverloaded(): boolean {
    return this.#isBeyond(overloadThresholds.streams);
  }

  /** Lets work begin, or counts it as refused. @throws OVERLOADED */
  admit(work: ShedWork): void {
    if (!this.#isBeyond(overloadThresholds[work])) return;
    const { metrics } = this.#services;
    metrics.shedRequests.inc({ work });
    this.#refused += 1;
    this.#report(work);
    const what = work === 'streams' ? 'opens no streams' : 'takes no events and commands';
    const detail = `This process is overloaded and ${what} at present. Nothing was done.`;
    throw new LendstreamError('OVERLOADED', detail, { details: { retryAfterSeconds: overloadRetrySeconds } });
  }

  close(): void {
    this.#timer.cancel();
    this.#services.delay.close();
  }

  #measure(): void {
    const { delay, metrics } = this.#services;
    const now = delay.read();
    this.#lastingDelay = Math.min(this.#lastDelay, now);
    this.#lastDelay = now;
    metrics.eventLoopDelay.set(this.#lastingDelay / 1_000);
  }

  #isBeyond({ delayMilliseconds, bodyBytes }: OverloadThresholds): boolean {
    return this.#lastingDelay >= delayMilliseconds || this.#services.bodies.bytes >= bodyBytes;
  }

  #report(work: ShedWork): void {
    const { clock, logger, bodies } = this.#services;
    const now = clock.monotonic();
    if (now < this.#quietUntil) return;
    const delayMilliseconds = Math.round(this.#lastingDelay);
    const facts = { work, refused: this.#refused, delayMilliseconds, bytes: bodies.bytes };
    logger.warn(facts, 'Refusing new work: the process is overloaded');
    this.#quietUntil = now + overloadWarningPauseMilliseconds;
    this.#refused = 0;
  }
}
