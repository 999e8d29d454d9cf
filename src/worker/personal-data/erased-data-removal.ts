import type { EventLog } from '../../ports/event-log.ts';
import type { AccountsCopy } from '../../accounts/accounts-copy.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { type Clock, type Timer, every } from '../../clock.ts';
import { describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { accountsTopic } from '../../lending-format/lending-topics.ts';
import { type Erasure, erasureCount, listErasures } from '../../lending-format/personal-data/erasures.ts';

/** How often it is looked whether something is to be done, unless the time is so short that it is more often. */
const lookMilliseconds = 60_000;

/** The parts of the time of an erasure: by then the changelog is compacted, and so often the rest is done. */
const compactionShare = 1 / 2;
const repetitionShare = 1 / 8;

/** Segments of Kafka go a tenth later than their records are due. */
const retentionShare = 1.1;

/** A record without a meaning. */
const emptyRecord = { key: 'nothing', value: null };

export interface ErasedDataRemovalOptions {
  readonly log: Pick<EventLog, 'alterTopic' | 'append' | 'listTopics'>;
  readonly registry: Registry;
  /** The copy of this process. */
  readonly copy: Pick<AccountsCopy, 'removeRemains'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Within this time after an erasure, no file of the service has what was erased. Milliseconds. */
  readonly erasureMilliseconds: number;
  /** How long the log keeps events and decided commands. Milliseconds. */
  readonly retentionMilliseconds: number;
}

/**
 * Sees to it that the bytes of what was erased go in time: from the changelog, which it makes the log compact, and from
 * the copy of this process. As long as nothing was erased it does nothing. Every process has one; what several of them
 * do to the log does no harm.
 *
 * The log compacts as long as a decided command or an event of before may have been held: what the embedded store frees
 * is overwritten then, too.
 */
export class ErasedDataRemoval {
  readonly #options: ErasedDataRemovalOptions;
  readonly #timer: Timer;
  #looking: Promise<void> | undefined;
  /** The limit that the changelog has, as far as this process knows. Undefined before it was looked up. */
  #lag: number | undefined;
  /** When this process last appended, and last emptied its copy. Milliseconds since the epoch. */
  #appendedAt = Number.NEGATIVE_INFINITY;
  #emptiedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ErasedDataRemovalOptions) {
    this.#options = options;
    const { clock, erasureMilliseconds } = options;
    const milliseconds = Math.min(lookMilliseconds, (erasureMilliseconds * repetitionShare) / 2);
    this.#timer = every(clock, milliseconds, () => void this.look());
  }

  /** Does what is due. A failure is logged, and the next look tries again. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => {
        if (isLendstreamError(error, 'LOG_CLOSED')) return;
        this.#options.logger.warn({ error: describeError(error) }, 'Removing erased personal data failed; retrying');
      })
      .finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Returns when what is under way has ended. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { registry, clock, copy, erasureMilliseconds, retentionMilliseconds } = this.#options;
    if (erasureCount(registry) === 0) return;
    const now = clock.now();
    const since = (milliseconds: number): readonly Erasure[] =>
      listErasures(registry).filter(({ erasedAt }) => now - erasedAt < milliseconds);
    const held = since(retentionShare * retentionMilliseconds + erasureMilliseconds);
    await this.#setLag(held.length > 0 ? erasureMilliseconds * compactionShare : Infinity);
    const repetition = erasureMilliseconds * repetitionShare;
    // Before, the partition need not get another record: see the port.
    const closed = held.filter(({ erasedAt }) => now - erasedAt >= erasureMilliseconds * compactionShare);
    if (closed.length > 0 && now - this.#appendedAt >= repetition) {
      await this.#append(new Set(closed.map(({ partition }) => partition)));
      this.#appendedAt = now;
    }
    if (since(erasureMilliseconds).length > 0 && now - this.#emptiedAt >= repetition) {
      copy.removeRemains();
      this.#emptiedAt = now;
    }
  }

  async #setLag(compactionLagMilliseconds: number): Promise<void> {
    const { log } = this.#options;
    if (this.#lag === compactionLagMilliseconds) return;
    const [topic] = await log.listTopics([accountsTopic]);
    const present = topic?.compactionLagMilliseconds ?? Infinity;
    if (present !== compactionLagMilliseconds) await log.alterTopic(accountsTopic, { compactionLagMilliseconds });
    this.#lag = compactionLagMilliseconds;
  }

  /** Lets the log close what it has of these partitions, which it may do only when another record comes. */
  async #append(partitions: ReadonlySet<number>): Promise<void> {
    const records = [emptyRecord];
    const results = await this.#options.log.append(
      [...partitions].map((partition) => ({ topic: accountsTopic, partition, records })),
    );
    for (const result of results) if (result.outcome === 'failed') throw result.error;
  }
}
