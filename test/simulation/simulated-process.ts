import type { Clock, Timer } from '../../src/clock.ts';
import { sleepOn, type SimulatedClock } from '../support/simulated-clock.ts';

/** The lease of a node, as in production. Milliseconds. */
export const leaseMilliseconds = 10_000;

/** How the clock of a process differs from the simulated time. */
export interface ClockDeviation {
  /** Of its wall clock. Milliseconds. */
  readonly wallMilliseconds: number;
  /** The start of its monotonic clock. Milliseconds. */
  readonly monotonicBase: number;
  /** How fast its monotonic clock is: seconds per second. */
  readonly rate: number;
}

/**
 * A process of the simulation. Everything in it begins with {@link receive}: a message that arrives or a timer that
 * fires. While the process is paused, all of that waits; when it is dead, all of that is lost.
 */
export class SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  /** The number of events in it so far. */
  receivedCount = 0;
  readonly #time: SimulatedClock;
  #state: 'running' | 'paused' | 'dead' = 'running';
  #waiting: (() => void)[] = [];
  readonly #deathListeners = new Set<() => void>();

  constructor(name: string, time: SimulatedClock, deviation: ClockDeviation) {
    this.name = name;
    this.#time = time;
    this.clock = new ProcessClock(time, deviation, (work) => this.receive(work));
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isPaused(): boolean {
    return this.#state === 'paused';
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  receive(work: () => void): void {
    if (this.#state === 'running') {
      this.receivedCount += 1;
      work();
    } else if (this.#state === 'paused') {
      this.#waiting.push(work);
    }
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const work of waiting) this.#time.at(this.#time.monotonic(), () => this.receive(work));
  }

  die(): void {
    if (this.#state === 'dead') return;
    this.#state = 'dead';
    this.#waiting = [];
    for (const listener of this.#deathListeners) listener();
    this.#deathListeners.clear();
  }

  /** Calls back when the process dies, unless the returned function is called before. */
  whenDead(listener: () => void): () => void {
    this.#deathListeners.add(listener);
    return () => this.#deathListeners.delete(listener);
  }
}

class ProcessClock implements Clock {
  readonly #time: SimulatedClock;
  readonly #deviation: ClockDeviation;
  readonly #receive: (work: () => void) => void;
  /** The latest deadline that was reached: rounding must not set the clock before it. */
  #reached = Number.NEGATIVE_INFINITY;

  constructor(time: SimulatedClock, deviation: ClockDeviation, receive: (work: () => void) => void) {
    this.#time = time;
    this.#deviation = deviation;
    this.#receive = receive;
  }

  now(): number {
    return this.#time.now() + this.#deviation.wallMilliseconds;
  }

  monotonic(): number {
    const { monotonicBase, rate } = this.#deviation;
    return Math.max(this.#reached, monotonicBase + this.#time.monotonic() * rate);
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, milliseconds, signal);
  }

  at(deadline: number, callback: () => void): Timer {
    const { monotonicBase, rate } = this.#deviation;
    const due = Math.max(this.#time.monotonic(), (deadline - monotonicBase) / rate);
    if (due === Infinity) return { cancel: () => {} };
    let isCancelled = false;
    const fire = (): void => {
      if (isCancelled) return;
      isCancelled = true;
      this.#reached = Math.max(this.#reached, deadline);
      callback();
    };
    const timer = this.#time.at(due, () => this.#receive(fire));
    return {
      cancel: () => {
        isCancelled = true;
        timer.cancel();
      },
    };
  }
}
