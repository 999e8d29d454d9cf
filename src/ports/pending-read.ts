import type { Clock, Timer } from '../clock.ts';
import type { Offset, ReadOptions, ReadResult } from './event-log.ts';
import type { ReadSignal } from './read-signal.ts';

/** Where a log keeps the reads that have no result yet. It learns what ends them besides new records. */
export interface PendingReadHolder {
  /** The read's time is up. It stays pending until the holder completes it. */
  readDue(read: PendingRead): void;
  /** The read's signal was aborted: it has ended with an empty result. */
  readAborted(read: PendingRead): void;
}

/**
 * One read that has no result yet. Every open stream has one for each of its partitions, nearly all the time. It is
 * therefore one object instead of a closure for each thing that can end it, and has a timer only when its time is
 * limited.
 */
export class PendingRead {
  readonly offset: Offset;
  readonly options: ReadOptions;
  /** When its time is or was up; Infinity for a read that waits without limit. Monotonic milliseconds. */
  readonly dueAt: number;
  /** Its time is up, or its signal was aborted before it began. */
  isDue: boolean;
  isEnded = false;
  readonly #holder: PendingReadHolder;
  readonly #resolve: (result: ReadResult | Promise<ReadResult>) => void;
  #timer: Timer | undefined;

  /**
   * @param dueAt When its time is up; a time that has passed makes the read due from the start. Monotonic milliseconds.
   * @param resolve Receives the outcome; a failure comes as a rejected promise.
   */
  constructor(
    clock: Clock,
    holder: PendingReadHolder,
    offset: Offset,
    options: ReadOptions,
    dueAt: number,
    resolve: (result: ReadResult | Promise<ReadResult>) => void,
  ) {
    const { signal } = options;
    this.offset = offset;
    this.options = options;
    this.dueAt = dueAt;
    this.#holder = holder;
    this.#resolve = resolve;
    this.isDue = !(dueAt > clock.monotonic()) || signal?.aborted === true;
    if (this.isDue) return;
    if (signal !== undefined) readsEndedBy(signal).add(this);
    if (dueAt !== Infinity) this.#timer = clock.at(dueAt, () => this.#timeUp());
  }

  /** Ends the read. Does nothing when it has ended. */
  complete(result: ReadResult | Promise<ReadResult>): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const { signal } = this.options;
    if (signal !== undefined) readsEndedBy(signal).delete(this);
    this.#timer?.cancel();
    this.#resolve(result);
  }

  completeEmpty(): void {
    this.complete({ batches: [], nextOffset: this.offset });
  }

  fail(failure: unknown): void {
    // Rejects through `resolve`, so that nothing has to be kept for a failure that hardly ever comes.
    if (!this.isEnded) this.complete(Promise.reject(failure));
  }

  abort(): void {
    this.completeEmpty();
    this.#holder.readAborted(this);
  }

  #timeUp(): void {
    this.isDue = true;
    this.#holder.readDue(this);
  }
}

/**
 * The reads that one signal can end. A stream reads thousands of times with the same signal: the signal has one
 * listener, and each read costs a set entry.
 */
const readsBySignal = new WeakMap<ReadSignal, Set<PendingRead>>();

function readsEndedBy(signal: ReadSignal): Set<PendingRead> {
  const known = readsBySignal.get(signal);
  if (known !== undefined) return known;
  const reads = new Set<PendingRead>();
  readsBySignal.set(signal, reads);
  signal.addEventListener(
    'abort',
    () => {
      for (const read of reads) read.abort();
    },
    { once: true },
  );
  return reads;
}
