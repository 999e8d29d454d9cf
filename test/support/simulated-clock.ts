import type { Clock, Timer } from '../../src/clock.ts';

interface PendingTimer {
  readonly deadline: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until a test turns it. Timers fire in the order of their deadlines; between two of them
 * everything that the first one began has its turn, as far as it waits for nothing but promises.
 */
export class SimulatedClock implements Clock {
  readonly #epoch: number;
  #monotonic = 0;
  #timers: PendingTimer[] = [];
  #timerCount = 0;

  /** @param epoch the wall-clock time at the beginning. Milliseconds since the epoch. */
  constructor(epoch = Date.UTC(2026, 0, 1)) {
    this.#epoch = epoch;
  }

  now(): number {
    return this.#epoch + Math.floor(this.#monotonic);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true || milliseconds <= 0) {
        resolve();
        return;
      }
      const end = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.at(this.#monotonic + milliseconds, end);
      signal?.addEventListener('abort', end, { once: true });
    });
  }

  at(deadline: number, callback: () => void): Timer {
    const timer: PendingTimer = { deadline, order: this.#timerCount, callback };
    this.#timerCount += 1;
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  /** The deadline of the timer that fires next, in {@link monotonic} time; infinite when there is none. */
  nextDeadline(): number {
    return this.#next()?.deadline ?? Infinity;
  }

  /** Lets `milliseconds` pass, and fires what falls due in them. */
  async turn(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds;
    await settled();
    for (let timer = this.#next(); timer !== undefined && timer.deadline <= end; timer = this.#next()) {
      this.#monotonic = Math.max(this.#monotonic, timer.deadline);
      this.#timers = this.#timers.filter((other) => other !== timer);
      timer.callback();
      await settled();
    }
    this.#monotonic = end;
  }

  /**
   * Lets `milliseconds` pass while the process stands still: no timer fires. Those that fell due meanwhile fire, in
   * order, when the clock is turned again.
   */
  jump(milliseconds: number): void {
    this.#monotonic += milliseconds;
  }

  /** Turns the clock from timer to timer until the condition holds, for at most `milliseconds`. */
  async turnUntil(condition: () => boolean, milliseconds = 600_000): Promise<void> {
    const end = this.#monotonic + milliseconds;
    await settled();
    while (!condition()) {
      const deadline = this.nextDeadline();
      if (deadline > end) throw new Error(`Not true within ${milliseconds} simulated milliseconds.`);
      await this.turn(Math.max(0, deadline - this.#monotonic));
    }
  }

  #next(): PendingTimer | undefined {
    let next: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.deadline < next.deadline) next = timer;
    }
    return next;
  }
}

/** Every promise that waits for nothing outside of this thread is settled. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
