import { LendstreamError } from '../../errors.ts';
import {
  describePartitions,
  partitionKey,
  type CommittedOffset,
  type Coordination,
  type Session,
  type Topology,
} from '../../ports/coordination.ts';
import { beyondEndReason, boundsByPartition } from '../cursors/cursor-availability.ts';
import { beforeFirst, parseOffset } from '../cursors/cursor-text.ts';
import type { EventLog, PartitionBounds } from '../../ports/event-log.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import { rebalance } from './rebalance.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Subscription } from '../definitions/subscription.ts';

/**
 * How a stream gets its partitions: where a subscription starts, which streams may open, and how open streams share.
 */

/** How often a lost race for the topology is repeated before the stream waits for the next change. */
const rebalanceAttemptsMaximum = 10;

/**
 * The subscription's event types with the number of partitions each has now.
 * @throws NOT_FOUND when one of them is no longer defined
 */
export function partitionCounts(registry: Registry, subscription: Subscription): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of subscription.event_types) {
    const record = registry.get<EventTypeRecord>('event-type', name);
    if (record === undefined) throw new LendstreamError('NOT_FOUND', `EventType "${name}" does not exist.`);
    counts.set(name, record.partitionCount);
  }
  return counts;
}

/**
 * Where partitions without a committed offset begin.
 *
 * A subscription that never streamed starts where its definition says: at the oldest event held, at the end, or after
 * its initial cursors. Partitions that came later start at their first event, so that no event published to them is
 * missed.
 *
 * @param bounds Of every partition of the subscription.
 * @param committed The offsets that are known already.
 */
export function startingOffsets(
  subscription: Subscription,
  bounds: readonly PartitionBounds[],
  committed: readonly CommittedOffset[],
): CommittedOffset[] {
  const known = new Set(committed.map(partitionKey));
  const readFrom = known.size === 0 ? subscription.read_from : 'begin';
  const initialOffsets = new Map(
    subscription.initial_cursors.map((cursor) => [
      partitionKey({ eventType: cursor.event_type, partition: Number(cursor.partition) }),
      parseOffset(cursor.offset),
    ]),
  );
  return bounds.flatMap(({ topic, partition, earliest, latest }) => {
    const eventTypePartition = { eventType: topic, partition };
    if (known.has(partitionKey(eventTypePartition))) return [];
    if (readFrom === 'end') return [{ eventType: topic, partition, offset: latest - 1 }];
    const initial =
      readFrom === 'cursors' ? (initialOffsets.get(partitionKey(eventTypePartition)) ?? beforeFirst) : beforeFirst;
    return [{ eventType: topic, partition, offset: initial === beforeFirst ? earliest - 1 : initial }];
  });
}

/**
 * Registers every partition of the subscription with the coordination store, each with an offset to start after.
 * Streams may do so at the same time; the first one's offsets count.
 *
 * @throws PRECONDITION_FAILED when a position lies beyond the end of the log
 */
export async function initialisePartitions(
  log: EventLog,
  coordination: Coordination,
  subscription: Subscription,
  eventTypes: ReadonlyMap<string, number>,
): Promise<void> {
  const partitions = [...eventTypes].flatMap(([topic, count]) =>
    Array.from({ length: count }, (_, partition) => ({ topic, partition })),
  );
  const committed = await coordination.committedOffsets(subscription.id);
  const bounds = await log.bounds(partitions);
  const start = startingOffsets(subscription, bounds, committed);
  refusePositionsBeyondEnd(bounds, [...committed, ...start]);
  if (start.length > 0) await coordination.initialise(subscription.id, start);
}

function refusePositionsBeyondEnd(bounds: readonly PartitionBounds[], positions: readonly CommittedOffset[]): void {
  const byPartition = boundsByPartition(bounds);
  for (const position of positions) {
    const reason = beyondEndReason(position, byPartition.get(partitionKey(position))?.latest);
    if (reason !== undefined) throw new LendstreamError('PRECONDITION_FAILED', reason);
  }
}

/**
 * Opens the session of a stream.
 * @throws CONFLICT when every slot is taken, a requested partition belongs to another stream, or a reset is in progress
 */
export async function openSession(coordination: Coordination, subscriptionId: string, session: Session): Promise<void> {
  await coordination.reapSessions(subscriptionId);
  const result = await coordination.openSession(subscriptionId, session);
  switch (result.outcome) {
    case 'opened':
      return;
    case 'resetting':
      throw new LendstreamError('CONFLICT', 'Resetting subscription cursors request is still in progress');
    case 'no_free_slots':
      throw new LendstreamError(
        'CONFLICT',
        `No free slots for streaming available for subscription ${subscriptionId}. Total slots: ${result.totalSlots}`,
      );
    case 'partitions_taken':
      throw new LendstreamError(
        'CONFLICT',
        'The following partitions are already requested by other stream(s) of this subscription: ' +
          describePartitions(result.partitions),
      );
  }
}

/**
 * Brings the ownership of partitions in line with the open streams and returns the resulting topology. Every stream
 * does this on every change; the first one applies it, and the others find nothing left to do.
 */
export async function applyRebalance(coordination: Coordination, subscriptionId: string): Promise<Topology> {
  for (let attempt = 1; ; attempt += 1) {
    const topology = await coordination.topology(subscriptionId);
    const changes = rebalance(topology.sessions, topology.partitions);
    if (changes.length === 0 || attempt === rebalanceAttemptsMaximum) return topology;
    await coordination.applyOwnership(subscriptionId, topology.generation, changes);
  }
}

/**
 * The streams that get no partition because others requested partitions directly. Of the streams that take any
 * partition, these are the ones opened last.
 */
export function surplusStreams({ sessions, partitions }: Pick<Topology, 'sessions' | 'partitions'>): Set<string> {
  const requested = new Set(sessions.flatMap(({ requestedPartitions }) => requestedPartitions.map(partitionKey)));
  const sharedCount = partitions.filter((partition) => !requested.has(partitionKey(partition))).length;
  const autoStreams = sessions
    .filter(({ requestedPartitions }) => requestedPartitions.length === 0)
    .sort((left, right) => left.openedAt - right.openedAt || (left.streamId < right.streamId ? -1 : 1));
  return new Set(autoStreams.slice(sharedCount).map(({ streamId }) => streamId));
}
