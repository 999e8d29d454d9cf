import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { CommittedOffset, Coordination } from '../../ports/coordination.ts';
import { partitionKey } from '../../ports/event-type-partition.ts';
import { beyondEndReason } from '../cursors/cursor-availability.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import { beforeFirst, parseOffset } from '../cursors/cursor-text.ts';
import type { EventLog, PartitionBounds } from '../../ports/event-log.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Subscription } from '../definitions/subscription.ts';
import { subscriptionsByEventType } from '../definitions/subscription-lookup.ts';
import { partitionCounts } from './subscription-partitions.ts';

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
  // Initial cursors are kept whatever `read_from` says, and without a check then.
  const initialOffsets = new Map(
    (readFrom === 'cursors' ? subscription.initial_cursors : []).map((cursor) => [
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

/** How many subscriptions have their partitions registered at the same time. */
const concurrentInitialisations = 32;

/**
 * Registers the partitions of all subscriptions of an event type that never streamed, before it gets more: to a
 * subscription that begins at the end they are where it ends now, and what is added is read from its first event.
 * Repeating it changes nothing.
 *
 * @throws LOG_UNAVAILABLE, COORDINATION_UNAVAILABLE
 */
export async function initialiseSubscriptionsOf(
  { registry, log, coordination }: InitialisationServices,
  eventType: string,
): Promise<void> {
  // Another process may have created one a moment ago.
  await registry.catchUp();
  const subscriptions = registry.listBy(subscriptionsByEventType, eventType);
  const initialiseNew = async (subscription: Subscription): Promise<void> => {
    if ((await coordination.committedOffsets(subscription.id)).length > 0) return;
    try {
      await initialisePartitions(log, coordination, subscription, partitionCounts(registry, subscription));
    } catch (error) {
      // Initial cursors beyond the end of a log that lost events, or another of its event types is being deleted: its
      // first stream is told so.
      if (!isLendstreamError(error, 'PRECONDITION_FAILED') && !isLendstreamError(error, 'NOT_FOUND')) throw error;
    }
  };
  for (let first = 0; first < subscriptions.length; first += concurrentInitialisations) {
    await Promise.all(subscriptions.slice(first, first + concurrentInitialisations).map(initialiseNew));
  }
}

export interface InitialisationServices {
  readonly registry: Registry;
  readonly log: EventLog;
  readonly coordination: Coordination;
}

export interface BegunInitialisation {
  /** Of all partitions of the subscription. */
  readonly bounds: readonly PartitionBounds[];
  /**
   * Resolves when all partitions are registered and their offsets would survive a loss of the coordination store;
   * undefined when they were registered before.
   */
  readonly stored: Promise<void> | undefined;
}

/**
 * Registers every partition of the subscription with the coordination store, each with an offset to start after.
 * Streams may do so at the same time; the first one's offsets count.
 *
 * @returns the bounds of all its partitions
 * @throws PRECONDITION_FAILED when a position lies beyond the end of the log
 */
export async function initialisePartitions(
  log: EventLog,
  coordination: Coordination,
  subscription: Subscription,
  eventTypes: ReadonlyMap<string, number>,
): Promise<readonly PartitionBounds[]> {
  const { bounds, stored } = await beginInitialisation(log, coordination, subscription, eventTypes);
  await stored;
  return bounds;
}

/** The same, for a caller that has something to do until the offsets are stored. @throws as the above */
export async function beginInitialisation(
  log: EventLog,
  coordination: Coordination,
  subscription: Subscription,
  eventTypes: ReadonlyMap<string, number>,
): Promise<BegunInitialisation> {
  const partitions = [...eventTypes].flatMap(([topic, count]) =>
    Array.from({ length: count }, (_, partition) => ({ topic, partition })),
  );
  const [committed, bounds] = await Promise.all([
    coordination.committedOffsets(subscription.id),
    log.bounds(partitions),
  ]);
  const start = startingOffsets(subscription, bounds, committed);
  const positions = [...committed, ...start];
  if (whyBeyondEnd(bounds, positions) !== undefined) {
    // The end may have been read before an event was appended and committed.
    const reason = whyBeyondEnd(await log.bounds(partitions), positions);
    if (reason !== undefined) throw new LendstreamError('PRECONDITION_FAILED', reason);
  }
  if (start.length === 0) return { bounds, stored: undefined };
  const stored = coordination.initialise(subscription.id, start);
  // Its caller gets its failure, maybe later.
  stored.catch(() => undefined);
  return { bounds, stored };
}

function whyBeyondEnd(bounds: readonly PartitionBounds[], positions: readonly CommittedOffset[]): string | undefined {
  const byPartition = boundsByPartition(bounds);
  for (const position of positions) {
    const reason = beyondEndReason(position, byPartition.get(partitionKey(position))?.latest);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
