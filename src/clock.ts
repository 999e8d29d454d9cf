import { setImmediate as nextTurn, setTimeout as sleepInRealTime } from 'node:timers/promises';

/**
 * Time and chance. Everything else gets them from here, so that a test can turn the clock by hand and repeat a draw.
 * Code that makes decisions takes `now` as an argument; whatever waits, holds a {@link Clock}.
 */
export interface Clock {
  /** Wall-clock time. Milliseconds since the epoch, UTC. */
  now(): number;
  /** Monotonic time for measuring durations and deadlines. Milliseconds, no defined zero. */
  monotonic(): number;
  /** Resolves after `milliseconds`, or as soon as `signal` is aborted. It never rejects. It keeps the process alive. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `callback` once, as soon as {@link monotonic} has reached `deadline`; never before this call has returned.
   * It does not keep the process alive.
   * @param lateMilliseconds How much later it may be, so that the process wakes once for many callbacks. Default 0.
   */
  at(deadline: number, callback: () => void, lateMilliseconds?: number): Timer;
}

/** What a clock will do later. Cancelling it twice, or after it was done, does nothing. */
export interface Timer {
  cancel(): void;
}

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

export const systemRandom: Random = Math.random;

/** Node fires a longer timer at once. Milliseconds. */
const timerMillisecondsMaximum = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(milliseconds, signal) {
    const deadline = performance.now() + milliseconds;
    let left = milliseconds;
    while (left > 0) {
      if (signal?.aborted === true) return;
      const wait = Math.min(left, timerMillisecondsMaximum);
      // Only the signal rejects it, and the loop asks the signal itself.
      await sleepInRealTime(wait, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
      left = deadline - performance.now();
    }
  },
  at(deadline, callback, lateMilliseconds = 0) {
    return lateMilliseconds < 2
      ? new SystemTimer(deadline, callback)
      : sharedTimer(deadline, callback, lateMilliseconds);
  },
};

class SystemTimer implements Timer {
  readonly #deadline: number;
  readonly #callback: () => void;
  #timeout: NodeJS.Timeout;

  constructor(deadline: number, callback: () => void) {
    this.#deadline = deadline;
    this.#callback = callback;
    this.#timeout = this.#start();
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  #start(): NodeJS.Timeout {
    // Node counts whole milliseconds and may fire up to one too early.
    const left = Math.min(Math.max(0, Math.ceil(this.#deadline - performance.now())), timerMillisecondsMaximum);
    return setTimeout(() => {
      if (performance.now() < this.#deadline) this.#timeout = this.#start();
      else this.#callback();
    }, left).unref();
  }
}

/** Callbacks that one timer calls, by when it does. */
const sharedTimers = new Map<number, { readonly callbacks: Set<() => void>; readonly timer: Timer }>();

/**
 * A timer that others share whose times are rounded to the same one: multiples of the largest power of two that is no
 * more than `lateMilliseconds`. Waking the process costs more than most callbacks, and the second of two alike finds
 * its code and memory in the caches of the processor.
 */
function sharedTimer(deadline: number, callback: () => void, lateMilliseconds: number): Timer {
  const step = 2 ** Math.floor(Math.log2(lateMilliseconds));
  const at = Math.ceil(deadline / step) * step;
  let shared = sharedTimers.get(at);
  if (shared === undefined) {
    const callbacks = new Set<() => void>();
    const callAll = (): void => {
      sharedTimers.delete(at);
      for (const each of callbacks) each();
    };
    sharedTimers.set(at, (shared = { callbacks, timer: new SystemTimer(at, callAll) }));
  }
  const { callbacks, timer } = shared;
  // A function of its own: the same callback may be added twice.
  const call = (): void => callback();
  callbacks.add(call);
  return {
    cancel() {
      if (!callbacks.delete(call) || callbacks.size > 0) return;
      timer.cancel();
      if (sharedTimers.get(at)?.callbacks === callbacks) sharedTimers.delete(at);
    },
  };
}

/** Calls `callback` once, `milliseconds` from now. */
export function after(clock: Clock, milliseconds: number, callback: () => void): Timer {
  return clock.at(clock.monotonic() + milliseconds, callback);
}

/** Calls `callback` again and again, `milliseconds` after the call before, until it is cancelled. */
export function every(clock: Clock, milliseconds: number, callback: () => void): Timer {
  let isCancelled = false;
  let timer = after(clock, milliseconds, repeat);
  function repeat(): void {
    timer = after(clock, milliseconds, repeat);
    callback();
    // The callback may have cancelled the repetition.
    if (isCancelled) timer.cancel();
  }
  return {
    cancel: () => {
      isCancelled = true;
      timer.cancel();
    },
  };
}

/**
 * What `promise` resolves to, or what `onLate` returns or throws when `milliseconds` have passed first. The promise
 * itself is not stopped; a later rejection of it is ignored.
 */
export async function withTimeout<Result, Late>(
  clock: Clock,
  promise: Promise<Result>,
  milliseconds: number,
  onLate: () => Late,
): Promise<Result | Late> {
  let timer: Timer | undefined;
  const late = new Promise<Late>((resolve, reject) => {
    timer = after(clock, milliseconds, () => {
      try {
        resolve(onLate());
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer?.cancel();
  }
}

/** Lets everything else that is due in this process happen first: long work calls it between its parts. */
export async function giveWay(): Promise<void> {
  await nextTurn();
}

/** A wall-clock instant as RFC 3339 in UTC with milliseconds. Every timestamp of this product has this form. */
export function toTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** How many digits of a second a time may have: nanoseconds, as Java has them. */
export const fractionDigitsMaximum = 9;

/** It has the days of each month, 29 February of every year, and zones up to 18 hours away. */
const dateTimeForm =
  /^\d{4}-(?:(?:0[13-9]|1[0-2])-(?:0[1-9]|[12]\d|30)|(?:0[13578]|1[02])-31|02-(?:0[1-9]|[12]\d))[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:(?:0\d|1[0-7]):[0-5]\d|18:00))$/;

/** Whether a text is a date and time with a zone: those of RFC 3339 that Java can read, so no leap second either. */
export function isDateTime(text: string): boolean {
  if (!dateTimeForm.test(text)) return false;
  return !text.startsWith('02-29', 5) || isLeapYear(Number(text.slice(0, 4)));
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** A moment as clients write it, in milliseconds since the epoch; undefined for any other text. */
export function readMoment(text: string): number | undefined {
  return isDateTime(text) ? Date.parse(text) : undefined;
}
