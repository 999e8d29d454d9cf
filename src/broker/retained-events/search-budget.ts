import type { Clock } from '../../clock.ts';

/** The most records that one page searches. */
export const searchedEventsMaximum = 1_000_000;

/** The most that one page searches. Bytes, exceeded by less than what is read at once. */
export const searchedBytesMaximum = 512 * 1024 * 1024;

/** How long one page searches. Milliseconds. */
export const searchMillisecondsMaximum = 2_000;

/** The bounds of one page's search; changed by tests alone. */
export interface SearchBounds {
  readonly events: number;
  readonly bytes: number;
  readonly milliseconds: number;
}

export const searchBounds: SearchBounds = {
  events: searchedEventsMaximum,
  bytes: searchedBytesMaximum,
  milliseconds: searchMillisecondsMaximum,
};

/** What one page may still search, so that no request takes a process for long. */
export class SearchBudget {
  readonly #clock: Clock;
  readonly #bounds: SearchBounds;
  readonly #endsAt: number;
  #events = 0;
  #bytes = 0;

  constructor(clock: Clock, bounds: SearchBounds) {
    this.#clock = clock;
    this.#bounds = bounds;
    this.#endsAt = clock.monotonic() + bounds.milliseconds;
  }

  get isSpent(): boolean {
    const { events, bytes } = this.#bounds;
    return this.#events >= events || this.#bytes >= bytes || this.#clock.monotonic() >= this.#endsAt;
  }

  spend(events: number, bytes: number): void {
    this.#events += events;
    this.#bytes += bytes;
  }
}
