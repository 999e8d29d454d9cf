import type { StopSignal } from '../broker/event-log.ts';
import type { PartitionState } from './partition-state.ts';

/** A read that waits for its partition to grow. */
export interface ReadWaiter {
  wake(reason: WakeReason): void;
  fail(failure: Error): void;
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
  signal: StopSignal | undefined,
): Promise<WakeReason> {
  return new Promise((resolve) => new GrowthWaiter(partition, signal, resolve).begin(milliseconds));
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
 * One wait. Every open stream holds one for each of its partitions, nearly all the time, so it is one object instead of
 * a closure for each thing that can end it (a fifth of the memory), and has a timer only when its time has an end.
 */
class GrowthWaiter implements ReadWaiter {
  readonly #partition: PartitionState;
  readonly #sharers: Set<ReadWaiter> | undefined;
  readonly #resolve: (reason: WakeReason | Promise<never>) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    partition: PartitionState,
    signal: StopSignal | undefined,
    resolve: (reason: WakeReason | Promise<never>) => void,
  ) {
    this.#partition = partition;
    this.#sharers = signal === undefined ? undefined : waitersOf(signal);
    this.#resolve = resolve;
  }

  begin(milliseconds: number): void {
    this.#partition.isFollowed = true;
    this.#partition.waiters.add(this);
    this.#sharers?.add(this);
    if (milliseconds === Infinity) return;
    this.#timer = setTimeout(() => this.wake('timeout'), Math.min(milliseconds, timerMaximum));
  }

  wake(reason: WakeReason): void {
    this.#forget();
    this.#resolve(reason);
  }

  fail(failure: Error): void {
    this.#forget();
    // Rejects through `resolve`: nothing has to be held for the failure that hardly ever comes.
    this.#resolve(Promise.reject(failure));
  }

  #forget(): void {
    this.#partition.waiters.delete(this);
    this.#sharers?.delete(this);
    clearTimeout(this.#timer);
  }
}

/**
 * The waits that one signal can abort. A stream waits thousands of times with the same signal: it is listened to once,
 * and each wait costs a set entry.
 */
const waitersBySignal = new WeakMap<StopSignal, Set<ReadWaiter>>();

function waitersOf(signal: StopSignal): Set<ReadWaiter> {
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
