/**
 * What the broker needs of the log beyond the port: reading a topic to its end and following it, making a topic, and
 * checking records that other producers wrote.
 * In: an `EventLog` and the name of a topic. Out: its records, one after another.
 * Start with `TopicTail` below; the registry and the copy of accounts follow their topics with it.
 */

import { after, systemClock, type Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError, describeError } from '../../errors.ts';
import { unreachableMillisecondsMaximum, type HealthPart } from '../../health.ts';
import type { Logger } from '../../logger.ts';
import type { EventLog, Offset, RecordBatch, TopicPartition } from '../../ports/event-log.ts';
import { withoutExternalRecords } from './external-records.ts';

/**
 * Follows every partition of a topic from a position and passes on what each read returns, in order per partition.
 * This is how a process keeps a local copy of a compacted topic. `apply` must be fast or bounded; a slow one slows only
 * its own reading.
 */
export interface TopicTailOptions {
  readonly log: EventLog;
  readonly topic: string;
  readonly partitionCount: number;
  /** Where to start, per partition; absent means from the earliest record. */
  readonly startOffsets?: ReadonlyMap<number, Offset>;
  /**
   * Whether catching up includes what is being committed at that moment (see {@link BoundsOptions}). For a topic whose
   * changes are also announced elsewhere, so that a caller may already know of them.
   */
  readonly includeUncommitted?: boolean;
  /**
   * Takes the next batches of a partition, which one read returned, and the offset after them. It gets them again after
   * a retriable error.
   */
  readonly apply: (batches: readonly RecordBatch[], nextOffset: Offset) => void | Promise<void>;
  readonly logger: Logger;
  /** Default: the clock of the system. */
  readonly clock?: Clock;
  /** Notified when reading has failed for long, when it works again, and when the topic is no longer followed. */
  readonly health?: Pick<HealthPart, 'reportReady' | 'reportNotReady'>;
  /** Called once when the topic is no longer followed, for any reason other than {@link TopicTail.stop}. */
  readonly onFailure?: (error: Error) => void;
}

/**
 * The least time between the starts of two catch-ups for unknown names, so that a flood of them costs the log next to
 * nothing. Milliseconds.
 */
const missPauseMilliseconds = 20;

/**
 * How long catching up may take while a request waits for it: a partition may be unreadable for as long as a
 * transaction is open in it. Shorter than a claim. Milliseconds.
 */
export const catchUpMillisecondsMaximum = 5_000;

const readBytes = 1024 * 1024;
const retryMilliseconds = 100;

/**
 * Follows every partition of a topic and applies its batches in order; see {@link TopicTailOptions}. A retriable error
 * is retried. Any other error, and LOG_CLOSED, ends the reading of its partition and rejects all waiting calls.
 */
