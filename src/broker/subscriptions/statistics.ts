import type { Clock } from '../../clock.ts';
import { isLendstreamError } from '../../errors.ts';
import {
  partitionKey,
  type Coordination,
  type EventTypePartition,
  type PartitionOwnership,
  type Topology,
} from '../../ports/coordination.ts';
import { boundsByPartition } from '../cursors/cursor-availability.ts';
import { beforeFirst } from '../cursors/cursor.ts';
import type { EventLog, Offset, PartitionBounds } from '../../ports/event-log.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Subscription } from '../definitions/subscription.ts';

/** Which stream owns which partition, and how far behind the subscription is. */
export interface StatisticsServices {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly log: EventLog;
  readonly clock: Clock;
}

/** As the API shows it (snake_case is the API's). */
export interface EventTypeStatistics {
  readonly event_type: string;
  readonly partitions: readonly PartitionStatistics[];
}

export interface PartitionStatistics {
  readonly partition: string;
  readonly state: 'unassigned' | 'reassigning' | 'assigned';
  /** Absent before the subscription was first streamed, and in the light form. An upper bound on compacted topics. */
  readonly unconsumed_events?: number;
  /** How long ago the first unconsumed event was stored; 0 when there is none. Only on request. */
  readonly consumer_lag_seconds?: number;
  /** Empty when no stream owns the partition. */
  readonly stream_id: string;
  /** Absent when no stream owns the partition. */
  readonly assignment_type?: 'auto' | 'direct';
}

/** Which stream owns which partition. */
export async function subscriptionStatus(
  { registry, coordination }: Pick<StatisticsServices, 'registry' | 'coordination'>,
  subscription: Subscription,
): Promise<EventTypeStatistics[]> {
  const describe = describer(await coordination.topology(subscription.id));
  return byEventType(registry, subscription, (place) => {
    const { state, holder } = describe(place);
    return { partition: String(place.partition), state, ...holder };
  });
}

/**
 * Which stream owns which partition, and how much is not committed.
 * @param showTimeLag Also reads the first unconsumed event of each partition. Lags that cannot be read are left out.
 */
export async function subscriptionStatistics(
  services: StatisticsServices,
  subscription: Subscription,
  showTimeLag: boolean,
): Promise<EventTypeStatistics[]> {
  const { registry, coordination, log } = services;
  const describe = describer(await coordination.topology(subscription.id));
  const backlogs = await backlogsOf(registry, coordination, subscription, (places) => boundsOf(log, places));
  const lags = showTimeLag ? await timeLags(services, backlogs) : new Map<string, number>();
  return byEventType(registry, subscription, (place) => {
    const key = partitionKey(place);
    const { state, holder } = describe(place);
    const backlog = backlogs.get(key);
    const lag = lags.get(key);
    return {
      partition: String(place.partition),
      state,
      ...(backlog === undefined ? {} : { unconsumed_events: backlog.unconsumedEvents }),
      ...(lag === undefined ? {} : { consumer_lag_seconds: lag }),
      ...holder,
    };
  });
}

export interface SubscriptionLag {
  readonly subscriptionId: string;
  readonly eventType: string;
  /** Over all partitions. */
  readonly unconsumedEvents: number;
}

/** How many subscriptions' lags are computed at once: commits must not wait behind a scrape. */
export const lagsAtOnce = 16;

/**
 * How many events each subscription has not committed, per event type; without those that were never streamed. The ends
 * of each event type are requested once.
 */
export async function subscriptionLag(
  services: Pick<StatisticsServices, 'registry' | 'coordination' | 'log'>,
): Promise<SubscriptionLag[]> {
  const { registry, coordination, log } = services;
  const known = new Map<string, ReturnType<BoundsOfPlaces>>();
  const knownBoundsOf: BoundsOfPlaces = async (places) => {
    const eventTypes = [...new Set(places.map(({ eventType }) => eventType))];
    const found = await Promise.all(
      eventTypes.map((eventType) => {
        const ofEventType = places.filter((place) => place.eventType === eventType);
        const bounds = known.get(eventType) ?? boundsOf(log, ofEventType);
        known.set(eventType, bounds);
        return bounds;
      }),
    );
    return new Map(found.flatMap((bounds) => [...bounds]));
  };
  const lags: SubscriptionLag[] = [];
  const next = registry.list<Subscription>('subscription').values();
  const workOff = async (): Promise<void> => {
    for (const subscription of next) {
      const totals = new Map<string, number>();
      const backlogs = await backlogsOf(registry, coordination, subscription, knownBoundsOf);
      for (const { eventType, unconsumedEvents } of backlogs.values()) {
        totals.set(eventType, (totals.get(eventType) ?? 0) + unconsumedEvents);
      }
      for (const [eventType, unconsumedEvents] of totals) {
        lags.push({ subscriptionId: subscription.id, eventType, unconsumedEvents });
      }
    }
  };
  await Promise.all(Array.from({ length: lagsAtOnce }, workOff));
  return lags;
}

