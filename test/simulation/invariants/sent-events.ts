import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import { checkSearch } from './failing-event-search.ts';
import type { InvariantsOptions } from './invariants-options.ts';
import { checkExclusive } from './leases.ts';
import { streamOf, type ObservedLine, type ObservedSubscription } from './observed-subscriptions.ts';
import type { PassedOverEvents } from './passed-over-events.ts';
import { offsetOf } from './published-events.ts';
import { checkWindow } from './uncommitted-events.ts';
import { Violation } from './violation.ts';

/** A node has written a line to the connection: notes what it sent, and checks that it was allowed to. */
export function observeSent(
  subscription: ObservedSubscription,
  line: ObservedLine,
  unprocessable: PassedOverEvents,
  options: InvariantsOptions,
): void {
  const { streamId, events } = line;
  const stream = streamOf(subscription, streamId);
  const key = partitionKey(line);
  const partition = subscription.partitions.get(key);
  if (partition === undefined) {
    // A stream whose starting offsets could not be stored says why it ends.
    if (events.length === 0) return;
    throw new Violation(`I4: ${key} was sent before it belonged to the subscription`);
  }
  // With a filter, a line without events may move the cursor.
  if (stream.rules.filter !== undefined) stream.sentThrough.set(key, line.offset);
  if (events.length === 0) return;
  checkExclusive(subscription, stream, streamId, key, options);
  stream.sentThrough.set(key, line.offset);
  const offsets = events.map((event) => offsetOf(partition.published, event, key));
  stream.sent.set(key, [...(stream.sent.get(key) ?? []), ...offsets]);
  stream.sentAsOwner.set(key, [...(stream.sentAsOwner.get(key) ?? []), ...offsets]);
  const isEnding = options.closeReason(streamId) !== undefined;
  if (!isEnding) stream.sentBeforeEnd.set(key, offsets.at(-1) ?? -1);
  checkWindow(subscription, stream, streamId);
  checkSearch(subscription, stream, line, key, offsets[0] ?? -1, unprocessable);
}