export class TopicTail {
  readonly #options: TopicTailOptions;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  readonly #applied: Offset[];
  readonly #waiting = new Set<{
    partition: number;
    offset: Offset;
    resolve: () => void;
    reject: (error: Error) => void;
  }>();
  #loops: Promise<void>[] = [];
  #failure: Error | undefined;
  /** Since when reading has failed, by partition. Monotonic milliseconds. */
  readonly #failingSince = new Map<number, number>();
  /** Settles when the next catch-up for an unknown name may begin. */
  #missPause: Promise<unknown> = Promise.resolve();
  /** That next catch-up, until it begins: all callers in between share it. */
  #nextMissCatchUp: Promise<void> | undefined;

  constructor(options: TopicTailOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#applied = Array.from(
      { length: options.partitionCount },
      (_, partition) => options.startOffsets?.get(partition) ?? 0,
    );
  }

  /** Starts following and returns when everything that was in the topic at this moment has been applied. */
  async start(): Promise<void> {
    const bounds = await this.#options.log.bounds(this.#partitions());
    this.#loops = bounds.map(({ partition, earliest }) => {
      this.#applied[partition] = Math.max(this.position(partition), earliest);
      return this.#follow(partition);
    });
    await Promise.all(bounds.map(({ partition, latest }) => this.waitUntilApplied(partition, latest)));
  }

  /** Why the topic is no longer followed; undefined while it is. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** The next offset that will be applied. */
  position(partition: number): Offset {
    return this.#applied[partition] as number;
  }

  /** Says that everything below the offset has been applied. Batches below it that are being read are left out. */
  advance(partition: number, offset: Offset): void {
    if (offset <= this.position(partition)) return;
    this.#applied[partition] = offset;
    this.#resolveWaiting();
  }

  /**
   * Resolves when every record below `offset` has been applied.
   * @param milliseconds How long to wait. Default: for ever.
   * @param signal Ends the wait.
   * @throws what `apply` threw, LOG_CLOSED after {@link stop} and when `signal` aborts, LOG_UNAVAILABLE when the time
   *   is over
   */
  waitUntilApplied(
    partition: number,
    offset: Offset,
    { milliseconds = Infinity, signal }: { readonly milliseconds?: number; readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    if (this.position(partition) >= offset) return Promise.resolve();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const abortedError = (): Error => new LendstreamError('LOG_CLOSED', 'The wait for the log was ended.');
    if (signal?.aborted === true) return Promise.reject(abortedError());
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(waiter);
        timer?.cancel();
        signal?.removeEventListener('abort', abort);
      };
      const waiter = {
        partition,
        offset,
        resolve: () => {
          end();
          resolve();
        },
        reject: (error: Error) => {
          end();
          reject(error);
        },
      };
      this.#waiting.add(waiter);
      const abort = (): void => waiter.reject(abortedError());
      const giveUp = (): void => waiter.reject(this.#unreadableError(milliseconds));
      const timer = milliseconds === Infinity ? undefined : after(this.#clock, milliseconds, giveUp);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /**
   * Returns when everything that is in the topic now has been applied.
   * @param milliseconds How long that may take.
   * @throws as {@link waitUntilApplied}, LOG_UNAVAILABLE when the time is over
   */
  async catchUp(milliseconds = catchUpMillisecondsMaximum): Promise<void> {
    const { includeUncommitted = false } = this.#options;
    const deadline = this.#clock.monotonic() + milliseconds;
    const ends = await this.#options.log.endOffsets(this.#partitions(), { includeUncommitted });
    const remainingMilliseconds = Math.max(0, deadline - this.#clock.monotonic());
    await Promise.all(
      ends.map(({ partition, latest }) =>
        this.waitUntilApplied(partition, latest, { milliseconds: remainingMilliseconds }),
      ),
    );
  }

  #unreadableError(milliseconds: number): LendstreamError {
    const { topic } = this.#options;
    return new LendstreamError(
      'LOG_UNAVAILABLE',
      `Records that other processes stored in ${topic} could not be read within ${Math.round(milliseconds)} ms. Try again.`,
    );
  }

  /**
   * Finds something that another process may have stored a moment ago. What `lookUp` does not find in the local copy is
   * looked up once more after catching up. Callers that miss something at about the same time share one catch-up.
   * @param lookUp Reads the local copy; undefined when the copy does not have it.
   * @returns at once when the local copy has it; undefined when it does not exist
   * @throws as {@link catchUp}, and what `lookUp` throws
   */
  async find<Found>(lookUp: () => Found | undefined): Promise<Found | undefined> {
    const found = lookUp();
    if (found !== undefined) return found;
    this.#nextMissCatchUp ??= this.#catchUpAfterPause();
    await this.#nextMissCatchUp;
    return lookUp();
  }

  async #catchUpAfterPause(): Promise<void> {
    await this.#missPause;
    this.#nextMissCatchUp = undefined;
    const catchingUp = this.catchUp();
    this.#missPause = Promise.allSettled([catchingUp, this.#clock.sleep(missPauseMilliseconds)]);
    await catchingUp;
  }

  #partitions(): TopicPartition[] {
    const { topic, partitionCount } = this.#options;
    return Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition }));
  }

  /** Ends the reading of all partitions and returns when it has ended. Waiting calls are rejected. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  async #follow(partition: number): Promise<void> {
    const { log, topic, apply, logger } = this.#options;
    const signal = this.#stopping.signal;
    while (!signal.aborted) {
      try {
        const offset = this.position(partition);
        const { batches, nextOffset } = await log.read(
          { topic, partition, offset },
          { bytesMaximum: readBytes, waitMilliseconds: Infinity, signal },
        );
        const next = batches.filter((batch) => endOf(batch) > this.position(partition));
        const last = next.at(-1);
        if (last !== undefined) {
          await apply(
            next.map((batch) => this.#ownRecords(batch)),
            endOf(last),
          );
        }
        this.advance(partition, nextOffset);
        this.#recordRead(partition);
      } catch (error) {
        if (isLendstreamError(error) && error.retriable && error.code !== 'LOG_CLOSED') {
          logger.warn({ topic, partition, error: describeError(error) }, 'Reading failed; retrying');
          this.#recordFailedRead(partition, error);
          await this.#clock.sleep(retryMilliseconds, signal);
          continue;
        }
        const failure = error instanceof Error ? error : new Error(describeError(error));
        if (!signal.aborted) this.#fail(partition, failure);
        this.#failure ??= failure;
        break;
      }
    }
    this.#failure ??= new LendstreamError('LOG_CLOSED', `No longer following ${topic}.`);
    for (const waiter of this.#waiting) waiter.reject(this.#failure);
    this.#waiting.clear();
  }

  #fail(partition: number, failure: Error): void {
    const { topic, logger, health, onFailure } = this.#options;
    logger.error({ topic, partition, error: describeError(failure) }, 'Stopped following the topic');
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    health?.reportNotReady(`Topic ${topic} is no longer followed: ${failure.message}`);
    onFailure?.(failure);
  }

  #recordRead(partition: number): void {
    if (!this.#failingSince.delete(partition) || this.#failingSince.size > 0 || this.#failure !== undefined) return;
    this.#options.health?.reportReady();
  }

  #recordFailedRead(partition: number, error: unknown): void {
    const now = this.#clock.monotonic();
    const since = this.#failingSince.get(partition) ?? now;
    this.#failingSince.set(partition, since);
    if (now - since < unreachableMillisecondsMaximum) return;
    this.#options.health?.reportNotReady(`Topic ${this.#options.topic} cannot be read now: ${describeError(error)}`);
  }

  /** A process follows only topics of this product: external records in them are ignored. */
  #ownRecords(batch: RecordBatch): RecordBatch {
    const ownRecords = withoutExternalRecords(batch);
    if (ownRecords === batch) return batch;
    const { topic, partition } = batch;
    const count = batch.count - ownRecords.count;
    this.#options.logger.error({ topic, partition, count }, 'Records of another producer are ignored');
    return ownRecords;
  }

  #resolveWaiting(): void {
    for (const waiter of this.#waiting) {
      if (this.position(waiter.partition) >= waiter.offset) waiter.resolve();
    }
  }
}

/** The offset after the last record of a batch. */
function endOf({ offsets, count }: RecordBatch): Offset {
  return (offsets[count - 1] ?? 0) + 1;
}
