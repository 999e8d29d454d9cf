import { partitionKey, type PartitionOwnership, type Session, type Topology } from '../ports/coordination.ts';
import { isNewer, type StoredOffset } from './stored-offset.ts';

/**
 * The state of one subscription that this process has seen. It suffices to recognise a Redis that lost something, and
 * to restore it. It is never used in place of a result from Redis.
 */
export interface LastSeenSubscription {
  generation: number;
  /** The partitions as last seen. */
  partitions: readonly PartitionOwnership[];
  /** The newest offsets seen, by partition. */
  readonly offsets: Map<string, StoredOffset>;
  /** The open streams of this process. */
  readonly sessions: Map<string, Session>;
}

/**
 * How many subscriptions without an open stream here are kept, since this process may never hear that a
 * subscription was deleted elsewhere. The mirror knows the others. Entries of about 1 KB.
 */
export const idleSubscriptionsMaximum = 20_000;

/**
 * All subscriptions seen, at most {@link idleSubscriptionsMaximum} of them without an open stream here.
 */
export class LastSeenState {
  readonly #subscriptions = new Map<string, LastSeenSubscription>();

  /** The subscriptions that were seen. */
  entries(): Iterable<[string, LastSeenSubscription]> {
    return this.#subscriptions;
  }

  get(subscriptionId: string): LastSeenSubscription | undefined {
    return this.#subscriptions.get(subscriptionId);
  }

  forget(subscriptionId: string): void {
    this.#subscriptions.delete(subscriptionId);
  }

  recordSession(subscriptionId: string, session: Session): void {
    this.#getOrCreate(subscriptionId).sessions.set(session.streamId, session);
  }

  forgetSession(subscriptionId: string, streamId: string): void {
    this.#subscriptions.get(subscriptionId)?.sessions.delete(streamId);
  }

  recordOffset(subscriptionId: string, key: string, stored: StoredOffset): void {
    const { offsets } = this.#getOrCreate(subscriptionId);
    const current = offsets.get(key);
    if (current === undefined || isNewer(stored, current)) offsets.set(key, stored);
  }

  /** Notes offsets from Redis that {@link contradictsOffsets} did not object to. */
  recordOffsets(subscriptionId: string, offsets: ReadonlyMap<string, StoredOffset>): void {
    if (offsets.size === 0 && !this.#subscriptions.has(subscriptionId)) return;
    for (const [key, stored] of offsets) this.recordOffset(subscriptionId, key, stored);
  }

  recordTopology(subscriptionId: string, { generation, partitions }: Topology): void {
    if (partitions.length === 0 && !this.#subscriptions.has(subscriptionId)) return;
    const known = this.#getOrCreate(subscriptionId);
    // Results arrive in order, but the code that awaits them need not run in order.
    if (generation < known.generation) return;
    known.generation = generation;
    known.partitions = partitions;
  }

  /** Returns a function that shows whether a later result has an offset older than one seen before this call. */
  contradictsOffsets(subscriptionId: string): (offsets: ReadonlyMap<string, StoredOffset>) => boolean {
    const seen = new Map(this.#subscriptions.get(subscriptionId)?.offsets);
    return (offsets) => {
      for (const [key, stored] of offsets) {
        const before = seen.get(key);
        if (before !== undefined && isNewer(before, stored)) return true;
      }
      return false;
    };
  }

  /** Returns a function that shows whether a later result has a fence lower than one seen before this call. */
  contradictsTopology(subscriptionId: string): (topology: Topology) => boolean {
    const seen = this.#subscriptions.get(subscriptionId)?.partitions ?? [];
    return ({ partitions }) => {
      const fences = new Map(partitions.map((partition) => [partitionKey(partition), partition.fence]));
      return seen.some((before) => (fences.get(partitionKey(before)) ?? Infinity) < before.fence);
    };
  }

  #getOrCreate(subscriptionId: string): LastSeenSubscription {
    const known = this.#subscriptions.get(subscriptionId);
    if (known !== undefined) return known;
    if (this.#subscriptions.size >= idleSubscriptionsMaximum) this.#evictOldest();
    const created = { generation: 0, partitions: [], offsets: new Map(), sessions: new Map() };
    this.#subscriptions.set(subscriptionId, created);
    return created;
  }

  #evictOldest(): void {
    for (const [subscriptionId, { sessions }] of this.#subscriptions) {
      if (sessions.size > 0) continue;
      this.#subscriptions.delete(subscriptionId);
      return;
    }
  }
}
