import type { Clock } from '../../clock.ts';
import { type LendstreamError, isLendstreamError } from '../../errors.ts';

/** Pauses between attempts, each longer than the one before, until a deadline. */
export class Retry {
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #pauseMillisecondsMaximum: number;
  #pauseMilliseconds: number;

  /** @param options.forMilliseconds No attempt begins after this time. */
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
    this.#pauseMilliseconds = options.firstPauseMilliseconds;
    this.#pauseMillisecondsMaximum = options.pauseMillisecondsMaximum;
  }

  /**
   * Waits until the next attempt is due.
   * @throws `failure` when there is no time for another one
   */
  async after(failure: Error): Promise<void> {
    const pauseMilliseconds = this.#pauseMilliseconds;
    if (this.#clock.monotonic() + pauseMilliseconds > this.#deadline) throw failure;
    this.#pauseMilliseconds = Math.min(growth * pauseMilliseconds, this.#pauseMillisecondsMaximum);
    await this.#clock.sleep(pauseMilliseconds);
  }
}

const growth = 1.5;

/** Returns the result, or the error when it may pass: LOG_UNAVAILABLE, OUTCOME_UNKNOWN. Throws any other error. */
export async function orTransientError<Result>(result: Promise<Result>): Promise<Result | LendstreamError> {
  try {
    return await result;
  } catch (error) {
    if (isLendstreamError(error, 'LOG_UNAVAILABLE') || isLendstreamError(error, 'OUTCOME_UNKNOWN')) return error;
    throw error;
  }
}
