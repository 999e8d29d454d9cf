import type { Clock, Timer } from '../../src/clock.ts';

interface PendingTimer {
  readonly deadline: number;
  readonly order: number;
  readonly callback: () => void;
  isCancelled: boolean;
}

/**
 * A clock that stands still until a test turns it. Timers fire in the order of their deadlines. Between two timers,
 * everything that the first one started runs, as long as it waits only for promises.
 */
export class SimulatedClock implements Clock {
  readonly #epoch: number;
  #monotonic = 0;
  readonly #timers: PendingTimer[] = [];
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
    return sleepOn(this, milliseconds, signal);
  }

  at(deadline: number, callback: () => void): Timer {
    const timer: PendingTimer = { deadline, order: this.#timerCount, callback, isCancelled: false };
    this.#timerCount += 1;
    push(this.#timers, timer);
    return {
      cancel: () => {
        timer.isCancelled = true;
      },
    };
  }

  /** The deadline of the timer that fires next, in {@link monotonic} time; infinite when there is none. */
  nextDeadline(): number {
    return this.#next()?.deadline ?? Infinity;
  }

  /** Whether a timer is due at this time, in {@link monotonic} time. */
  hasDeadline(deadline: number): boolean {
    return this.#timers.some((timer) => timer.deadline === deadline && !timer.isCancelled);
  }

  /**
   * Fires the next timer, and runs everything that it starts.
   * @param end The latest deadline, in {@link monotonic} time.
   * @returns whether there was such a timer
   */
  async step(end = Infinity): Promise<boolean> {
    const timer = this.#next();
    if (timer === undefined || timer.deadline > end) return false;
    pop(this.#timers);
    this.#monotonic = Math.max(this.#monotonic, timer.deadline);
    timer.callback();
    await settled();
    return true;
  }

  /** Lets `milliseconds` pass, and fires the timers that are due in them. */
  async turn(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds;
    await settled();
    while (await this.step(end));
    this.#monotonic = end;
  }

  /**
   * Lets `milliseconds` pass while the process is suspended: no timer fires. Those that fell due fire in order when the
   * clock is turned again.
   */
  jump(milliseconds: number): void {
    this.#monotonic += milliseconds;
  }

  /** Turns the clock from timer to timer until the condition is true, for at most `milliseconds`. */
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
    while (this.#timers[0]?.isCancelled === true) pop(this.#timers);
    return this.#timers[0];
  }
}

/** {@link Clock.sleep} for a clock that has {@link Clock.at}. */
export function sleepOn(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
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
    const timer = clock.at(clock.monotonic() + milliseconds, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Settles every promise that waits for nothing outside of this thread. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

// The timers are a binary heap: the children of the timer at `index` are at `2 * index + 1` and `2 * index + 2`.

function isBefore(left: PendingTimer, right: PendingTimer): boolean {
  return left.deadline < right.deadline || (left.deadline === right.deadline && left.order < right.order);
}

function push(heap: PendingTimer[], timer: PendingTimer): void {
  let index = heap.length;
  heap.push(timer);
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || isBefore(parent, timer)) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = timer;
}

function pop(heap: PendingTimer[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let childIndex = 2 * index + 1;
    let child = heap[childIndex];
    const right = heap[childIndex + 1];
    if (child !== undefined && right !== undefined && isBefore(right, child)) {
      child = right;
      childIndex += 1;
    }
    if (child === undefined || isBefore(last, child)) break;
    heap[index] = child;
    index = childIndex;
  }
  heap[index] = last;
}
