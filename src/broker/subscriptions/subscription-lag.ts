import type { Subscription } from '../definitions/subscription.ts';
import { giveWay, type Clock } from '../../clock.ts';
import { isLendstreamError } from '../../errors.ts';
import type { CommittedOffset, Coordination, OffsetMarks } from '../../ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import { beforeFirst } from '../cursors/cursor-text.ts';
import type { EventLog, Offset, PartitionBounds, TopicPartition } from '../../ports/event-log.ts';
import type { Registry } from '../definitions/registry.ts';
import { EventEnds } from './event-ends.ts';
import { startingOffsets } from './starting-offsets.ts';
import { partitionsOfEventType, partitionsOfSubscription } from './subscription-partitions.ts';

/** What working out a lag needs. */
export interface LagServices {
  readonly clock: Clock;
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly log: EventLog;
}

export interface SubscriptionLag {
  readonly subscriptionId: string;
  readonly eventType: string;
  /** Over all partitions. */
  readonly unconsumedEvents: number;
}

/**
 * How many subscriptions' committed offsets are read at once. A store on the network responds to all of them together,
 * and commits wait behind no more.
 */
const lagGroupSize = 1_024;

/**
 * After this time all offsets are read again, for unforeseen cases: a cursor may have moved without a mark.
 * Milliseconds.
 */
const rereadMilliseconds = 300_000;

/** How many partitions are looked at at once for the ends of their events. */
const concurrentLookUps = 32;

/** How many subscriptions' lags are put together in one turn of the event loop. */
const subscriptionsPerTurn = 10_000;

/** How long computing lags may keep everything else of the process waiting. Milliseconds. */
const sliceMilliseconds = 10;

/** The lags of all subscriptions, with what has to be remembered to work them out again. */
export interface KnownLags {
  /** By subscription, in the order of the registry; an element that did not change is the same object as before. */
  readonly lags: readonly SubscriptionLag[];
  readonly subscriptions: readonly Subscription[];
  /** Where the lags of each subscription begin in {@link lags}; those of the next one begin where they end. */
  readonly starts: Uint32Array;
  readonly boundsByEventType: ReadonlyMap<string, readonly PartitionBounds[]>;
  readonly eventEnds: EventEnds;
  readonly marks: OffsetMarks;
  /** The state of the registry from which the subscriptions and their partitions are. */
  readonly registryVersion: string;
  /** All partitions of their event types. */
  readonly partitions: readonly EventTypePartition[];
  /** Whether any of them lacks something. */
  readonly areLacking: boolean;
  /** When all offsets were last read. Monotonic milliseconds. */
  readonly readAt: number;
}

/**
 * How many events each subscription has not committed, per event type. One that was never streamed lacks the events
 * from where it would begin. The ends of each event type are requested once.
 * @param known What was worked out before. Subscriptions that lacked nothing then are not read again as long as their
 *   event types have no new events and their cursors were not reset; when nothing changed, the lags are the same list.
 * @param groupSize How many subscriptions are read at once. Default {@link lagGroupSize}.
 */
