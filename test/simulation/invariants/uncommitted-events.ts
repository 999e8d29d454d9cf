import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import type { ObservedStream, ObservedSubscription, SubscribedPartition } from './observed-subscriptions.ts';
import { Violation } from './violation.ts';

/** I9: events that are uncommitted and may be sent again after a crash stay within the window. */
export function checkWindow(
  { snapshot, partitions }: ObservedSubscription,
  stream: ObservedStream,
  streamId: string,
): void {
  let events = 0;
  for (const ownership of snapshot?.topology.partitions ?? []) {
    if (ownership.streamId !== streamId) continue;
    const key = partitionKey(ownership);
    const committed = partitions.get(key)?.committed ?? -1;
    const sent = stream.sentAsOwner.get(key) ?? [];
    // A stream that got a partition again after a loss has sent some events twice.
    const uncommitted = new Set<Offset>();
    for (let index = sent.length - 1; index >= 0 && (sent[index] ?? -1) > committed; index -= 1) {
      uncommitted.add(sent[index] ?? -1);
    }
    events += uncommitted.size;
  }
  const maximum = stream.rules.uncommittedEventsMaximum;
  if (events > maximum) throw new Violation(`I9: ${streamId} has ${events} uncommitted events, allowed ${maximum}`);
}

/** The events of a partition that a stream has sent as its owner and that are not committed, by offset. */
export function uncommittedOf(
  stream: ObservedStream,
  key: string,
  partition: SubscribedPartition | undefined,
): Offset[] {
  const from = Math.max((partition?.committed ?? -1) + 1, partition?.published.earliest ?? 0);
  const sent = stream.sentAsOwner.get(key) ?? [];
  let first = sent.length;
  while (first > 0 && (sent[first - 1] ?? -1) >= from) first -= 1;
  return sent.slice(first);
}
