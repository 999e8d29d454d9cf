import type { Offset, ReadOptions, ReadResult, StopSignal } from '../ports/event-log.ts';
import type { PartitionState, ReadWaiter, WakeReason } from './partition-state.ts';

/**
 * Reads from a position, or waits there.
 * @param dueAt When the wait ends; undefined for a read that waits without limit. Monotonic milliseconds.
 */
export type ReadOrWait = (
  partition: PartitionState,
  offset: Offset,
  options: ReadOptions,
  dueAt: number | undefined,
) => Promise<ReadResult>;

/**
 * Waits until the partition grows, then continues the read. Returns an empty result when the time is up or the signal
 * aborts.
 * @param dueAt See {@link ReadOrWait}.
 * @param milliseconds The time until `dueAt`; Infinity waits without a timer.
 * @param goOn Called in a turn of its own.
 * @throws the error given to {@link failWaiting}, and the errors of `goOn`
 */
export function waitForGrowth(
  partition: PartitionState,
  offset: Offset,
  options: ReadOptions,
  dueAt: number | undefined,
  milliseconds: number,
  goOn: ReadOrWait,
): Promise<ReadResult> {
  return new Promise((resolve) => {
    new WaitingRead(partition, offset, options, dueAt, goOn, resolve).begin(milliseconds);
  });
}

/** The longest time that a timer can be set to. Milliseconds. */
const timerMaximum = 2 ** 31 - 1;

/** Wakes every read that waits in the partition, because the partition has grown. */
export function wakeWaiting(partition: PartitionState): void {
  for (const waiter of partition.waiters) waiter.wake('grown');
}

/** Fails every read that waits in the partition with the error. */
export function failWaiting(partition: PartitionState, error: Error): void {
  for (const waiter of partition.waiters) waiter.fail(error);
}

const settled = Promise.resolve();

/**
 * One waiting read. Every open stream has one for each of its partitions, nearly all the time. So it is one object
 * instead of a closure and a promise for each event that can end it (half of the memory), and it has a timer only when
 * its time is limited.
 */
class WaitingRead implements ReadWaiter {
  readonly #partition: PartitionState;
  readonly #offset: Offset;
  readonly #options: ReadOptions;
  readonly #dueAt: number | undefined;
  readonly #goOn: ReadOrWait;
  readonly #resolve: (result: ReadResult | Promise<ReadResult>) => void;
  readonly #sharers: Set<ReadWaiter> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    partition: PartitionState,
    offset: Offset,
    options: ReadOptions,
    dueAt: number | undefined,
    goOn: ReadOrWait,
    resolve: (result: ReadResult | Promise<ReadResult>) => void,
  ) {
    this.#partition = partition;
    this.#offset = offset;
    this.#options = options;
    this.#dueAt = dueAt;
    this.#goOn = goOn;
    this.#resolve = resolve;
    this.#sharers = options.signal === undefined ? undefined : waitersOf(options.signal);
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
    if (reason === 'grown') this.#resolve(settled.then(() => this.#goOnReading()));
    else this.#resolve({ batches: [], nextOffset: this.#offset });
  }

  fail(failure: Error): void {
    this.#forget();
    // Rejects through `resolve`: that saves keeping `reject` for a failure that hardly ever happens.
    this.#resolve(Promise.reject(failure));
  }

  #goOnReading(): Promise<ReadResult> {
    const goOn = this.#goOn;
    return goOn(this.#partition, this.#offset, this.#options, this.#dueAt);
  }

  #forget(): void {
    this.#partition.waiters.delete(this);
    this.#sharers?.delete(this);
    clearTimeout(this.#timer);
  }
}

/**
 * The waits that one signal can abort. A stream waits thousands of times with the same signal. So the signal has one
 * listener, and each wait costs one set entry.
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
