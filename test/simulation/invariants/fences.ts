import type { PartitionOwnership } from '../../../src/ports/coordination.ts';
import type { ObservedSubscription, SubscribedPartition } from './observed-subscriptions.ts';
import type { StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/**
 * I4: a new owner has a new fence. I6: fences never become smaller. R2: a store that has lost its data uses no fence
 * again.
 */
export function checkFence(
  { incarnation }: ObservedSubscription,
  { after }: StoreChange,
  partition: SubscribedPartition,
  key: string,
  was: PartitionOwnership | undefined,
  now: PartitionOwnership,
): void {
  const isRestored = incarnation !== after.incarnation && partition.highestFence > -1;
  if (isRestored && now.fence === partition.highestFence) {
    throw new Violation(`R2: ${key} is restored under the fence ${now.fence}, which it had before`);
  }
  if (now.fence < partition.highestFence) throw new Violation(`I6: the fence of ${key} went back to ${now.fence}`);
  const hasNewOwner = now.streamId !== null && was !== undefined && now.streamId !== was.streamId;
  if (hasNewOwner && now.fence <= partition.highestFence) {
    throw new Violation(`I4: ${now.streamId} owns ${key} under the fence ${now.fence} of an earlier owner`);
  }
  partition.highestFence = now.fence;
}
