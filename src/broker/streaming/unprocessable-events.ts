import type { Clock } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import type { Coordination } from '../../ports/coordination.ts';
import type { Offset } from '../../ports/event-log.ts';
import type { EventTypePartition } from '../../ports/event-type-partition.ts';
import type { FailedDeliveries } from '../../ports/failed-deliveries.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Subscription } from '../definitions/subscription.ts';
import { unprocessableEventPolicy, type UnprocessableEventPolicy } from '../definitions/unprocessable-events.ts';
import type { UnreadableRecord } from '../log/external-records.ts';
import type { AssignedPartitions } from './assigned-partitions.ts';
import type { CloseCode } from './close-codes.ts';
import { countsAsFailure, hasFailedTooOften, type EventSearch } from './event-search.ts';
import type { SentOffsets } from './sent-offsets.ts';
import type { StreamPartition } from './stream-partition.ts';

/** An event that a subscription passes over. */
export interface DeadLetter extends EventTypePartition {
  readonly subscriptionId: string;
  readonly offset: Offset;
  /** Why. */
  readonly reason: string;
  /** As it is stored. */
  readonly value: Buffer;
  /** Whether the value is one JSON text on one line. */
  readonly isJson: boolean;
}

/** Where dead letters are kept. */
export interface DeadLetters {
  /**
   * Returns when the letter is durable. The letter of an event may be written more than once; it always has the same
   * eid.
   * @throws LOG_UNAVAILABLE, OVERLOADED and others when it may not be
   */
  write(letter: DeadLetter): Promise<void>;
}

export interface UnprocessableEventsServices {
  readonly registry: Pick<Registry, 'get'>;
  readonly coordination: Pick<Coordination, 'commit'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly deadLetters: DeadLetters;
}

/** How long to wait before an event that could not be passed over is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

/**
 * Carries out the policy of a subscription for events that its consumer cannot process, for one stream: events that
 * failed too often are passed over, after they were written to the queue if the policy says so. Until then their
 * partition waits. The policy is read again for each decision, so that a change takes effect at once.
 */
export class UnprocessableEvents {
  /** When to try again; Infinity while nothing has failed. Monotonic milliseconds. */
  retryAt = Infinity;
  readonly #services: UnprocessableEventsServices;
  readonly #subscriptionId: string;
  readonly #streamId: string;
  readonly #assigned: AssignedPartitions;
  readonly #onChange: () => void;
  readonly #sentOffsets: SentOffsets | undefined;

  /**
   * @param onChange Called when an event was passed over, or could not be.
   * @param sentOffsets Of a stream with strict commits: the store has to learn first which positions are committed.
   */
  constructor(
    services: UnprocessableEventsServices,
    subscriptionId: string,
    streamId: string,
    assigned: AssignedPartitions,
    onChange: () => void,
    sentOffsets?: SentOffsets,
  ) {
    this.#sentOffsets = sentOffsets;
    this.#services = services;
    this.#subscriptionId = subscriptionId;
    this.#streamId = streamId;
    this.#assigned = assigned;
    this.#onChange = onChange;
  }

