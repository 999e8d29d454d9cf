import { BoundedMap } from '../../bounded-map.ts';
import { after, type Clock } from '../../clock.ts';
import { networkOf } from './address-network.ts';
import { addressesMaximum } from './failed-logins.ts';

/** So many refusals of one sender are answered at once in a second. Further ones are held back. */
export const refusalsPerSecond = 100;

/** The longest time by which a refusal is held back. Milliseconds. */
export const holdingMillisecondsMaximum = 2_000;

/** The most refusals that are held back at the same time. More are answered at once, and their connections closed. */
export const heldRefusalsMaximum = 1_000;

/** How fast the refusals of one sender are answered. */
export class RefusalPace {
  /** When the refusals so far are answered, if each takes its part of a second. Milliseconds. */
  #answeredAt = Number.NEGATIVE_INFINITY;

  /**
   * Counts a refusal.
   * @param now Milliseconds of a monotonic clock.
   * @param weight How many refusals it counts for, at least 1.
   * @returns After how many milliseconds it is answered. One beyond {@link holdingMillisecondsMaximum} is not counted.
   */
  count(now: number, weight: number): number {
    const at = Math.max(this.#answeredAt, now - 1_000) + (weight * 1_000) / refusalsPerSecond;
    const delay = Math.max(0, at - now);
    if (delay <= holdingMillisecondsMaximum) this.#answeredAt = at;
    return delay;
  }
}

/**
 * Holds refusals of senders back that go on although they were refused. A refusal costs almost as much as a small
 * request: without this, one client could take a whole processor by asking for nothing but refusals.
 */
export class HeldRefusals {
  readonly #clock: Clock;
  readonly #byNetwork = new BoundedMap<string, RefusalPace>(addressesMaximum);
  #held = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The pace of an address whose sender is not known. An IPv6 address counts as its /64. */
  paceOf(address: string): RefusalPace {
    const network = networkOf(address);
    const known = this.#byNetwork.get(network);
    const pace = known ?? new RefusalPace();
    if (known === undefined) this.#byNetwork.set(network, pace);
    return pace;
  }

  /**
   * Counts a refusal.
   * @param weight How many refusals it counts for: one whose body has to be discarded costs more.
   * @returns undefined when it may be answered at once; otherwise what resolves when it may be, with whether the
   *   connection is to be closed with the response.
   */
  hold(pace: RefusalPace, weight: number): Promise<boolean> | undefined {
    const delay = pace.count(this.#clock.monotonic(), weight);
    return delay === 0 ? undefined : this.#wait(delay);
  }

  async #wait(milliseconds: number): Promise<boolean> {
    if (this.#held >= heldRefusalsMaximum) return true;
    this.#held += 1;
    const delay = Math.min(milliseconds, holdingMillisecondsMaximum);
    await new Promise<void>((resolve) => after(this.#clock, delay, resolve));
    this.#held -= 1;
    return milliseconds > holdingMillisecondsMaximum;
  }
}
