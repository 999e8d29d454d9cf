import type { Clock } from '../../clock.ts';
import { type LendstreamError, isLendstreamError } from '../../errors.ts';

/** Pauses between attempts, each longer than the one before, until a deadline. */
export class Retry {
  readonly #clock: Clock;
  readonly #deadline: number;
  readonly #pauseMillisecondsMaximum: number;
  #pause: number;

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

/** Returns the result, or the error when it may pass: LOG_UNAVAILABLE, OUTCOME_UNKNOWN. Throws any other error. */
export async function passing<Answer>(answer: Promise<Answer>): Promise<Answer | LendstreamError> {
  try {
    return await answer;
  } catch (error) {
    if (isLendstreamError(error, 'LOG_UNAVAILABLE') || isLendstreamError(error, 'OUTCOME_UNKNOWN')) return error;
    throw error;
  }
}
