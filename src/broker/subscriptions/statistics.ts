import type { Clock } from '../../clock.ts';
import type { Coordination, PartitionOwnership, Topology } from '../../ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import type { EventLog, Offset } from '../../ports/event-log.ts';
import type { FailureRecord } from '../../ports/failed-deliveries.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Subscription } from '../definitions/subscription.ts';
import { backlogsOf, timeLags } from './subscription-lag.ts';
import { partitionsOfSubscription } from './subscription-partitions.ts';

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
  /** Absent in the light form. An upper bound on compacted topics. */
  readonly unconsumed_events?: number;
  /** How long ago the first unconsumed event was stored; 0 when there is none. Only on request. */
  readonly consumer_lag_seconds?: number;
  /** Only while the next event has failed, with a policy for such events. Not in the light form. */
  readonly failed_deliveries?: FailedDeliveryStatistics;
  /** Empty when no stream owns the partition. */
  readonly stream_id: string;
  /** Absent when no stream owns the partition. */
  readonly assignment_type?: 'auto' | 'direct';
}

export interface FailedDeliveryStatistics {
  /** How many streams in a row ended without the commit of the next event. */
  readonly failures: number;
  /** Whether events are sent one by one, to find the one that fails. */
  readonly one_by_one: boolean;
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
  const { registry, coordination } = services;
  const topology = await coordination.topology(subscription.id);
  const describe = ownershipDescriber(topology);
  const records = new Map(topology.partitions.map((ownership) => [partitionKey(ownership), ownership.failureRecord]));
  const backlogs = await backlogsOf(services, subscription);
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
      ...failedDeliveries(records.get(key), backlog?.next),
      ...owner,
    };
  });
}

/** @param next The first offset that is not committed. A record about an earlier one is out of date. */
function failedDeliveries(
  record: FailureRecord | undefined,
  next: Offset | undefined,
): Pick<PartitionStatistics, 'failed_deliveries'> {
  if (record === undefined || next === undefined) return {};
  const failures = record.firstOffset >= next ? record.failures : 0;
  const isSearching = record.isOneByOne && record.throughOffset >= next;
  return failures > 0 || isSearching ? { failed_deliveries: { failures, one_by_one: isSearching } } : {};
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
