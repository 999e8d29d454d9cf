import { BoundedMap } from '../bounded-map.ts';
import type { PartitionOwnership, Session, Topology } from '../ports/coordination.ts';
import { isSamePartition, partitionKey } from '../ports/event-type-partition.ts';

/**
 * The state of one subscription that this process has seen. It suffices to recognise a Redis that lost something, and
 * to give it back the streams of this process. It is never used in place of a result from Redis.
 */
export interface LastSeenSubscription {
  generation: number;
  /** The partitions as last seen. */
  partitions: readonly PartitionOwnership[];
  /** How many recoveries there were when the partitions were seen. */
  recoveries: number;
  /** The open streams of this process. */
  readonly sessions: Map<string, Session>;
}

/**
 * How many subscriptions without an open stream here are kept: a Redis with older data may still have their sessions,
 * and this process may never hear that a subscription was deleted elsewhere. Entries of less than 1 KB.
 */
export const idleSubscriptionsMaximum = 20_000;

/** All subscriptions with an open stream here, and the latest {@link idleSubscriptionsMaximum} of the others. */
export class LastSeenState {
  readonly #streaming = new Map<string, LastSeenSubscription>();
  readonly #idle = new BoundedMap<string, LastSeenSubscription>(idleSubscriptionsMaximum);
  #recoveries = 0;

  /** The subscriptions that were seen. */
  *entries(): Iterable<[string, LastSeenSubscription]> {
    yield* this.#streaming;
    yield* this.#idle.entries();
  }

  get(subscriptionId: string): LastSeenSubscription | undefined {
    return this.#streaming.get(subscriptionId) ?? this.#idle.get(subscriptionId);
  }

  forget(subscriptionId: string): void {
    this.#streaming.delete(subscriptionId);
    this.#idle.delete(subscriptionId);
  }

  recordSession(subscriptionId: string, session: Session): void {
    const known = this.get(subscriptionId) ?? nothingSeen();
    known.sessions.set(session.streamId, session);
    this.#idle.delete(subscriptionId);
    this.#streaming.set(subscriptionId, known);
  }

  forgetSession(subscriptionId: string, streamId: string): void {
    const known = this.#streaming.get(subscriptionId);
    if (known === undefined) return;
    known.sessions.delete(streamId);
    if (known.sessions.size > 0) return;
    this.#streaming.delete(subscriptionId);
    this.#idle.set(subscriptionId, known);
  }

  recordTopology(subscriptionId: string, { generation, partitions }: Topology): void {
    let known = this.get(subscriptionId);
    if (known === undefined) {
      if (partitions.length === 0) return;
      known = nothingSeen();
      this.#idle.set(subscriptionId, known);
    }
    // Results arrive in order, but the code that awaits them need not run in order.
    if (generation < known.generation) return;
    known.generation = generation;
    known.partitions = partitions;
    known.recoveries = this.#recoveries;
  }

  /** How often the store has got back what it had lost. */
  get recoveries(): number {
    return this.#recoveries;
  }

  /** The store has got back what it had lost: what is seen from now on is newer. */
  noteRecovery(): void {
    this.#recoveries += 1;
  }

  /** Whether every partition was seen with a stream of this process as its owner since the last recovery. */
  ownsAllSinceRecovery(subscriptionId: string): boolean {
    const known = this.#streaming.get(subscriptionId);
    if (known === undefined || known.recoveries !== this.#recoveries) return false;
    return known.partitions.every(
      ({ state, streamId }) => state === 'assigned' && streamId !== null && known.sessions.has(streamId),
    );
  }

  /** Returns a function that shows whether a later result has a fence lower than one seen before this call. */
  contradictsTopology(subscriptionId: string): (topology: Topology) => boolean {
    const seen = this.get(subscriptionId)?.partitions ?? [];
    return ({ partitions }) => {
      // Both are in the same order, nearly always of the same partitions.
      if (areSamePartitions(seen, partitions)) {
        return seen.some(({ fence }, index) => (partitions[index] as PartitionOwnership).fence < fence);
      }
      const fences = new Map(partitions.map((partition) => [partitionKey(partition), partition.fence]));
      return seen.some((before) => (fences.get(partitionKey(before)) ?? Infinity) < before.fence);
    };
  }
}

function areSamePartitions(left: readonly PartitionOwnership[], right: readonly PartitionOwnership[]): boolean {
  return left.length === right.length && left.every((each, index) => isSamePartition(each, right[index]));
}

function nothingSeen(): LastSeenSubscription {
  return { generation: 0, partitions: [], recoveries: 0, sessions: new Map() };
}
