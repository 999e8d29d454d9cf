import { LendstreamError } from '../../errors.ts';
import { partitionKey, type EventTypePartition } from '../../ports/event-type-partition.ts';
import { unavailabilityReason } from '../cursors/cursor-availability.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import { parseOffset, parsePartition } from '../cursors/cursor-text.ts';
import type { PartitionBounds } from '../../ports/event-log.ts';
import type { SubscriptionDefinition } from './requested-subscription.ts';

/**
 * Checks that a new subscription may begin where it says.
 * @param partitions All partitions of its event types.
 * @param bounds Of all its partitions.
 * @throws UNPROCESSABLE naming the first rule that is broken
 */
export function checkInitialCursors(
  definition: SubscriptionDefinition,
  partitions: readonly EventTypePartition[],
  bounds: readonly PartitionBounds[],
): void {
  if (definition.read_from !== 'cursors') return;
  const refuse = (detail: string): never => {
    throw new LendstreamError('UNPROCESSABLE', detail);
  };
  const wanted = new Set(partitions.map(partitionKey));
  const given = definition.initial_cursors.map((cursor) => {
    const partition = parsePartition(cursor.partition);
    return partition === undefined ? undefined : partitionKey({ eventType: cursor.event_type, partition });
  });
  const covered = new Set(given);
  if ([...wanted].some((key) => !covered.has(key))) {
    refuse('initial_cursors should contain cursors for all partitions of subscription');
  }
  if (given.some((key) => key === undefined || !wanted.has(key))) {
    refuse('initial_cursors should contain cursors only for partitions of this subscription');
  }
  if (given.length > wanted.size) {
    refuse('there should be no more than 1 cursor for each partition in initial_cursors');
  }
  const byPartition = boundsByPartition(bounds);
  for (const { event_type: eventType, partition, offset } of definition.initial_cursors) {
    const position = { eventType, partition: Number(partition), offset: parseOffset(offset) };
    const reason = unavailabilityReason(position, byPartition.get(partitionKey(position)));
    if (reason !== undefined) refuse(reason);
  }
}
