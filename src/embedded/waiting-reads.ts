import type { PartitionState } from './partition-state.ts';

/** A read that waits for its partition to grow. Costs a set entry, and a timer only when its wait has an end. */
export interface ReadWaiter {
  readonly wake: (reason: WakeReason) => void;
  readonly fail: (error: Error) => void;
}

/** Why a wait ended: there may be something to read, the time was up, or the caller gave up. */
export type WakeReason = 'grown' | 'timeout' | 'aborted';

/**
 * Waits until the partition grows, the time is up or the signal aborts.
 * @param milliseconds Infinity waits without a timer.
 * @throws what {@link failWaiting} was given
 */
export function waitForGrowth(
  partition: PartitionState,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<WakeReason> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const sharers = signal === undefined ? undefined : waitersOf(signal);
    const forget = (): void => {
      partition.waiters.delete(waiter);
      sharers?.delete(waiter);
      clearTimeout(timer);
    };
    const waiter: ReadWaiter = {
      wake: (reason) => {
        forget();
        resolve(reason);
      },
      fail: (error) => {
        forget();
        reject(error);
      },
    };
    partition.waiters.add(waiter);
    sharers?.add(waiter);
    if (milliseconds !== Infinity) timer = setTimeout(waiter.wake, Math.min(milliseconds, timerMaximum), 'timeout');
  });
}

/** The longest time a timer can be set to. */
const timerMaximum = 2 ** 31 - 1;

export function wakeWaiting(partition: PartitionState): void {
  for (const waiter of partition.waiters) waiter.wake('grown');
}

export function failWaiting(partition: PartitionState, error: Error): void {
  for (const waiter of partition.waiters) waiter.fail(error);
}

/**
 * The waits that one signal can abort. A stream waits thousands of times with the same signal: it is listened to once,
 * and each wait costs a set entry.
 */
const waitersBySignal = new WeakMap<AbortSignal, Set<ReadWaiter>>();

function waitersOf(signal: AbortSignal): Set<ReadWaiter> {
  const known = waitersBySignal.get(signal);
  if (known !== undefined) return known;
  const waiters = new Set<ReadWaiter>();
  waitersBySignal.set(signal, waiters);
  signal.addEventListener(
    'abort',
    () => {
      for (const waiter of waiters) waiter.wake('aborted');
    },
    { once: true },
  );
  return waiters;
}
