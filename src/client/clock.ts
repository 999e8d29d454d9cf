/** The timers, the time and the random numbers of the client and the admin page, which take them nowhere else. */

/** Monotonic time, for durations. Milliseconds, no defined zero. */
export function monotonic(): number {
  return performance.now();
}

/** The time of day. Milliseconds since the epoch. */
export function now(): number {
  return Date.now();
}

/** The time of day as events state it: `2026-01-31T12:00:00.000Z`. */
export function timestamp(): string {
  return new Date().toISOString();
}

/** A number from 0 (included) to 1 (excluded). */
export function random(): number {
  return Math.random();
}

/** A timer holds no longer. Milliseconds. */
const timerMillisecondsMaximum = 2 ** 31 - 1;

/** Resolves after `milliseconds`, or as soon as `signal` aborts. It never rejects. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(milliseconds, timerMillisecondsMaximum));
    signal?.addEventListener('abort', end);
  });
}

/** Calls `callback` once, after `milliseconds`. @returns what cancels it */
export function after(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, Math.min(milliseconds, timerMillisecondsMaximum));
  return () => clearTimeout(timer);
}

/** Calls `callback` each `milliseconds`. @returns what ends it */
export function every(milliseconds: number, callback: () => void): () => void {
  const timer = setInterval(callback, Math.min(milliseconds, timerMillisecondsMaximum));
  return () => clearInterval(timer);
}

/** A new event id: a random UUID. Unlike `crypto.randomUUID`, it is there on pages that came over plain HTTP. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