type BoundsOfPlaces = (places: readonly EventTypePartition[]) => Promise<ReadonlyMap<string, PartitionBounds>>;

interface Backlog extends EventTypePartition {
  /** The first offset that is not consumed. */
  readonly next: Offset;
  readonly unconsumedEvents: number;
}

/**
 * Empty for a subscription that was never streamed; otherwise partitions without a commit count from their first event.
 */
async function backlogsOf(
  registry: Registry,
  coordination: Coordination,
  subscription: Subscription,
  boundsOfPlaces: BoundsOfPlaces,
): Promise<Map<string, Backlog>> {
  const committed = new Map(
    (await coordination.committedOffsets(subscription.id)).map((place) => [partitionKey(place), place.offset]),
  );
  if (committed.size === 0) return new Map();
  const places = partitionsOfSubscription(registry, subscription);
  const bounds = await boundsOfPlaces(places);
  return new Map(
    places.flatMap((place) => {
      const key = partitionKey(place);
      const held = bounds.get(key);
      if (held === undefined) return [];
      const next = Math.max((committed.get(key) ?? beforeFirst) + 1, held.earliest);
      return [[key, { ...place, next, unconsumedEvents: Math.max(0, held.latest - next) }]];
    }),
  );
}

async function timeLags(
  { log, clock }: Pick<StatisticsServices, 'log' | 'clock'>,
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

function describer(topology: Topology): (place: EventTypePartition) => {
  readonly state: PartitionOwnership['state'];
  readonly holder: Pick<PartitionStatistics, 'stream_id' | 'assignment_type'>;
} {
  const ownerships = new Map(topology.partitions.map((ownership) => [partitionKey(ownership), ownership]));
  const direct = new Set(
    topology.sessions.flatMap(({ streamId, requestedPartitions }) =>
      requestedPartitions.length > 0 ? [streamId] : [],
    ),
  );
  return (place) => {
    const ownership = ownerships.get(partitionKey(place));
    if (ownership === undefined || ownership.streamId === null) {
      return { state: 'unassigned', holder: { stream_id: '' } };
    }
    const { state, streamId } = ownership;
    return {
      state,
      holder: { stream_id: streamId, assignment_type: direct.has(streamId) ? 'direct' : 'auto' },
    };
  };
}

function byEventType(
  registry: Registry,
  subscription: Subscription,
  describe: (place: EventTypePartition) => PartitionStatistics,
): EventTypeStatistics[] {
  const places = partitionsOfSubscription(registry, subscription);
  return subscription.event_types.map((eventType) => ({
    event_type: eventType,
    partitions: places.filter((place) => place.eventType === eventType).map(describe),
  }));
}

/** By event type, then partition. An event type that is no longer defined has none. */
function partitionsOfSubscription(registry: Registry, subscription: Subscription): EventTypePartition[] {
  return subscription.event_types.flatMap((eventType) => {
    const count = registry.get<EventTypeRecord>('event-type', eventType)?.partitionCount ?? 0;
    return Array.from({ length: count }, (_, partition) => ({ eventType, partition }));
  });
}

/** A topic that is being deleted no longer has bounds; the others still have theirs. */
async function boundsOf(log: EventLog, places: readonly EventTypePartition[]): Promise<Map<string, PartitionBounds>> {
  const topics = new Map<string, { topic: string; partition: number }[]>();
  for (const { eventType, partition } of places) {
    const partitions = topics.get(eventType) ?? [];
    topics.set(eventType, partitions);
    partitions.push({ topic: eventType, partition });
  }
  const answers = await Promise.all(
    [...topics.values()].map(async (partitions) => {
      try {
        return await log.bounds(partitions);
      } catch (error) {
        if (isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) return [];
        throw error;
      }
    }),
  );
  return boundsByPartition(answers.flat());
}
