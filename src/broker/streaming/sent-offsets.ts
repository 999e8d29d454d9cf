import type { CommittedOffset, Coordination } from '../../ports/coordination.ts';
import type { Offset } from '../../ports/event-log.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import type { StreamPartition } from './stream-partition.ts';

type SentPartition = Pick<
  StreamPartition,
  'eventType' | 'partition' | 'sentThrough' | 'committedThrough' | 'startsBehindLoss'
>;

/**
 * What a stream with strict commits was sent. The coordination store learns it before the events leave: a commit on any
 * node is then compared with it, and a client is never faster.
 */
export class SentOffsets {
  readonly #coordination: Pick<Coordination, 'recordSent'>;
  readonly #subscriptionId: string;
  readonly #streamId: string;
  /** By partition, also those that the stream no longer has: it was sent them all the same. */
  readonly #sent = new Map<string, CommittedOffset>();
  /** By partition, the last position that has left. */
  readonly #left = new Map<string, Offset>();

  constructor(coordination: Pick<Coordination, 'recordSent'>, subscriptionId: string, streamId: string) {
    this.#coordination = coordination;
    this.#subscriptionId = subscriptionId;
    this.#streamId = streamId;
  }

  /** Notes the positions that the next lines carry. Returns whether the store has to learn any of them. */
  note(partitions: readonly SentPartition[]): boolean {
    let hasNews = false;
    for (const sent of partitions) {
      const { eventType, partition, sentThrough: offset } = sent;
      if (!isKnownToAll(sent) && this.#add({ eventType, partition, offset })) hasNews = true;
    }
    return hasNews;
  }

  /** Whether the store knows the position of a partition, so that a client may commit it when the session has ended. */
  isKnown(sent: SentPartition): boolean {
    return isKnownToAll(sent) || sent.sentThrough <= this.leftThrough(sent);
  }

  /** Notes positions after records that the consumer is never sent, before the stream commits them itself. */
  notePassedOver(
    partitions: readonly Pick<StreamPartition, 'eventType' | 'partition' | 'committableWithoutConsumer'>[],
  ): void {
    for (const { eventType, partition, committableWithoutConsumer: offset } of partitions) {
      if (offset !== undefined) this.#add({ eventType, partition, offset });
    }
  }

  /**
   * Lets the store learn what was noted.
   * @returns false when the session of the stream has ended
   * @throws COORDINATION_UNAVAILABLE
   */
  record(): Promise<boolean> {
    return this.#coordination.recordSent(this.#subscriptionId, this.#streamId, [...this.#sent.values()]);
  }

  /** Notes that everything noted before has left: the store has learned it, and the reader has it. */
  noteLeft(): void {
    for (const [key, { offset }] of this.#sent) this.#left.set(key, offset);
  }

  /** The last position of a partition that has left. What was noted beyond it still waits for the store. */
  leftThrough(partition: EventTypePartition): Offset {
    return this.#left.get(partitionKey(partition)) ?? -1;
  }

  #add(sent: CommittedOffset): boolean {
    const key = partitionKey(sent);
    const before: Offset = this.#sent.get(key)?.offset ?? -1;
    if (sent.offset > before) this.#sent.set(key, sent);
    return sent.offset > before;
  }
}

/** Whether the store would accept the position from any stream. */
function isKnownToAll({ sentThrough, committedThrough, startsBehindLoss }: SentPartition): boolean {
  return sentThrough <= committedThrough && !startsBehindLoss;
}
