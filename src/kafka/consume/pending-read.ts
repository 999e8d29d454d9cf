import type { Offset, ReadOptions, ReadResult, StopSignal } from '../../ports/event-log.ts';

/** Holds a pending read and learns when it is due or has left. */
export interface PendingReadHolder {
  readonly offset: Offset;
  /** The read's time is up. */
  readDue(read: PendingRead): void;
  /** The read has ended by itself. */
  readAborted(read: PendingRead): void;
}

/** The longest delay of a timer. Milliseconds. */
const timerMillisecondsMaximum = 2 ** 31 - 1;

/**
 * One read that has no result yet. Every open stream has one for each of its partitions, nearly all the time. It is
 * therefore one object instead of a closure for each thing that can end it, and has a timer only when its time is
 * limited.
 */
export class PendingRead {
  readonly bytesMaximum: number;
  /** When its time is or was up; Infinity for a read that waits without limit. Monotonic milliseconds. */
  readonly dueAt: number;
  /** Its time is up: the next response ends it, even when there is nothing to read. */
  isDue: boolean;
  isEnded = false;
  readonly #holder: PendingReadHolder;
  readonly #resolve: (result: ReadResult | Promise<never>) => void;
  readonly #readsOfSignal: Set<PendingRead> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    holder: PendingReadHolder,
    { bytesMaximum, waitMilliseconds, signal }: ReadOptions,
    now: number,
    resolve: (result: ReadResult | Promise<never>) => void,
  ) {
    this.#holder = holder;
    this.#resolve = resolve;
    this.bytesMaximum = bytesMaximum;
    this.dueAt = now + Math.max(0, waitMilliseconds);
    this.isDue = !(waitMilliseconds > 0) || signal?.aborted === true;
    if (this.isDue) return;
    if (signal !== undefined) this.#readsOfSignal = readsEndedBy(signal).add(this);
    if (waitMilliseconds === Infinity) return;
    this.#timer = setTimeout(
      () => {
        this.isDue = true;
        this.#holder.readDue(this);
      },
      Math.min(waitMilliseconds, timerMillisecondsMaximum),
    );
  }

  complete(result: ReadResult): void {
    if (this.isEnded) return;
    this.#end();
    this.#resolve(result);
  }

  completeEmpty(): void {
    this.complete({ batches: [], nextOffset: this.#holder.offset });
  }

  fail(failure: unknown): void {
    if (this.isEnded) return;
    this.#end();
    // Rejects through `resolve`, so that nothing has to be kept for a failure that hardly ever comes.
    this.#resolve(Promise.reject(failure));
  }

  abort(): void {
    this.completeEmpty();
    this.#holder.readAborted(this);
  }

  #end(): void {
    this.isEnded = true;
    this.#readsOfSignal?.delete(this);
    clearTimeout(this.#timer);
  }
}

/**
 * The reads that one signal can end. A stream reads thousands of times with the same signal: the signal has one
 * listener, and each read costs a set entry.
 */
const readsBySignal = new WeakMap<StopSignal, Set<PendingRead>>();

function readsEndedBy(signal: StopSignal): Set<PendingRead> {
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
