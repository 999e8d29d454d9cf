import { partitionKey, type CommittedOffset, type EventTypePartition } from '../../ports/coordination.ts';
import { boundsByPartition } from '../cursors/cursor-availability.ts';
import type { EventLog, Offset } from '../../ports/event-log.ts';
import type { Registry } from '../definitions/registry.ts';

/**
 * Where partitions end, as far as this process has seen. An end only moves forward, so an offset before a known end
 * needs no lookup: on a cluster each lookup would be a round trip for every commit.
 */
export class KnownEnds {
  readonly #log: EventLog;
  /** The offset that the next record will get, or a smaller one. */
  readonly #ends = new Map<string, Offset>();

  /** @param registry Notifies of removed event types: one created again under the same name begins at 0. */
  constructor({ log, registry }: { readonly log: EventLog; readonly registry: Registry }) {
    this.#log = log;
    registry.onChange(({ kind, name, value }) => {
      if (kind === 'event-type' && value === null) this.#forget(name);
    });
  }

  /**
   * The end of the partition of each position, looked up only where the position lies at or beyond the known end.
   * @throws what {@link EventLog.bounds} throws
   */
  async endsFor(positions: readonly CommittedOffset[]): Promise<readonly Offset[]> {
    const unknown = positions.filter((position) => position.offset >= this.#endOf(position));
    if (unknown.length > 0) await this.#lookUp(unknown);
    return positions.map((position) => this.#endOf(position));
  }

  async #lookUp(places: readonly EventTypePartition[]): Promise<void> {
    const distinct = new Map(places.map((place) => [partitionKey(place), place]));
    const bounds = await this.#log.bounds(
      [...distinct.values()].map(({ eventType, partition }) => ({ topic: eventType, partition })),
    );
    for (const [key, { latest }] of boundsByPartition(bounds)) this.#ends.set(key, latest);
  }

  #endOf(place: EventTypePartition): Offset {
    return this.#ends.get(partitionKey(place)) ?? 0;
  }

  #forget(eventType: string): void {
    for (const key of this.#ends.keys()) if (key.slice(0, key.lastIndexOf(':')) === eventType) this.#ends.delete(key);
  }
}
