import type { Clock } from '../clock.ts';
import { TurnQueue } from '../turn-queue.ts';

/** How long deciding may block the rest of the process, all partitions together. Milliseconds. */
export const decidingSliceMilliseconds = 10;

/**
 * Shares the process between deciding and everything else. Partitions decide in one thread: if each had a slice of its
 * own, requests would wait for the slices of all of them. So no more than one slice passes in a turn of the event loop,
 * whichever partitions use it.
 */
export class DecidingTurns {
  readonly #clock: Clock;
  /** When the current slice ends, in monotonic milliseconds. */
  #sliceEnd = -Infinity;
  readonly #queue = new TurnQueue();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A partition begins to decide. It waits only if others wait. */
  async begin(): Promise<void> {
    if (this.#clock.monotonic() < this.#sliceEnd) return;
    if (!this.#queue.isEmpty) await this.#nextTurn();
    else this.#startSlice();
  }

  /** Returns at once while the slice lasts, and after that in a later turn of the event loop, with a new slice. */
  async giveWayInTime(): Promise<void> {
    if (this.#clock.monotonic() >= this.#sliceEnd) await this.#nextTurn();
  }

  async #nextTurn(): Promise<void> {
    await this.#queue.wait();
    this.#startSlice();
  }

  #startSlice(): void {
    this.#sliceEnd = this.#clock.monotonic() + decidingSliceMilliseconds;
  }
}
