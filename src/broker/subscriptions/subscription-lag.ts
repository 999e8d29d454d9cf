import type { Subscription } from '../definitions/subscription.ts';
import { giveWay, type Clock } from '../../clock.ts';
import { isLendstreamError } from '../../errors.ts';
import type { CommittedOffset, Coordination } from '../../ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import { beforeFirst } from '../cursors/cursor-text.ts';
import type { EventLog, Offset, PartitionBounds, TopicPartition } from '../../ports/event-log.ts';
import type { Registry } from '../definitions/registry.ts';
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
 * and commits wait behind no more. The ends of their event types are one request.
 */
const lagGroupSize = 256;

/** How long computing lags may keep everything else of the process waiting. Milliseconds. */
const sliceMilliseconds = 10;

/**
 * How many events each subscription has not committed, per event type. One that was never streamed lacks the events
 * from where it would begin. The ends of each event type are requested once.
 * @param groupSize How many subscriptions are read at once. Default {@link lagGroupSize}.
 */
export async function subscriptionLag(services: LagServices, groupSize = lagGroupSize): Promise<SubscriptionLag[]> {
  const { registry, coordination, clock } = services;
  const subscriptions = registry.list<Subscription>('subscription');
  const boundsByEventType = new Map<string, readonly PartitionBounds[]>();
  const lags: SubscriptionLag[] = [];
  let sliceEnd = clock.monotonic() + sliceMilliseconds;
  for (let first = 0; first < subscriptions.length; first += groupSize) {
    const group = subscriptions.slice(first, first + groupSize);
    const committed = await Promise.all(group.map(({ id }) => coordination.committedOffsets(id)));
    await readMissingBounds(services, group, boundsByEventType);
    for (const [index, subscription] of group.entries()) {
      const known = committed[index] ?? [];
      for (const eventType of subscription.event_types) {
        const bounds = boundsByEventType.get(eventType) ?? [];
        if (bounds.length === 0) continue;
        const offsets = known.length === 0 ? startingOffsets(subscription, bounds, []) : known;
        lags.push({
          subscriptionId: subscription.id,
          eventType,
          unconsumedEvents: totalAfter(offsets, eventType, bounds),
        });
      }
    }
    // On one machine nothing above waits for anything outside this process.
    if (clock.monotonic() < sliceEnd) continue;
    await giveWay();
    sliceEnd = clock.monotonic() + sliceMilliseconds;
  }
  return lags;
}

/** Adds the bounds of event types that are not known yet. A topic that no longer exists has none. */
async function readMissingBounds(
  { registry, log }: Pick<LagServices, 'registry' | 'log'>,
  subscriptions: readonly Subscription[],
  known: Map<string, readonly PartitionBounds[]>,
): Promise<void> {
  const missing: EventTypePartition[] = [];
  for (const { event_types: eventTypes } of subscriptions) {
    for (const eventType of eventTypes) {
      if (known.has(eventType)) continue;
      known.set(eventType, []);
      missing.push(...partitionsOfEventType(registry, eventType));
    }
  }
  if (missing.length === 0) return;
  const found = new Map<string, PartitionBounds[]>();
  for (const bounds of (await boundsOf(log, missing)).values()) {
    const ofEventType = found.get(bounds.topic);
    if (ofEventType === undefined) found.set(bounds.topic, [bounds]);
    else ofEventType.push(bounds);
  }
  for (const [eventType, bounds] of found) known.set(eventType, bounds);
}

/** The events of one event type after the committed offsets of a subscription. */
function totalAfter(
  committed: readonly CommittedOffset[],
  eventType: string,
  bounds: readonly PartitionBounds[],
): number {
  const offsets: Offset[] = [];
  for (const { eventType: committedType, partition, offset } of committed) {
    if (committedType === eventType) offsets[partition] = offset;
  }
  let total = 0;
  for (const partitionBounds of bounds) {
    total += eventsFrom(nextOffset(offsets[partitionBounds.partition], partitionBounds), partitionBounds);
  }
  return total;
}

/** The first offset that is not consumed, after a committed one, if there is one. */
function nextOffset(committed: Offset | undefined, { earliest }: PartitionBounds): Offset {
  return Math.max((committed ?? beforeFirst) + 1, earliest);
}

function eventsFrom(next: Offset, { latest }: PartitionBounds): number {
  return Math.max(0, latest - next);
}

/** Returns the bounds of partitions by their keys. */
export type ReadBounds = (partitions: readonly EventTypePartition[]) => Promise<ReadonlyMap<string, PartitionBounds>>;

/**
 * Partitions without a commit count from their first event, and those of a subscription that was never streamed from
 * where it would begin.
 */
export async function backlogsOf(
  registry: Registry,
  coordination: Coordination,
  subscription: Subscription,
  readBounds: ReadBounds,
): Promise<Map<string, Backlog>> {
  const known = await coordination.committedOffsets(subscription.id);
  const partitions = partitionsOfSubscription(registry, subscription);
  const bounds = await readBounds(partitions);
  const offsets = known.length === 0 ? startingOffsets(subscription, [...bounds.values()], []) : known;
  const committed = new Map(offsets.map((partition) => [partitionKey(partition), partition.offset]));
  return new Map(
    partitions.flatMap((partition) => {
      const key = partitionKey(partition);
      const partitionBounds = bounds.get(key);
      if (partitionBounds === undefined) return [];
      const next = nextOffset(committed.get(key), partitionBounds);
      return [[key, { ...partition, next, unconsumedEvents: eventsFrom(next, partitionBounds) }]];
    }),
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
