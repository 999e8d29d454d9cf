/** How many ids are kept for each partition unless another number is given. */
export const recentEventsDefault = 10_000;

/** An event as far as its id is concerned. */
interface WithMetadata {
  readonly metadata?: { readonly eid?: string } | undefined;
}

/**
 * The ids of the latest events of each partition. Delivery is at least once: this tells whether an event was processed
 * before, as far back as it remembers. It lives in memory, so it knows nothing of another process: what must happen
 * once, also after a restart, has to be remembered where its effect is stored.
 */
export class RecentEvents {
  readonly #maximum: number;
  /** By event type and partition. A set keeps the order in which its ids were added. */
  readonly #partitions = new Map<string, Set<string>>();

  /** @param maximum The most ids of a partition. The oldest is forgotten first. */
  constructor(maximum = recentEventsDefault) {
    this.#maximum = maximum;
  }

  /** Whether an event was added. Events without an `eid` never were. */
  has(cursor: { readonly event_type: string; readonly partition: string }, event: WithMetadata): boolean {
    const eid = event.metadata?.eid;
    return eid !== undefined && this.#partitions.get(keyOf(cursor))?.has(eid) === true;
  }

  /** Remembers that an event was processed. */
  add(cursor: { readonly event_type: string; readonly partition: string }, event: WithMetadata): void {
    const eid = event.metadata?.eid;
    if (eid === undefined) return;
    const key = keyOf(cursor);
    const ids = this.#partitions.get(key) ?? new Set();
    this.#partitions.set(key, ids);
    ids.delete(eid);
    ids.add(eid);
    if (ids.size <= this.#maximum) return;
    for (const oldest of ids) {
      ids.delete(oldest);
      return;
    }
  }

  /** Forgets the events of a partition, or all: after a reset of cursors, they are to be processed again. */
  clear(cursor?: { readonly event_type: string; readonly partition: string }): void {
    if (cursor === undefined) this.#partitions.clear();
    else this.#partitions.delete(keyOf(cursor));
  }
}

function keyOf(cursor: { readonly event_type: string; readonly partition: string }): string {
  return `${cursor.event_type}/${cursor.partition}`;
}
