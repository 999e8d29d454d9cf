import { describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { PartitionReads } from './positions.ts';

/** How long to wait before a partition that could not be read is tried again. Milliseconds. */
const retryMilliseconds = 25;

/** Lasting trouble is tried less often: the pause is this part of the time it has lasted, up to the longest pause. */
const pausePart = 0.1;
const pauseMillisecondsMaximum = 250;

/** How long trouble lasts before it is logged: leaders move without harm. Milliseconds. */
const unnoticedMilliseconds = 1_000;

/** The partitions that cannot be read at the moment. Each is retried until it responds or no read is pending. */
export class ReadTroubles {
  readonly #logger: Logger;
  readonly #monotonic: () => number;
  readonly #retry: (reads: PartitionReads) => void;
  readonly #partitions = new Set<PartitionReads>();
  #timer: NodeJS.Timeout | undefined;
  #isLogged = false;

  /** @param retry Called repeatedly for each partition in trouble that has no attempt under way. */
  constructor(logger: Logger, monotonic: () => number, retry: (reads: PartitionReads) => void) {
    this.#logger = logger;
    this.#monotonic = monotonic;
    this.#retry = retry;
  }

  begin(reads: PartitionReads, error: unknown): void {
    const now = this.#monotonic();
    const since = reads.trouble?.since ?? now;
    const retryAt = now + Math.min(pausePart * (now - since), pauseMillisecondsMaximum);
    reads.trouble = { since, retryAt, error, isTrying: false };
    this.#partitions.add(reads);
    this.#timer ??= setTimeout(() => this.#turn(), retryMilliseconds);
  }

  end(reads: PartitionReads): void {
    if (reads.trouble === undefined) return;
    reads.trouble = undefined;
    this.#partitions.delete(reads);
    if (this.#partitions.size > 0 || !this.#isLogged) return;
    this.#isLogged = false;
    this.#logger.info({}, 'Kafka can be read again');
  }

  clear(): void {
    this.#partitions.clear();
    clearTimeout(this.#timer);
  }

  #turn(): void {
    this.#timer = undefined;
    this.#log();
    const now = this.#monotonic();
    for (const reads of this.#partitions) {
      const { trouble } = reads;
      if (trouble === undefined || trouble.isTrying) continue;
      if (reads.positions.size === 0) this.end(reads);
      else if (now >= trouble.retryAt) this.#retry(reads);
    }
    if (this.#partitions.size > 0) this.#timer ??= setTimeout(() => this.#turn(), retryMilliseconds);
  }

  #log(): void {
    if (this.#isLogged) return;
    const now = this.#monotonic();
    for (const { topic, partition, trouble } of this.#partitions) {
      if (trouble === undefined || now - trouble.since < unnoticedMilliseconds) continue;
      this.#isLogged = true;
      const facts = { topic, partition, partitions: this.#partitions.size, error: describeError(trouble.error) };
      this.#logger.warn(facts, 'Kafka cannot be read; it is tried again until it can');
      return;
    }
  }
}
