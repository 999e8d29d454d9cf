import { ofKind, type HistoryRecord, type EventPosition } from '../history.ts';

/** What the history shows of the log: the positions of events. Everything that was ever seen counts. */
export interface KnownLog {
  /** By {@link partitionName}: the events by offset, ascending. */
  readonly partitions: ReadonlyMap<string, readonly KnownEvent[]>;
  /** By eid: the positions where it was seen, ordered by offset. One, unless something is wrong. */
  readonly positions: ReadonlyMap<string, readonly EventPosition[]>;
  /** Positions at which different events were seen. */
  readonly conflicts: readonly { readonly place: EventPosition; readonly eids: readonly string[] }[];
}

export interface KnownEvent {
  readonly offset: number;
  readonly eid: string;
}

export function partitionName({ eventType, partition }: { eventType: string; partition: number }): string {
  return `${eventType}/${partition}`;
}

export function describePosition(position: EventPosition): string {
  return `${partitionName(position)}@${position.offset}`;
}

/**
 * Collects the positions of events from batches of one event, from the last events of larger ones, and from reading the
 * log.
 */
export function knownLogOf(records: readonly HistoryRecord[]): KnownLog {
  const byPosition = new Map<string, { place: EventPosition; eids: Set<string> }>();
  const add = (position: EventPosition, eid: string): void => {
    const name = describePosition(position);
    const known = byPosition.get(name);
    if (known === undefined) byPosition.set(name, { place: position, eids: new Set([eid]) });
    else known.eids.add(eid);
  };
  for (const { position, eids } of ofKind(records, 'delivered')) {
    const last = eids.at(-1);
    if (last !== undefined) add(position, last);
  }
  for (const { position, eid } of ofKind(records, 'log read')) add(position, eid);

  const partitions = new Map<string, KnownEvent[]>();
  const positions = new Map<string, EventPosition[]>();
  for (const { place: position, eids } of byPosition.values()) {
    const name = partitionName(position);
    const events = partitions.get(name) ?? [];
    partitions.set(name, events);
    for (const eid of eids) {
      events.push({ offset: position.offset, eid });
      positions.set(eid, [...(positions.get(eid) ?? []), position]);
    }
  }
  for (const events of partitions.values()) events.sort((a, b) => a.offset - b.offset);
  for (const found of positions.values()) found.sort((a, b) => a.offset - b.offset);
  return {
    partitions,
    positions,
    conflicts: [...byPosition.values()]
      .filter(({ eids }) => eids.size > 1)
      .map(({ place: position, eids }) => ({ place: position, eids: [...eids] })),
  };
}

/** One event as a consumer received it. */
export interface Delivery {
  readonly at: number;
  readonly subscription: string;
  readonly stream: string;
  readonly eid: string;
  /** Undefined for an event within a batch that was never seen with its offset. */
  readonly offset: number | undefined;
}

/** Every delivered event ordered by time, by {@link partitionName} and subscription. */
export function deliveriesOf(records: readonly HistoryRecord[], log: KnownLog): Map<string, Delivery[]> {
  const deliveries = new Map<string, Delivery[]>();
  for (const { at, subscription, stream, position, eids } of ofKind(records, 'delivered')) {
    const name = deliveryName(subscription, position);
    const list = deliveries.get(name) ?? [];
    deliveries.set(name, list);
    for (const [index, eid] of eids.entries()) {
      const isLast = index === eids.length - 1;
      // An event at two positions is the finding of another checker; here the batch determines which one is meant.
      const offset = isLast ? position.offset : offsetUpTo(log, eid, position);
      list.push({ at, subscription, stream, eid, offset });
    }
  }
  return deliveries;
}

export function deliveryName(subscription: string, position: { eventType: string; partition: number }): string {
  return `${subscription} ${partitionName(position)}`;
}

function offsetUpTo(log: KnownLog, eid: string, { eventType, partition, offset }: EventPosition): number | undefined {
  return log.positions
    .get(eid)
    ?.findLast(
      (position) => position.eventType === eventType && position.partition === partition && position.offset <= offset,
    )?.offset;
}

/** The {@link partitionName} in a {@link deliveryName}. */
export function partitionNameOf(name: string): string {
  return name.slice(name.indexOf(' ') + 1);
}
