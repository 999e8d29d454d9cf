import { partitionKey, type PartitionOwnership, type Session, type Topology } from '../ports/coordination.ts';
import { isNewer, type StoredOffset } from './stored-offset.ts';

/**
 * The state of one subscription that this process has seen. It suffices to recognise a Redis that lost something, and
 * to restore it. It is never used in place of a result from Redis.
 */
export interface KnownSubscription {
  generation: number;
  /** The partitions as last seen. */
  partitions: readonly PartitionOwnership[];
  /** The newest offsets seen, by partition. */
  readonly offsets: Map<string, StoredOffset>;
  /** The open streams of this process. */
  readonly sessions: Map<string, Session>;
}

/**
 * How many subscriptions without an open stream here are remembered, since this process may never hear that a
 * subscription was deleted elsewhere. The mirror knows the others. Entries of about 1 KB.
 */
export const rememberedMaximum = 20_000;

/**
 * All subscriptions that this process has seen, at most {@link rememberedMaximum} of them without an open stream here.
 */
export class Memory {
  readonly #subscriptions = new Map<string, KnownSubscription>();

  /** The subscriptions that were seen. */
  entries(): Iterable<[string, KnownSubscription]> {
    return this.#subscriptions;
  }

  get(subscriptionId: string): KnownSubscription | undefined {
    return this.#subscriptions.get(subscriptionId);
  }

  forget(subscriptionId: string): void {
    this.#subscriptions.delete(subscriptionId);
  }

  noteSession(subscriptionId: string, session: Session): void {
    this.#known(subscriptionId).sessions.set(session.streamId, session);
  }

  forgetSession(subscriptionId: string, streamId: string): void {
    this.#subscriptions.get(subscriptionId)?.sessions.delete(streamId);
  }

  noteOffset(subscriptionId: string, place: string, stored: StoredOffset): void {
    const { offsets } = this.#known(subscriptionId);
    const held = offsets.get(place);
    if (held === undefined || isNewer(stored, held)) offsets.set(place, stored);
  }

  /** Notes offsets from Redis that {@link contradictsOffsets} did not object to. */
  noteOffsets(subscriptionId: string, offsets: ReadonlyMap<string, StoredOffset>): void {
    if (offsets.size === 0 && !this.#subscriptions.has(subscriptionId)) return;
    for (const [place, stored] of offsets) this.noteOffset(subscriptionId, place, stored);
  }

  noteTopology(subscriptionId: string, { generation, partitions }: Topology): void {
    if (partitions.length === 0 && !this.#subscriptions.has(subscriptionId)) return;
    const known = this.#known(subscriptionId);
    // Results arrive in order, but the code that awaits them need not run in order.
    if (generation < known.generation) return;
    known.generation = generation;
    known.partitions = partitions;
  }

  /** Returns a function that shows whether a later result has an offset older than one seen before this call. */
  contradictsOffsets(subscriptionId: string): (offsets: ReadonlyMap<string, StoredOffset>) => boolean {
    const seen = new Map(this.#subscriptions.get(subscriptionId)?.offsets);
    return (offsets) => {
      for (const [place, stored] of offsets) {
        const before = seen.get(place);
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

  #known(subscriptionId: string): KnownSubscription {
    const known = this.#subscriptions.get(subscriptionId);
    if (known !== undefined) return known;
    if (this.#subscriptions.size >= rememberedMaximum) this.#forgetOldest();
    const created = { generation: 0, partitions: [], offsets: new Map(), sessions: new Map() };
    this.#subscriptions.set(subscriptionId, created);
    return created;
  }

  #forgetOldest(): void {
    for (const [subscriptionId, { sessions }] of this.#subscriptions) {
      if (sessions.size > 0) continue;
      this.#subscriptions.delete(subscriptionId);
      return;
    }
  }
}
