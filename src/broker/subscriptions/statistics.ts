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
import { beforeFirst } from '../cursors/cursor-text.ts';
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
  const describe = ownershipDescriber(await coordination.topology(subscription.id));
  return byEventType(registry, subscription, (partition) => {
    const { state, owner } = describe(partition);
    return { partition: String(partition.partition), state, ...owner };
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
  const describe = ownershipDescriber(await coordination.topology(subscription.id));
  const backlogs = await backlogsOf(registry, coordination, subscription, (partitions) => boundsOf(log, partitions));
  const lags = showTimeLag ? await timeLags(services, backlogs) : new Map<string, number>();
  return byEventType(registry, subscription, (partition) => {
    const key = partitionKey(partition);
    const { state, owner } = describe(partition);
    const backlog = backlogs.get(key);
    const lag = lags.get(key);
    return {
      partition: String(partition.partition),
      state,
      ...(backlog === undefined ? {} : { unconsumed_events: backlog.unconsumedEvents }),
      ...(lag === undefined ? {} : { consumer_lag_seconds: lag }),
      ...owner,
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
export const lagConcurrency = 16;

/**
 * How many events each subscription has not committed, per event type; without those that were never streamed. The ends
 * of each event type are requested once.
 */
export async function subscriptionLag(
  services: Pick<StatisticsServices, 'registry' | 'coordination' | 'log'>,
): Promise<SubscriptionLag[]> {
  const { registry, coordination, log } = services;
  const known = new Map<string, ReturnType<ReadBounds>>();
  const readBoundsOnce: ReadBounds = async (partitions) => {
    const eventTypes = [...new Set(partitions.map(({ eventType }) => eventType))];
    const found = await Promise.all(
      eventTypes.map((eventType) => {
        const partitionsOfEventType = partitions.filter((partition) => partition.eventType === eventType);
        const bounds = known.get(eventType) ?? boundsOf(log, partitionsOfEventType);
        known.set(eventType, bounds);
        return bounds;
      }),
    );
    return new Map(found.flatMap((bounds) => [...bounds]));
  };
  const lags: SubscriptionLag[] = [];
  const next = registry.list<Subscription>('subscription').values();
  const computeLags = async (): Promise<void> => {
    for (const subscription of next) {
      const totals = new Map<string, number>();
      const backlogs = await backlogsOf(registry, coordination, subscription, readBoundsOnce);
      for (const { eventType, unconsumedEvents } of backlogs.values()) {
        totals.set(eventType, (totals.get(eventType) ?? 0) + unconsumedEvents);
      }
      for (const [eventType, unconsumedEvents] of totals) {
        lags.push({ subscriptionId: subscription.id, eventType, unconsumedEvents });
      }
    }
  };
  await Promise.all(Array.from({ length: lagConcurrency }, computeLags));
  return lags;
}

type ReadBounds = (partitions: readonly EventTypePartition[]) => Promise<ReadonlyMap<string, PartitionBounds>>;

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
  readBounds: ReadBounds,
): Promise<Map<string, Backlog>> {
  const committed = new Map(
    (await coordination.committedOffsets(subscription.id)).map((partition) => [
      partitionKey(partition),
      partition.offset,
    ]),
  );
  if (committed.size === 0) return new Map();
  const partitions = partitionsOfSubscription(registry, subscription);
  const bounds = await readBounds(partitions);
  return new Map(
    partitions.flatMap((partition) => {
      const key = partitionKey(partition);
      const partitionBounds = bounds.get(key);
      if (partitionBounds === undefined) return [];
      const next = Math.max((committed.get(key) ?? beforeFirst) + 1, partitionBounds.earliest);
      return [[key, { ...partition, next, unconsumedEvents: Math.max(0, partitionBounds.latest - next) }]];
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

function ownershipDescriber(topology: Topology): (partition: EventTypePartition) => {
  readonly state: PartitionOwnership['state'];
  readonly owner: Pick<PartitionStatistics, 'stream_id' | 'assignment_type'>;
} {
  const ownerships = new Map(topology.partitions.map((ownership) => [partitionKey(ownership), ownership]));
  const direct = new Set(
    topology.sessions.flatMap(({ streamId, requestedPartitions }) =>
      requestedPartitions.length > 0 ? [streamId] : [],
    ),
  );
  return (partition) => {
    const ownership = ownerships.get(partitionKey(partition));
    if (ownership === undefined || ownership.streamId === null) {
      return { state: 'unassigned', owner: { stream_id: '' } };
    }
    const { state, streamId } = ownership;
    return {
      state,
      owner: { stream_id: streamId, assignment_type: direct.has(streamId) ? 'direct' : 'auto' },
    };
  };
}

function byEventType(
  registry: Registry,
  subscription: Subscription,
  describe: (partition: EventTypePartition) => PartitionStatistics,
): EventTypeStatistics[] {
  const partitions = partitionsOfSubscription(registry, subscription);
  return subscription.event_types.map((eventType) => ({
    event_type: eventType,
    partitions: partitions.filter((partition) => partition.eventType === eventType).map(describe),
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
async function boundsOf(
  log: EventLog,
  eventTypePartitions: readonly EventTypePartition[],
): Promise<Map<string, PartitionBounds>> {
  const topics = new Map<string, { topic: string; partition: number }[]>();
  for (const { eventType, partition } of eventTypePartitions) {
    const partitions = topics.get(eventType) ?? [];
    topics.set(eventType, partitions);
    partitions.push({ topic: eventType, partition });
  }
  const boundsOfTopics = await Promise.all(
    [...topics.values()].map(async (partitions) => {
      try {
        return await log.bounds(partitions);
      } catch (error) {
        if (isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION')) return [];
        throw error;
      }
    }),
  );
  return boundsByPartition(boundsOfTopics.flat());
}
