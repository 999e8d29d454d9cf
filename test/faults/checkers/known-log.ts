import { ofKind, type HistoryRecord, type Place } from '../history.ts';

/** What the history tells about the log: which event lies where. Everything that was ever seen counts. */
export interface KnownLog {
  /** By {@link partitionName}: the events by offset, ascending. */
  readonly partitions: ReadonlyMap<string, readonly KnownEvent[]>;
  /** By eid: the places where it was seen, in order of offset. One, unless something is wrong. */
  readonly places: ReadonlyMap<string, readonly Place[]>;
  /** Places at which different events were seen. */
  readonly conflicts: readonly { readonly place: Place; readonly eids: readonly string[] }[];
}

export interface KnownEvent {
  readonly offset: number;
  readonly eid: string;
}

export function partitionName({ eventType, partition }: { eventType: string; partition: number }): string {
  return `${eventType}/${partition}`;
}

export function describePlace(place: Place): string {
  return `${partitionName(place)}@${place.offset}`;
}

/**
 * Collects the places of events from batches of one event, from the last events of larger ones, and from reading the
 * log.
 */
export function knownLogOf(records: readonly HistoryRecord[]): KnownLog {
  const atPlace = new Map<string, { place: Place; eids: Set<string> }>();
  const add = (place: Place, eid: string): void => {
    const name = describePlace(place);
    const known = atPlace.get(name);
    if (known === undefined) atPlace.set(name, { place, eids: new Set([eid]) });
    else known.eids.add(eid);
  };
  for (const { place, eids } of ofKind(records, 'delivered')) {
    const last = eids.at(-1);
    if (last !== undefined) add(place, last);
  }
  for (const { place, eid } of ofKind(records, 'log read')) add(place, eid);

  const partitions = new Map<string, KnownEvent[]>();
  const places = new Map<string, Place[]>();
  for (const { place, eids } of atPlace.values()) {
    const name = partitionName(place);
    const events = partitions.get(name) ?? [];
    partitions.set(name, events);
    for (const eid of eids) {
      events.push({ offset: place.offset, eid });
      places.set(eid, [...(places.get(eid) ?? []), place]);
    }
  }
  for (const events of partitions.values()) events.sort((a, b) => a.offset - b.offset);
  for (const found of places.values()) found.sort((a, b) => a.offset - b.offset);
  return {
    partitions,
    places,
    conflicts: [...atPlace.values()]
      .filter(({ eids }) => eids.size > 1)
      .map(({ place, eids }) => ({ place, eids: [...eids] })),
  };
}

/** One event as it reached a consumer. */
export interface Delivery {
  readonly at: number;
  readonly subscription: string;
  readonly stream: string;
  readonly eid: string;
  /** Undefined for an event within a batch that was never seen with its offset. */
  readonly offset: number | undefined;
}

/** Every delivered event in order of time, by {@link partitionName} and subscription. */
export function deliveriesOf(records: readonly HistoryRecord[], log: KnownLog): Map<string, Delivery[]> {
  const deliveries = new Map<string, Delivery[]>();
  for (const { at, subscription, stream, place, eids } of ofKind(records, 'delivered')) {
    const name = deliveryName(subscription, place);
    const list = deliveries.get(name) ?? [];
    deliveries.set(name, list);
    for (const [index, eid] of eids.entries()) {
      const isLast = index === eids.length - 1;
      // An event that lies at two places is another checker's finding; here the batch decides which one is meant.
      const offset = isLast ? place.offset : placeUpTo(log, eid, place);
      list.push({ at, subscription, stream, eid, offset });
    }
  }
  return deliveries;
}

export function deliveryName(subscription: string, place: { eventType: string; partition: number }): string {
  return `${subscription} ${partitionName(place)}`;
}

function placeUpTo(log: KnownLog, eid: string, { eventType, partition, offset }: Place): number | undefined {
  return log.places
    .get(eid)
    ?.findLast((place) => place.eventType === eventType && place.partition === partition && place.offset <= offset)
    ?.offset;
}

/** The {@link partitionName} in a {@link deliveryName}. */
export function partitionNameOf(name: string): string {
  return name.slice(name.indexOf(' ') + 1);
}