export async function subscriptionLag(
  services: LagServices,
  known?: KnownLags,
  groupSize = lagGroupSize,
): Promise<KnownLags> {
  const { registry, coordination, clock } = services;
  const now = clock.monotonic();
  const reusable = known === undefined || now - known.readAt > rereadMilliseconds ? undefined : known;
  // Read before everything else: a reset meanwhile then shows the next time.
  const marks = await coordination.offsetMarks();
  const { version: registryVersion } = registry;
  const isSameRegistry = reusable?.registryVersion === registryVersion;
  const subscriptions = isSameRegistry ? reusable.subscriptions : registry.list<Subscription>('subscription');
  const eventTypes = isSameRegistry ? [...reusable.boundsByEventType.keys()] : [...eventTypesOf(subscriptions)];
  const partitions = isSameRegistry
    ? reusable.partitions
    : eventTypes.flatMap((name) => partitionsOfEventType(registry, name));
  const boundsByEventType = await readBounds(services.log, partitions, eventTypes);
  if (isSameRegistry && !reusable.areLacking && marks.all === reusable.marks.all) {
    // At rest nothing is done for each subscription: with ten thousand of them that would be most of what is done.
    const isQuiet = [...boundsByEventType].every(([eventType, bounds]) =>
      haveSameEnds(bounds, reusable.boundsByEventType.get(eventType)),
    );
    if (isQuiet) return { ...reusable, boundsByEventType, marks };
  }
  const reused = reusable === undefined ? undefined : new ReusedLags(reusable, boundsByEventType, marks, subscriptions);
  const toRead: number[] = [];
  for (let index = 0; index < subscriptions.length; index += 1) {
    if (reused?.isUnchanged(subscriptions[index] as Subscription, index) !== true) toRead.push(index);
  }
  if (reusable !== undefined && toRead.length === 0 && subscriptions.length === reusable.subscriptions.length) {
    return { ...reusable, subscriptions, boundsByEventType, marks, registryVersion, partitions };
  }
  const eventEnds = reusable?.eventEnds ?? new EventEnds(services.log);
  const read = new Map<number, readonly SubscriptionLag[]>();
  let sliceEnd = clock.monotonic() + sliceMilliseconds;
  for (let first = 0; first < toRead.length; first += groupSize) {
    const group = toRead.slice(first, first + groupSize);
    const committed = await Promise.all(
      group.map((index) => coordination.committedOffsets((subscriptions[index] as Subscription).id)),
    );
    const lacking = group.map((index, place) =>
      lackingOf(subscriptions[index] as Subscription, committed[place] ?? [], boundsByEventType),
    );
    await lookUpEnds(
      eventEnds,
      lacking.flatMap((eventTypes) => eventTypes.flatMap(({ partitions: some }) => some)),
    );
    for (const [place, index] of group.entries()) {
      const { id } = subscriptions[index] as Subscription;
      const lags = (lacking[place] ?? []).map(({ eventType, partitions: some }) => {
        const unconsumedEvents = some.reduce((sum, { next, bounds }) => sum + eventEnds.eventsFrom(next, bounds), 0);
        return { subscriptionId: id, eventType, unconsumedEvents };
      });
      read.set(index, lags);
    }
    // On one machine nothing above waits for anything outside this process.
    if (clock.monotonic() < sliceEnd) continue;
    await giveWay();
    sliceEnd = clock.monotonic() + sliceMilliseconds;
  }
  const lags: SubscriptionLag[] = [];
  const starts = new Uint32Array(subscriptions.length);
  for (const [index, subscription] of subscriptions.entries()) {
    starts[index] = lags.length;
    lags.push(...(read.get(index) ?? reused?.of(subscription, index) ?? []));
    if ((index + 1) % subscriptionsPerTurn === 0) await giveWay();
  }
  const readAt = reusable?.readAt ?? now;
  const areLacking = lags.some(({ unconsumedEvents }) => unconsumedEvents > 0);
  return {
    lags,
    subscriptions,
    starts,
    boundsByEventType,
    eventEnds,
    marks,
    registryVersion,
    partitions,
    areLacking,
    readAt,
  };
}

/** The lags that were worked out before and are still the same. */
class ReusedLags {
  readonly #known: KnownLags;
  readonly #marks: OffsetMarks;
  readonly #areMarksUnchanged: boolean;
  /** The event types without new events. */
  readonly #quiet = new Set<string>();
  /** Where a subscription was before; undefined while each is where it was. */
  #places: ReadonlyMap<Subscription, number> | undefined;

  constructor(
    known: KnownLags,
    boundsByEventType: ReadonlyMap<string, readonly PartitionBounds[]>,
    marks: OffsetMarks,
    subscriptions: readonly Subscription[],
  ) {
    this.#known = known;
    this.#marks = marks;
    this.#areMarksUnchanged = marks.all === known.marks.all;
    for (const [eventType, bounds] of boundsByEventType) {
      if (haveSameEnds(bounds, known.boundsByEventType.get(eventType))) this.#quiet.add(eventType);
    }
    if (subscriptions.some((subscription, index) => subscription !== known.subscriptions[index])) {
      this.#places = new Map(known.subscriptions.map((subscription, index) => [subscription, index]));
    }
  }

