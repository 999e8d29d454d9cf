import type { Subscription } from '../definitions/subscription.ts';
import { giveWay, type Clock } from '../../clock.ts';
import { isLendstreamError } from '../../errors.ts';
import type { Coordination } from '../../ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import { beforeFirst } from '../cursors/cursor-text.ts';
import type { EventLog, PartitionBounds, Offset } from '../../ports/event-log.ts';
import type { Registry } from '../definitions/registry.ts';
import { partitionsOfSubscription } from './subscription-partitions.ts';

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

/** How many subscriptions' lags are computed at once: commits must not wait behind a scrape. */
export const lagConcurrency = 16;

/** How long computing lags may keep everything else of the process waiting. Milliseconds. */
const sliceMilliseconds = 10;

/**
 * How many events each subscription has not committed, per event type; without those that were never streamed. The ends
 * of each event type are requested once.
 */
export async function subscriptionLag(services: LagServices): Promise<SubscriptionLag[]> {
  const { registry, coordination, log, clock } = services;
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
  let sliceEnd = clock.monotonic() + sliceMilliseconds;
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
      // On one machine nothing above waits for anything outside this process.
      if (clock.monotonic() < sliceEnd) continue;
      await giveWay();
      sliceEnd = clock.monotonic() + sliceMilliseconds;
    }
  };
  await Promise.all(Array.from({ length: lagConcurrency }, computeLags));
  return lags;
}

/** Returns the bounds of partitions by their keys. */
export type ReadBounds = (partitions: readonly EventTypePartition[]) => Promise<ReadonlyMap<string, PartitionBounds>>;

/**
 * Empty for a subscription that was never streamed; otherwise partitions without a commit count from their first event.
 */
export async function backlogsOf(
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

/** A topic that is being deleted no longer has bounds; the others still have theirs. */
export async function boundsOf(
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
