import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import type { ObservedLine, ObservedStream, ObservedSubscription } from './observed-subscriptions.ts';
import type { PassedOverEvents } from './passed-over-events.ts';
import { uncommittedOf } from './uncommitted-events.ts';
import { Violation } from './violation.ts';

/**
 * D7: while an event is with the consumer that may be the one that fails, the stream sends nothing else. Events that
 * failed too often are not sent at all.
 * @param first The first event that it sends now.
 */
export function checkSearch(
  { id, snapshot, partitions, incarnation }: ObservedSubscription,
  stream: ObservedStream,
  { streamId, eventType, partition }: ObservedLine,
  key: string,
  first: Offset,
  unprocessable: PassedOverEvents,
): void {
  // A stream that came back after a loss does not know what was counted since.
  if (stream.incarnation < incarnation) return;
  const owned = snapshot?.topology.partitions.filter((ownership) => ownership.streamId === streamId) ?? [];
  if (owned.every(({ failureRecord }) => failureRecord === undefined)) return;
  if (unprocessable.policySince(id, stream.openedAt) === undefined) return;
  const isOwned = owned.some((ownership) => ownership.eventType === eventType && ownership.partition === partition);
  if (isOwned) unprocessable.checkSent(id, key, first, stream.openedAt);
  let events = 0;
  let searched: string | undefined;
  for (const ownership of owned) {
    const ownedKey = partitionKey(ownership);
    const uncommitted = uncommittedOf(stream, ownedKey, partitions.get(ownedKey));
    events += uncommitted.length;
    const { failureRecord } = ownership;
    const [lowest] = uncommitted;
    if (failureRecord?.isOneByOne !== true || lowest === undefined || lowest > failureRecord.throughOffset) continue;
    searched = `${lowest} of ${ownedKey}`;
  }
  if (searched === undefined || events === 1) return;
  throw new Violation(`D7: ${streamId} sent ${events} events at once while ${searched} may be the one that fails`);
}
