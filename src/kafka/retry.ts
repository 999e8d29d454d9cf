import type { Clock } from '../clock.ts';

/** Pauses between attempts, each longer than the one before, until a deadline. */
export class Retry {
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #pauseMillisecondsMaximum: number;
  #pause: number;

  /** @param options.forMilliseconds After this time no further attempt is begun. */
  constructor(
    clock: Clock,
    options: {
      readonly forMilliseconds: number;
      readonly firstPauseMilliseconds: number;
      readonly pauseMillisecondsMaximum: number;
    },
  ) {
    this.#clock = clock;
    this.#deadline = clock.monotonic() + options.forMilliseconds;
    this.#pause = options.firstPauseMilliseconds;
    this.#pauseMillisecondsMaximum = options.pauseMillisecondsMaximum;
  }

  /**
   * Waits until the next attempt is due.
   * @throws `failure` when there is no time for another one
   */
  async after(failure: Error): Promise<void> {
    const pause = this.#pause;
    if (this.#clock.monotonic() + pause > this.#deadline) throw failure;
    this.#pause = Math.min(growth * pause, this.#pauseMillisecondsMaximum);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

const growth = 1.5;
