import { partitionKey, type PartitionOwnership, type Session, type Topology } from '../ports/coordination.ts';
import { isNewer, type StoredOffset } from './stored-offset.ts';

/**
 * What this process has seen of one subscription: enough to tell a Redis that lost something, and to give it back.
 * Nothing of it is ever used in place of an answer.
 */
export interface KnownSubscription {
  generation: number;
  /** As last seen. */
  partitions: readonly PartitionOwnership[];
  /** The newest seen, by place. */
  readonly offsets: Map<string, StoredOffset>;
  /** The open streams of this process. */
  readonly sessions: Map<string, Session>;
}

/**
 * How many subscriptions without an open stream here are remembered: what was deleted elsewhere is not always heard of.
 * The mirror knows of the others. Entries of about 1 KB.
 */
export const rememberedMaximum = 20_000;

export class Memory {
  readonly #subscriptions = new Map<string, KnownSubscription>();

  /** Subscriptions that were seen. */
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

  /** Takes note of what a Redis that {@link contradictsOffsets} nothing has answered. */
  noteOffsets(subscriptionId: string, offsets: ReadonlyMap<string, StoredOffset>): void {
    if (offsets.size === 0 && !this.#subscriptions.has(subscriptionId)) return;
    for (const [place, stored] of offsets) this.noteOffset(subscriptionId, place, stored);
  }

  noteTopology(subscriptionId: string, { generation, partitions }: Topology): void {
    if (partitions.length === 0 && !this.#subscriptions.has(subscriptionId)) return;
    const known = this.#known(subscriptionId);
    // Answers are in order, but what waits for them need not be.
    if (generation < known.generation) return;
    known.generation = generation;
    known.partitions = partitions;
  }

  /** Tells whether an answer yet to be asked for has an offset older than one that was seen before this call. */
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

  /** Tells whether an answer yet to be asked for has a fence lower than one that was seen before this call. */
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
