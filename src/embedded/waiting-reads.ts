import type { Clock } from '../clock.ts';
import type { Offset, ReadOptions, ReadResult } from '../ports/event-log.ts';
import { PendingRead, type PendingReadHolder } from '../ports/pending-read.ts';

/** The reads that wait for their partition to grow. */
export class WaitingReads implements PendingReadHolder {
  /** True once a read has waited here: the partition has a consumer that follows it. */
  isFollowed = false;
  readonly #reads = new Set<PendingRead>();

  get size(): number {
    return this.#reads.size;
  }

  /**
   * Waits until the partition grows. Returns an empty result when the time is up or the signal aborts.
   * @param dueAt When the wait ends; Infinity waits without limit. Monotonic milliseconds.
   * @throws the error given to {@link fail}, and the errors of the `resume` given to {@link wake}
   */
  add(clock: Clock, offset: Offset, options: ReadOptions, dueAt: number): Promise<ReadResult> {
    this.isFollowed = true;
    return new Promise((resolve) => {
      const read = new PendingRead(clock, this, offset, options, dueAt, resolve);
      if (read.isDue) read.completeEmpty();
      else this.#reads.add(read);
    });
  }

  /**
   * Ends every wait, because the partition has grown.
   * @param resume Continues a read. Called for each in a turn of its own.
   */
  wake(resume: (read: PendingRead) => Promise<ReadResult>): void {
    for (const read of this.#reads) {
      this.#reads.delete(read);
      read.complete(resolvedPromise.then(() => resume(read)));
    }
  }

  /** Fails every read with the error. */
  fail(error: Error): void {
    for (const read of this.#reads) {
      this.#reads.delete(read);
      read.fail(error);
    }
  }

  readDue(read: PendingRead): void {
    this.#reads.delete(read);
    read.completeEmpty();
  }

  readAborted(read: PendingRead): void {
    this.#reads.delete(read);
  }
}

const resolvedPromise = Promise.resolve();
