import type { CommitResult, CursorToCommit } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { StoreOperation } from '../simulated-store.ts';
import type { ObservedSubscription } from './observed-subscriptions.ts';
import { Violation } from './violation.ts';

/** The cursors that the store takes for those of events that the stream, whose commits are strict, was not sent. */
export function unsentOf(
  { streams, partitions }: ObservedSubscription,
  { topology, arguments: args }: StoreOperation,
): CursorToCommit[] {
  const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
  const stream = streams.get(streamId);
  if (stream?.rules.strictCommits !== true) return [];
  const session = topology?.sessions.find((open) => open.streamId === streamId);
  return cursors.filter((cursor) => {
    const key = partitionKey(cursor);
    const partition = partitions.get(key);
    const sentOffsets = session === undefined ? partition?.lastOwner?.sentOffsets : session.sentOffsets;
    const known = sentOffsets?.find((sent) => partitionKey(sent) === key)?.offset ?? -1;
    const stored = topology?.committed.find((committed) => partitionKey(committed) === key)?.offset ?? -1;
    if (cursor.offset <= Math.max(known, partition?.isBehind === true ? stored : (partition?.committed ?? -1))) {
      return false;
    }
    if (cursor.offset <= (stream.sentThrough.get(key) ?? -1)) {
      throw new Violation(`${cursor.offset} of ${key} was sent to ${streamId} before the store learned it`);
    }
    return true;
  });
}

/** No stream with strict commits moves a committed offset to an event that it was not sent. */
export function checkSent(
  result: CommitResult,
  streamId: string,
  cursors: readonly CursorToCommit[],
  unsent: readonly CursorToCommit[],
): void {
  for (const [index, cursor] of cursors.entries()) {
    if (result.outcome !== 'committed' || result.advanced[index] !== true || !unsent.includes(cursor)) continue;
    throw new Violation(`${streamId} committed ${cursor.offset} of ${partitionKey(cursor)}, which it was not sent`);
  }
}
