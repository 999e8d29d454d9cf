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
 * @param resume Called in a turn of its own.
 * @throws the error given to {@link failWaiting}, and the errors of `resume`
 */
export function waitForGrowth(
  partition: PartitionState,
  offset: Offset,
  options: ReadOptions,
  dueAt: number | undefined,
  milliseconds: number,
  resume: ReadOrWait,
): Promise<ReadResult> {
  return new Promise((resolve) => {
    new WaitingRead(partition, offset, options, dueAt, resume, resolve).begin(milliseconds);
  });
}

/** The longest time that a timer can be set to. Milliseconds. */
const timerMillisecondsMaximum = 2 ** 31 - 1;

/** Wakes every read that waits in the partition, because the partition has grown. */
export function wakeWaiting(partition: PartitionState): void {
  for (const waiter of partition.waiters) waiter.wake('grown');
}

/** Fails every read that waits in the partition with the error. */
export function failWaiting(partition: PartitionState, error: Error): void {
  for (const waiter of partition.waiters) waiter.fail(error);
}

const resolvedPromise = Promise.resolve();

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
  readonly #resume: ReadOrWait;
  readonly #resolve: (result: ReadResult | Promise<ReadResult>) => void;
  readonly #signalWaiters: Set<ReadWaiter> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    partition: PartitionState,
    offset: Offset,
    options: ReadOptions,
    dueAt: number | undefined,
    resume: ReadOrWait,
    resolve: (result: ReadResult | Promise<ReadResult>) => void,
  ) {
    this.#partition = partition;
    this.#offset = offset;
    this.#options = options;
    this.#dueAt = dueAt;
    this.#resume = resume;
    this.#resolve = resolve;
    this.#signalWaiters = options.signal === undefined ? undefined : waitersOf(options.signal);
  }

  begin(milliseconds: number): void {
    this.#partition.isFollowed = true;
    this.#partition.waiters.add(this);
    this.#signalWaiters?.add(this);
    if (milliseconds === Infinity) return;
    this.#timer = setTimeout(() => this.wake('timeout'), Math.min(milliseconds, timerMillisecondsMaximum));
  }

  wake(reason: WakeReason): void {
    this.#unregister();
    if (reason === 'grown') this.#resolve(resolvedPromise.then(() => this.#resumeRead()));
    else this.#resolve({ batches: [], nextOffset: this.#offset });
  }

  fail(failure: Error): void {
    this.#unregister();
    // Rejects through `resolve`: that saves keeping `reject` for a failure that hardly ever happens.
    this.#resolve(Promise.reject(failure));
  }

  #resumeRead(): Promise<ReadResult> {
    const resume = this.#resume;
    return resume(this.#partition, this.#offset, this.#options, this.#dueAt);
  }

  #unregister(): void {
    this.#partition.waiters.delete(this);
    this.#signalWaiters?.delete(this);
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
