/** Each failure in a row makes more requests skip the attempt, up to this many failures. */
const failuresMaximum = 6;

/** Decides which requests skip a short cut that has failed lately, so that they pay little where it is not for them. */
export class SkippedRequests {
  /** In a row. */
  #failures = 0;
  #toSkip = 0;

  /** Whether the request that is here now skips the attempt. Each question is about another request. */
  skipsNext(): boolean {
    if (this.#toSkip === 0) return false;
    this.#toSkip -= 1;
    return true;
  }

  attemptSucceeded(): void {
    this.#failures = 0;
  }

  attemptFailed(): void {
    this.#failures = Math.min(this.#failures + 1, failuresMaximum);
    this.#toSkip = 2 ** this.#failures - 2;
  }

  /** Skips as long as after many failures. */
  skipForLong(): void {
    this.#toSkip = 2 ** failuresMaximum;
  }
}
