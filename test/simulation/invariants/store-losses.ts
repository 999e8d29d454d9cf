import type { PartitionOwnership } from '../../../src/ports/coordination.ts';
import type { InvariantsOptions } from './invariants-options.ts';
import type { ObservedSubscription } from './observed-subscriptions.ts';
import type { PassedOverEvents } from './passed-over-events.ts';
import type { StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/** Notes that the store has lost its data: what it alone knew counts no more. */
export function noteLoss(
  { id, partitions, waiting, leases }: ObservedSubscription,
  unprocessable: PassedOverEvents,
  { nowMilliseconds, mayLoseCommits }: InvariantsOptions,
): void {
  leases.forgetBefore(nowMilliseconds());
  for (const partition of partitions.values()) {
    if (!mayLoseCommits) partition.highestFence = -1;
    partition.lastOwner = undefined;
  }
  for (const key of partitions.keys()) unprocessable.lose(id, key);
  waiting.forget();
}

/** A store that acknowledges a commit when the log has it gets back all positions. */
export function checkMirror(
  { partitions }: ObservedSubscription,
  { after, hasForgotten }: StoreChange,
  { mayLoseCommits }: InvariantsOptions,
): void {
  if (hasForgotten && !mayLoseCommits && after.committed.length < partitions.size) {
    throw new Violation('A partition is missing in the mirror');
  }
}

/**
 * Notes what streams from before a loss may get again: another stream owns the partition now, and may leave some of it
 * uncommitted.
 */
export function noteRepeated(
  { streams }: ObservedSubscription,
  { after: { incarnation } }: StoreChange,
  { streamId: owner }: PartitionOwnership,
  key: string,
): void {
  for (const [streamId, stream] of streams) {
    if (streamId !== owner && stream.incarnation < incarnation) stream.repeated.add(key);
  }
}