  /** Whether the subscription lacked nothing, and nothing was added that it could lack. */
  isUnchanged(subscription: Subscription, index: number): boolean {
    const { id, event_types: eventTypes } = subscription;
    const place = this.#placeOf(subscription, index);
    if (place === undefined) return false;
    if (!this.#areMarksUnchanged && this.#marks.of(id) !== this.#known.marks.of(id)) return false;
    for (const eventType of eventTypes) if (!this.#quiet.has(eventType)) return false;
    const end = this.#endOf(place);
    for (let each = this.#known.starts[place] as number; each < end; each += 1) {
      if (this.#known.lags[each]?.unconsumedEvents !== 0) return false;
    }
    return true;
  }

  of(subscription: Subscription, index: number): readonly SubscriptionLag[] {
    const place = this.#placeOf(subscription, index);
    return place === undefined ? [] : this.#known.lags.slice(this.#known.starts[place], this.#endOf(place));
  }

  #placeOf(subscription: Subscription, index: number): number | undefined {
    if (this.#places !== undefined) return this.#places.get(subscription);
    return index < this.#known.subscriptions.length ? index : undefined;
  }

  #endOf(place: number): number {
    return this.#known.starts[place + 1] ?? this.#known.lags.length;
  }
}

/** Whether nothing was appended between two looks at the partitions of an event type. */
function haveSameEnds(bounds: readonly PartitionBounds[], before: readonly PartitionBounds[] | undefined): boolean {
  if (before?.length !== bounds.length) return false;
  return bounds.every(({ partition, latest }, index) => {
    const ofPartition = before[index];
    return ofPartition?.partition === partition && ofPartition.latest === latest;
  });
}

/** A partition with something behind the committed offset of a subscription. */
interface LackingPartition {
  /** The first offset that is not consumed. */
  readonly next: Offset;
  readonly bounds: PartitionBounds;
}

/** The partitions of an event type that have something behind the committed offsets of a subscription. */
interface LackingEventType {
  readonly eventType: string;
  readonly partitions: readonly LackingPartition[];
}

/**
 * What each event type of a subscription has behind its committed offsets. One whose topic no longer exists is left
 * out.
 */
function lackingOf(
  subscription: Subscription,
  committed: readonly CommittedOffset[],
  boundsByEventType: ReadonlyMap<string, readonly PartitionBounds[]>,
): LackingEventType[] {
  const lacking: LackingEventType[] = [];
  for (const eventType of subscription.event_types) {
    const bounds = boundsByEventType.get(eventType) ?? [];
    if (bounds.length === 0) continue;
    const offsets = committed.length === 0 ? startingOffsets(subscription, bounds, []) : committed;
    lacking.push({ eventType, partitions: partitionsAfter(offsets, eventType, bounds) });
  }
  return lacking;
}

function partitionsAfter(
  committed: readonly CommittedOffset[],
  eventType: string,
  bounds: readonly PartitionBounds[],
): LackingPartition[] {
  const offsets: Offset[] = [];
  for (const { eventType: committedType, partition, offset } of committed) {
    if (committedType === eventType) offsets[partition] = offset;
  }
  const lacking: LackingPartition[] = [];
  for (const partitionBounds of bounds) {
    const next = nextOffset(offsets[partitionBounds.partition], partitionBounds);
    if (next < partitionBounds.latest) lacking.push({ next, bounds: partitionBounds });
  }
  return lacking;
}

/** Looks up where the events of those partitions end that may lack nothing. */
async function lookUpEnds(ends: EventEnds, lacking: readonly LackingPartition[]): Promise<void> {
  const unknown = lacking.filter(({ next, bounds }) => ends.isUnknownFrom(next, bounds)).map(({ bounds }) => bounds);
  // Partitions of several subscriptions are the same objects.
  const waiting = new Set(unknown).values();
  await Promise.all(
    Array.from({ length: concurrentLookUps }, async () => {
      for (const bounds of waiting) await ends.lookUp(bounds);
    }),
  );
}

function eventTypesOf(subscriptions: readonly Subscription[]): ReadonlySet<string> {
  const eventTypes = new Set<string>();
  for (const { event_types: names } of subscriptions) for (const name of names) eventTypes.add(name);
  return eventTypes;
}

/** The bounds of the partitions of event types. A topic that no longer exists has none. */
async function readBounds(
  log: EventLog,
  partitions: readonly EventTypePartition[],
  eventTypes: readonly string[],
): Promise<Map<string, readonly PartitionBounds[]>> {
  const found = new Map<string, PartitionBounds[]>(eventTypes.map((name) => [name, []]));
  if (partitions.length === 0) return found;
  for (const bounds of (await boundsOf(log, partitions)).values()) found.get(bounds.topic)?.push(bounds);
  return found;
}

/** The first offset that is not consumed, after a committed one, if there is one. */
function nextOffset(committed: Offset | undefined, { earliest }: PartitionBounds): Offset {
  return Math.max((committed ?? beforeFirst) + 1, earliest);
}

/**
 * Partitions without a commit count from their first event, and those of a subscription that was never streamed from
 * where it would begin.
 */
export async function backlogsOf(
  { registry, coordination, log }: Omit<LagServices, 'clock'>,
  subscription: Subscription,
): Promise<Map<string, Backlog>> {
  const known = await coordination.committedOffsets(subscription.id);
  const partitions = partitionsOfSubscription(registry, subscription);
  const bounds = await boundsOf(log, partitions);
  const offsets = known.length === 0 ? startingOffsets(subscription, [...bounds.values()], []) : known;
  const committed = new Map(offsets.map((partition) => [partitionKey(partition), partition.offset]));
  const found = partitions.flatMap((partition) => {
    const key = partitionKey(partition);
    const ofPartition = bounds.get(key);
    if (ofPartition === undefined) return [];
    return [{ partition, next: nextOffset(committed.get(key), ofPartition), bounds: ofPartition }];
  });
  const ends = new EventEnds(log);
  await lookUpEnds(ends, found);
  return new Map(
    found.map(({ partition, next, bounds: ofPartition }) => [
      partitionKey(partition),
      { ...partition, next, unconsumedEvents: ends.eventsFrom(next, ofPartition) },
    ]),
  );
}

/** A topic that is being deleted no longer has bounds; the others still have theirs. */
export async function boundsOf(
  log: EventLog,
  eventTypePartitions: readonly EventTypePartition[],
): Promise<Map<string, PartitionBounds>> {
  const partitions = eventTypePartitions.map(({ eventType, partition }) => ({ topic: eventType, partition }));
  const all = await boundsIfKnown(log, partitions);
  if (all !== undefined) return boundsByPartition(all);
  const byTopic = new Map<string, TopicPartition[]>();
  for (const topicPartition of partitions) {
    const ofTopic = byTopic.get(topicPartition.topic) ?? [];
    byTopic.set(topicPartition.topic, ofTopic);
    ofTopic.push(topicPartition);
  }
  const found = await Promise.all([...byTopic.values()].map((ofTopic) => boundsIfKnown(log, ofTopic)));
  return boundsByPartition(found.flatMap((bounds) => bounds ?? []));
}

/** Undefined when one of the partitions does not exist. */
async function boundsIfKnown(
  log: EventLog,
  partitions: readonly TopicPartition[],
): Promise<PartitionBounds[] | undefined> {
  try {
    return await log.bounds(partitions);
  } catch (error) {
    if (isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) return undefined;
    throw error;
  }
}

/** What of a partition is not committed. */
export interface Backlog extends EventTypePartition {
  /** The first offset that is not consumed. */
  readonly next: Offset;
  readonly unconsumedEvents: number;
}

/**
 * How long ago the first unconsumed event of each partition was stored. Seconds, by partition key; 0 when there is
 * none. Lags that cannot be read are left out.
 */
export async function timeLags(
  { log, clock }: { readonly log: EventLog; readonly clock: Clock },
  backlogs: ReadonlyMap<string, Backlog>,
): Promise<Map<string, number>> {
  const entries = await Promise.all(
    [...backlogs].map(async ([key, { eventType, partition, next, unconsumedEvents }]) => {
      if (unconsumedEvents === 0) return [[key, 0] as const];
      try {
        const from = { topic: eventType, partition, offset: next };
        const { batches } = await log.read(from, { bytesMaximum: 1, waitMilliseconds: 0 });
        const appendedAt = batches[0]?.appendedAt;
        if (appendedAt === undefined) return [];
        return [[key, Math.max(0, Math.floor((clock.now() - appendedAt) / 1000))] as const];
      } catch (error) {
        // Expired or deleted since the backlog was counted: this partition's lag is left out, as documented.
        if (isLendstreamError(error, 'OFFSET_OUT_OF_RANGE') || isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) {
          return [];
        }
        throw error;
      }
    }),
  );
  return new Map(entries.flat());
}
