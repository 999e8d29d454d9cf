import type { PartitionOwnership } from '../../../src/ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../../src/ports/event-type-partition.ts';
import type { ObservedSubscription } from './observed-subscriptions.ts';
import { isResetWithOffsets, type StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/** I5: a living owner loses a partition only when it releases it, or by a reset. */
export function checkHandover(
  subscription: ObservedSubscription,
  change: StoreChange,
  was: PartitionOwnership | undefined,
  now: PartitionOwnership,
): void {
  const { after, operations } = change;
  if (was?.streamId === undefined || was.streamId === null || was.streamId === now.streamId) return;
  const isOwnerOpen = after.topology.sessions.some(({ streamId }) => streamId === was.streamId);
  if (!isOwnerOpen) return;
  const key = partitionKey(now);
  const isReleased = operations.some(
    ({ method, arguments: [, streamId, released] }) =>
      method === 'release' && streamId === was.streamId && partitionKey(released as EventTypePartition) === key,
  );
  const isReset = operations.some(isResetWithOffsets);
  // Another node knows of a later owner.
  if (operations.some(({ method }) => method === 'merge')) return;
  if (!isReleased && !isReset) throw new Violation(`I5: ${was.streamId} lost ${key} without letting go of it`);
  if (isReleased) checkReleased(subscription, change, was.streamId, key);
}

/** I5: a partition is handed over when everything that its owner has sent of it is committed. */
function checkReleased(
  { streams, partitions }: ObservedSubscription,
  { before }: StoreChange,
  streamId: string,
  key: string,
): void {
  const last = streams.get(streamId)?.sentAsOwner.get(key)?.at(-1) ?? -1;
  const committed = before?.committed.find((position) => partitionKey(position) === key)?.offset ?? -1;
  const earliest = partitions.get(key)?.published.earliest ?? 0;
  if (last > committed && last >= earliest) {
    throw new Violation(`I5: ${streamId} released ${key} with ${last} sent and ${committed} committed`);
  }
}
