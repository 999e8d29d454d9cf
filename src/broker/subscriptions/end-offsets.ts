import type { CommittedOffset } from '../../ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import type { EventLog, Offset } from '../../ports/event-log.ts';
import type { Registry } from '../definitions/registry.ts';

/**
 * Where partitions end, as far as this process has seen. An end only moves forward, so an offset before a known end
 * needs no lookup: on a cluster each lookup would be a round trip for every commit.
 */
export class EndOffsetCache {
  readonly #log: EventLog;
  /** The offset that the next record will get, or a smaller one. */
  readonly #endOffsets = new Map<string, Offset>();
  /** The lookup under way of each partition; it never fails. */
  readonly #lookups = new Map<string, Promise<void>>();

  /** @param registry Notifies of removed event types: one created again under the same name begins at 0. */
  constructor({ log, registry }: { readonly log: EventLog; readonly registry: Registry }) {
    this.#log = log;
    registry.onChange(({ kind, name, value }) => {
      if (kind === 'event-type' && value === null) this.#evict(name);
    });
  }

  /**
   * The end of the partition of each position, looked up only where the position lies at or beyond the known end. Many
   * streams commit the same new event at once, so a lookup that is under way is waited for first.
   * @throws what {@link EventLog.endOffsets} throws
   */
  async endOffsetsOf(positions: readonly CommittedOffset[]): Promise<readonly Offset[]> {
    let beyond = this.#beyondKnownEnds(positions);
    const underWay = beyond.flatMap((position) => this.#lookups.get(partitionKey(position)) ?? []);
    if (underWay.length > 0) {
      await Promise.all(underWay);
      beyond = this.#beyondKnownEnds(positions);
    }
    if (beyond.length > 0) await this.#lookUp(beyond);
    return positions.map((position) => this.#cachedEndOffset(position));
  }

  /** The same, when no position lies at or beyond a known end: most commits wait for nothing. */
  knownEndOffsetsOf(positions: readonly CommittedOffset[]): readonly Offset[] | undefined {
    const ends: Offset[] = [];
    for (const position of positions) {
      const end = this.#cachedEndOffset(position);
      if (position.offset >= end) return undefined;
      ends.push(end);
    }
    return ends;
  }

  #beyondKnownEnds(positions: readonly CommittedOffset[]): CommittedOffset[] {
    return positions.filter((position) => position.offset >= this.#cachedEndOffset(position));
  }

  async #lookUp(partitions: readonly EventTypePartition[]): Promise<void> {
    const keys = partitions.map(partitionKey);
    const fetching = this.#fetch(partitions);
    const settled = fetching.catch(() => undefined);
    for (const key of keys) this.#lookups.set(key, settled);
    try {
      await fetching;
    } finally {
      for (const key of keys) if (this.#lookups.get(key) === settled) this.#lookups.delete(key);
    }
  }

  async #fetch(partitions: readonly EventTypePartition[]): Promise<void> {
    const distinct = new Map(partitions.map((partition) => [partitionKey(partition), partition]));
    const ends = await this.#log.endOffsets(
      [...distinct.values()].map(({ eventType, partition }) => ({ topic: eventType, partition })),
    );
    for (const { topic, partition, latest } of ends) {
      this.#endOffsets.set(partitionKey({ eventType: topic, partition }), latest);
    }
  }

  #cachedEndOffset(partition: EventTypePartition): Offset {
    return this.#endOffsets.get(partitionKey(partition)) ?? 0;
  }

  #evict(eventType: string): void {
    for (const key of this.#endOffsets.keys())
      if (key.slice(0, key.lastIndexOf(':')) === eventType) this.#endOffsets.delete(key);
  }
}
