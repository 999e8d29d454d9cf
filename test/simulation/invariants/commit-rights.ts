import type { CommitResult, CursorToCommit, Session } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { StoreOperation } from '../simulated-store.ts';
import type { ObservedSubscription } from './observed-subscriptions.ts';
import { isOfClient, type StoreChange } from './store-change.ts';
import { checkSent } from './strict-commits.ts';
import { Violation } from './violation.ts';

/**
 * Whether a stream may commit now: it owns the partitions, or was their last owner, closed a moment ago, and there is
 * no other. Returns undefined when that depends on a reset that is under way or has failed.
 */
export function mayCommit(
  { partitions }: ObservedSubscription,
  { topology, arguments: args }: StoreOperation,
  storeTime: number,
): boolean | undefined {
  const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
  const isOpen = topology?.sessions.some((session) => session.streamId === streamId) ?? false;
  let isUncertain = false;
  const isAllowed = cursors.every((cursor) => {
    const owned = topology?.partitions.find((partition) => partitionKey(partition) === partitionKey(cursor));
    if (owned === undefined || (cursor.fence ?? owned.fence) !== owned.fence) return false;
    if (isOpen) return owned.streamId === streamId;
    const lastOwner = partitions.get(partitionKey(cursor))?.lastOwner;
    isUncertain ||= lastOwner?.isUncertain ?? false;
    return lastOwner?.streamId === streamId && storeTime < lastOwner.until;
  });
  return isAllowed && isUncertain ? undefined : isAllowed;
}

/** A session has ended: notes until when its stream, or the next one, may commit what it owned. */
export function noteLastOwner(
  { partitions }: ObservedSubscription,
  { before, after, storeTime }: StoreChange,
  { streamId }: Session,
): void {
  for (const ownership of before?.topology.partitions ?? []) {
    if (ownership.streamId !== streamId) continue;
    const key = partitionKey(ownership);
    const partition = partitions.get(key);
    const now = after.topology.partitions.find((each) => partitionKey(each) === key);
    if (partition === undefined || now === undefined || now.streamId !== null) continue;
    // When both sessions end together, the next stream may have owned the partition in between.
    const lastId = now.fence > ownership.fence ? ownership.nextStreamId : streamId;
    const last = before?.topology.sessions.find((session) => session.streamId === lastId);
    partition.lastOwner =
      last === undefined
        ? undefined
        : {
            streamId: last.streamId,
            until: storeTime + last.commitTimeoutMilliseconds,
            sentOffsets: last.sentOffsets,
            isUncertain: false,
          };
  }
}

/** Notes what a client asks to commit, and may. */
export function noteAsked({ partitions }: ObservedSubscription, { arguments: args }: StoreOperation): void {
  const [, , cursors] = args as [string, string, readonly CursorToCommit[]];
  for (const cursor of cursors.filter(isOfClient)) {
    const partition = partitions.get(partitionKey(cursor));
    if (partition !== undefined) partition.askedByClients = Math.max(partition.askedByClients, cursor.offset);
  }
}

/**
 * I4: only the owner commits, or the last one while there is no other.
 * @param operation One that has succeeded.
 */
export function checkCommit({ partitions }: ObservedSubscription, operation: StoreOperation): void {
  const { method, result, isAllowed, unsent, arguments: args } = operation;
  if (method !== 'commit') return;
  const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
  const { outcome } = result as CommitResult;
  if (outcome === 'not_sent' && isAllowed !== false && unsent.length > 0) return;
  if (outcome === 'committed') checkSent(result as CommitResult, streamId, cursors, unsent);
  if ((outcome === 'committed') !== (isAllowed ?? outcome === 'committed') && cursors.length > 0) {
    throw new Violation(`I4: a commit of ${streamId}, which ${isAllowed ? 'may' : 'may not'} commit, is ${outcome}`);
  }
  // The mirror has lost what a reset with an unknown outcome may have written.
  if (outcome === 'committed') {
    for (const cursor of cursors) partitions.get(partitionKey(cursor))?.resetTargets.clear();
  }
}
