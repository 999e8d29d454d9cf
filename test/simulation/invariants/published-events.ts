import { partitionKey, type EventTypePartition } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import { Violation } from './violation.ts';

/** What was published to one partition. */
export interface PublishedPartition {
  /** By offset; undefined at deletions and gaps. */
  readonly events: (string | undefined)[];
  readonly offsets: Map<string, Offset>;
  /** When each event was published that no other one delays, in simulated milliseconds, by offset. */
  readonly aloneSince: Map<Offset, number>;
  /** Retention has deleted everything below it. */
  earliest: Offset;
}

/** What was published to all partitions, and what retention has deleted of it. */
export class PublishedEvents {
  readonly #partitions = new Map<string, PublishedPartition>();

  partition(where: EventTypePartition): PublishedPartition {
    const key = partitionKey(where);
    const known = this.#partitions.get(key);
    if (known !== undefined) return known;
    const published = {
      events: [],
      offsets: new Map<string, Offset>(),
      aloneSince: new Map<Offset, number>(),
      earliest: 0,
    };
    this.#partitions.set(key, published);
    return published;
  }

  add(where: EventTypePartition, baseOffset: Offset, values: readonly (string | null)[]): void {
    const published = this.partition(where);
    for (const [index, value] of values.entries()) {
      if (value === null) continue;
      published.events[baseOffset + index] = value;
      published.offsets.set(value, baseOffset + index);
    }
  }

  /** The last event of a partition was published when there was nothing else to deliver. */
  lastIsAlone(where: EventTypePartition, nowMilliseconds: number): void {
    const { events, aloneSince } = this.partition(where);
    aloneSince.set(events.length - 1, nowMilliseconds);
  }

  deleteBefore(where: EventTypePartition, earliest: Offset): void {
    this.partition(where).earliest = earliest;
  }
}

/** Where an event that was sent is in its partition. */
export function offsetOf(published: PublishedPartition, event: string, key: string): Offset {
  const offset = published.offsets.get(event);
  if (offset === undefined)
    throw new Violation(`${event} was sent as an event of ${key}, where it was never published`);
  return offset;
}
