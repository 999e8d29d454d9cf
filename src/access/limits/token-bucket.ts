/** Counts what happens against a rate. As much as one second allows may happen at once. */
export class TokenBucket {
  readonly #perSecond: number;
  #tokens: number;
  /** When the tokens were counted. Milliseconds. */
  #at: number;

  /** @param now Milliseconds of a monotonic clock, here and below. */
  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond;
    this.#at = now;
  }

  /** Takes one. @returns 0, or after how many milliseconds there is one to take */
  take(now: number): number {
    if (this.#perSecond === Infinity) return 0;
    this.#tokens = Math.min(this.#perSecond, this.#tokens + ((now - this.#at) / 1_000) * this.#perSecond);
    this.#at = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return ((1 - this.#tokens) / this.#perSecond) * 1_000;
  }
}
