import { type Clock, type Timer, after } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { PartitionReads } from './reads-by-position.ts';

/** How long to wait before a partition that could not be read is tried again. Milliseconds. */
const retryMilliseconds = 25;

/** A lasting failure is retried less often: the pause is this part of its duration, up to the longest pause. */
const pauseFraction = 0.1;
const pauseMillisecondsMaximum = 250;

/** How long a failure lasts before it is logged: leaders move without harm. Milliseconds. */
const logAfterMilliseconds = 1_000;

/** The partitions that cannot be read at the moment. Each is retried until it responds or no read is pending. */
export class PartitionBackoffs {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #retry: (reads: PartitionReads) => void;
  readonly #partitions = new Set<PartitionReads>();
  #timer: Timer | undefined;
  #isLogged = false;

  /** @param retry Called repeatedly for each failing partition that has no attempt under way. */
  constructor(logger: Logger, clock: Clock, retry: (reads: PartitionReads) => void) {
    this.#logger = logger;
    this.#clock = clock;
    this.#retry = retry;
  }

  begin(reads: PartitionReads, error: unknown): void {
    const now = this.#clock.monotonic();
    const since = reads.backoff?.since ?? now;
    const retryAt = now + Math.min(pauseFraction * (now - since), pauseMillisecondsMaximum);
    reads.backoff = { since, retryAt, error, isRetrying: false };
    this.#partitions.add(reads);
    this.#retryLater();
  }

  end(reads: PartitionReads): void {
    if (reads.backoff === undefined) return;
    reads.backoff = undefined;
    this.#partitions.delete(reads);
    if (this.#partitions.size > 0 || !this.#isLogged) return;
    this.#isLogged = false;
    this.#logger.info({}, 'Kafka can be read again');
  }

  clear(): void {
    this.#partitions.clear();
    this.#timer?.cancel();
  }

  #retryDue(): void {
    this.#timer = undefined;
    this.#log();
    const now = this.#clock.monotonic();
    for (const reads of this.#partitions) {
      const { backoff } = reads;
      if (backoff === undefined || backoff.isRetrying) continue;
      if (reads.positions.size === 0) this.end(reads);
      else if (now >= backoff.retryAt) this.#retry(reads);
    }
    if (this.#partitions.size > 0) this.#retryLater();
  }

  #retryLater(): void {
    this.#timer ??= after(this.#clock, retryMilliseconds, () => this.#retryDue());
  }

  #log(): void {
    if (this.#isLogged) return;
    const now = this.#clock.monotonic();
    for (const { topic, partition, backoff } of this.#partitions) {
      if (backoff === undefined || now - backoff.since < logAfterMilliseconds) continue;
      this.#isLogged = true;
      const facts = { topic, partition, partitions: this.#partitions.size, error: describeError(backoff.error) };
      this.#logger.warn(facts, 'Kafka cannot be read; retrying');
      return;
    }
  }
}
