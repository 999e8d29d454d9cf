import type { CommittedOffset, PartitionOwnership } from '../../../src/ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import type { StoreOperation } from '../simulated-store.ts';
import type { ObservedSubscription, SubscribedPartition } from './observed-subscriptions.ts';
import type { PassedOverEvents } from './passed-over-events.ts';
import { isFinishedReset, isResetWithOffsets, type StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/** A reset takes the partitions from all streams, including those that may only commit late. */
export function noteReset(
  { id, partitions }: ObservedSubscription,
  { operations }: StoreChange,
  unprocessable: PassedOverEvents,
): void {
  if (!operations.some(isResetWithOffsets)) return;
  const isFinished = operations.some(isFinishedReset);
  for (const [key, partition] of partitions) {
    if (partition.lastOwner !== undefined) partition.lastOwner.isUncertain = true;
    if (!isFinished) continue;
    partition.lastOwner = undefined;
    unprocessable.reset(id, key);
  }
}

/** Notes the streams from which a reset would take a partition. */
export function noteHolders(
  { holders }: SubscribedPartition,
  { streamId }: PartitionOwnership,
  key: string,
  { operations }: StoreChange,
): void {
  for (const { method, arguments: args } of operations) {
    if (method !== 'release' || partitionKey(args[2] as EventTypePartition) !== key) continue;
    holders.delete(String(args[1]));
  }
  if (streamId !== null) holders.add(streamId);
}

/** R6: no stream owns what a reset has taken from it. */
export function checkNotReset(
  { resetHolders }: SubscribedPartition,
  { streamId }: PartitionOwnership,
  key: string,
): void {
  if (streamId === null || !resetHolders.has(streamId)) return;
  throw new Violation(`R6: ${streamId} owns ${key}, which a reset has taken from it`);
}

/** Notes the positions that resets may set, or have set. */
export function noteResetTargets(
  { resetTargets }: SubscribedPartition,
  key: string,
  operations: readonly StoreOperation[],
): void {
  for (const operation of operations) {
    if (operation.method !== 'finishReset') continue;
    const targets = operation.arguments[1] as readonly CommittedOffset[];
    for (const target of targets) if (partitionKey(target) === key) resetTargets.add(target.offset);
  }
}

/** A reset has moved the committed offset: what it passed over needs no delivery. */
export function noteMoved(partition: SubscribedPartition, offset: Offset, operations: readonly StoreOperation[]): void {
  for (let passed = partition.committed + 1; passed <= offset; passed += 1) partition.everDelivered[passed] = true;
  beginEpoch(partition, offset);
  if (!operations.some(isFinishedReset)) return;
  for (const holder of partition.holders) partition.resetHolders.add(holder);
  partition.holders.clear();
}

/** A partition begins again behind an offset: everything after it is due to be delivered. */
export function beginEpoch(partition: SubscribedPartition, offset: Offset): void {
  partition.lastOwner = undefined;
  partition.lastReset = offset;
  partition.isBehind = false;
  partition.committed = offset;
  partition.askedByClients = offset;
  partition.committedByEpoch.push(offset);
  partition.resetTargets.clear();
  partition.delivered.length = Math.min(partition.delivered.length, offset + 1);
}