  /** Begins to pass over the next event of each partition where that event has failed too often. */
  begin(now: number): void {
    if (now >= this.retryAt) this.retryAt = Infinity;
    const policy = policyOf(this.#services.registry, this.#subscriptionId);
    for (const partition of this.#assigned.list) {
      const { search } = partition;
      if (search === undefined || search.isPassingOver) continue;
      const next = partition.handOverUntil === undefined ? partition.buffer.next() : undefined;
      const isDue =
        policy !== undefined &&
        next !== undefined &&
        partition.uncommittedEvents === 0 &&
        hasFailedTooOften(search, next.offset, policy.sendsMaximum);
      search.isHeld = isDue;
      if (!isDue || this.retryAt !== Infinity) continue;
      search.isPassingOver = true;
      void this.#passOver(partition, search, { ...next, value: Buffer.from(next.value) }, policy);
    }
  }

  async #passOver(
    partition: StreamPartition,
    search: EventSearch,
    { offset, value }: { readonly offset: Offset; readonly value: Buffer },
    policy: UnprocessableEventPolicy,
  ): Promise<void> {
    const { coordination, logger, metrics, clock } = this.#services;
    const subscriptionId = this.#subscriptionId;
    const { failures } = search.record;
    const { eventType, partition: number, fence } = partition;
    const facts = { subscriptionId, eventType, partition: number, offset };
    try {
      if (policy.keepsDeadLetters && !search.hasLetter) {
        const reason = `The consumer failed with it ${failures} times: no stream that sent it alone got a commit.`;
        await this.#write({ subscriptionId, eventType, partition: number, offset, reason, value, isJson: true });
        search.hasLetter = true;
      }
      const cursor = { eventType, partition: number, offset, fence };
      if (this.#sentOffsets !== undefined) {
        this.#sentOffsets.notePassedOver([{ ...cursor, committableWithoutConsumer: offset }]);
        await this.#sentOffsets.record();
      }
      const { outcome } = await coordination.commit(subscriptionId, this.#streamId, [cursor]);
      if (outcome === 'committed') {
        metrics.skippedEvents.inc({ subscription_id: subscriptionId });
        this.#assigned.notices.countUnprocessableEvents(1);
        logger.warn({ ...facts, failures }, 'An event that the consumer cannot process was passed over');
        partition.commitThrough(offset);
      } else {
        // The stream has not heard yet that the partition is lost.
        this.retryAt = clock.monotonic() + retryMilliseconds;
        logger.debug(facts, 'An event that cannot be processed is left to the new owner of its partition');
      }
    } catch (error) {
      this.retryAt = clock.monotonic() + retryMilliseconds;
      logger.warn(
        { ...facts, error: describeError(error) },
        'An event that cannot be processed could not be passed over; its partition waits',
      );
    }
    partition.endPassingOver();
    this.#onChange();
  }

  /**
   * Counts external records that are not events, and writes them to the queue if the policy says so.
   * @returns a promise if nothing after them may be sent before it resolves
   */
  keepUnreadable(where: EventTypePartition, records: readonly UnreadableRecord[]): Promise<void> | undefined {
    const policy = policyOf(this.#services.registry, this.#subscriptionId);
    if (policy === undefined) return undefined;
    if (policy.keepsDeadLetters) return this.#keepUnreadable(where, records);
    this.#services.metrics.skippedEvents.inc({ subscription_id: this.#subscriptionId }, records.length);
    return undefined;
  }

  async #keepUnreadable(
    { eventType, partition }: EventTypePartition,
    records: readonly UnreadableRecord[],
  ): Promise<void> {
    const subscriptionId = this.#subscriptionId;
    // The values are in memory that others may use by the time they are written.
    const letters = records.map(({ offset, reason, value }): DeadLetter => {
      const text = `No stream can send the record: ${reason}.`;
      return { subscriptionId, eventType, partition, offset, reason: text, value: Buffer.from(value), isJson: false };
    });
    try {
      for (const letter of letters) await this.#write(letter);
    } catch (error) {
      this.#services.logger.warn(
        { subscriptionId, eventType, partition, error: describeError(error) },
        'A record that is no event could not be written to the dead letters; its partition waits',
      );
      throw error;
    }
    this.#services.metrics.skippedEvents.inc({ subscription_id: subscriptionId }, records.length);
  }

  async #write(letter: DeadLetter): Promise<void> {
    const { deadLetters, metrics } = this.#services;
    const labels = { subscription_id: this.#subscriptionId };
    try {
      await deadLetters.write(letter);
    } catch (error) {
      metrics.deadLetterFailures.inc(labels);
      throw error;
    }
    metrics.deadLetters.inc(labels);
  }
}

/** The policy of a subscription as it is now. */
export function policyOf(
  registry: Pick<Registry, 'get'>,
  subscriptionId: string,
): UnprocessableEventPolicy | undefined {
  const subscription = registry.get<Subscription>('subscription', subscriptionId);
  return subscription === undefined ? undefined : unprocessableEventPolicy(subscription.annotations);
}

/**
 * What a stream reports at its end: the events that it had sent and that were not committed. Undefined for a
 * subscription without a policy, and for an end that says nothing about the consumer.
 * @param batchLimit Of the stream: how many events are searched at most.
 * @param leftThrough The last offset of a partition that has left the stream.
 */
export function failedDeliveriesOf<Partition extends Pick<StreamPartition, 'failedDelivery'>>(
  policy: UnprocessableEventPolicy | undefined,
  partitions: readonly Partition[],
  batchLimit: number,
  code: CloseCode,
  isCommitOverdue: boolean,
  leftThrough: (partition: Partition) => Offset = () => Infinity,
): FailedDeliveries | undefined {
  if (policy === undefined || !countsAsFailure(code, isCommitOverdue)) return undefined;
  const failed = partitions.flatMap((partition) => partition.failedDelivery(batchLimit, leftThrough(partition)) ?? []);
  return failed.length === 0 ? undefined : { failuresMaximum: policy.sendsMaximum, partitions: failed };
}
