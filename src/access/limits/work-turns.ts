import { giveWay, type Clock } from '../../clock.ts';

/** How long two principals count as active together after they took turns in sending requests. Milliseconds. */
export const contestMilliseconds = 1_000;

/**
 * Lets principals take turns with work that occupies the process: each does one piece of it in each turn of the event
 * loop, however many it has. As long as one principal alone sends requests, nothing waits.
 */
export class WorkTurns {
  readonly #clock: Clock;
  /** What waits, by whom it is for. The one whose last turn is the longest ago comes first. */
  readonly #waiting = new Map<object, (() => void)[]>();
  /** Those that had a piece of work in this turn of the event loop. */
  readonly #served = new Set<object>();
  #isRunning = false;
  #lastSender: object | undefined;
  #contestedUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a principal has sent a request. */
  noteRequest(sender: object): void {
    if (sender === this.#lastSender) return;
    if (this.#lastSender !== undefined) this.#contestedUntil = this.#clock.monotonic() + contestMilliseconds;
    this.#lastSender = sender;
  }

  /** Whether work of a principal waits for its turn. */
  isWaiting(owner: object): boolean {
    return this.#waiting.size > 0 && this.#waiting.has(owner);
  }

  /** Asks for a turn. @returns undefined when the work may begin at once; otherwise what resolves when it may */
  take(owner: object): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#clock.monotonic() >= this.#contestedUntil) return undefined;
    if (!this.#served.has(owner) && !this.#waiting.has(owner)) {
      this.#served.add(owner);
      this.#start();
      return undefined;
    }
    return this.#queue(owner);
  }

  /** Waits for another turn of the event loop, and for those of others that wait. */
  async giveWay(owner: object): Promise<void> {
    if (this.#waiting.size > 0 || this.#clock.monotonic() < this.#contestedUntil) await this.#queue(owner);
    else await giveWay();
  }

  #queue(owner: object): Promise<void> {
    return new Promise((resolve) => {
      const pieces = this.#waiting.get(owner);
      if (pieces === undefined) this.#waiting.set(owner, [resolve]);
      else pieces.push(resolve);
      this.#start();
    });
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    do {
      await giveWay();
      this.#served.clear();
      for (const [owner, pieces] of this.#waiting) {
        this.#served.add(owner);
        pieces.shift()?.();
        if (pieces.length === 0) this.#waiting.delete(owner);
      }
    } while (this.#waiting.size > 0 || this.#served.size > 0);
    this.#isRunning = false;
  }
}
