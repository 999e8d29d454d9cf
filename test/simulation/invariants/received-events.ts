import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import { checkDelay } from './event-delays.ts';
import {
  isWanted,
  streamOf,
  type ObservedLine,
  type ObservedStream,
  type ObservedSubscription,
  type SubscribedPartition,
} from './observed-subscriptions.ts';
import { offsetOf } from './published-events.ts';
import { Violation } from './violation.ts';

/** A client has received a line: what it got fits the rules of its stream, and nothing is missing before it. */
export function observeReceived(subscription: ObservedSubscription, line: ObservedLine, nowMilliseconds: number): void {
  const stream = streamOf(subscription, line.streamId);
  const key = partitionKey(line);
  const partition = subscription.partitions.get(key);
  if (partition === undefined) {
    if (line.events.length === 0) return;
    throw new Violation(`I4: ${key} was received before it belonged to the subscription`);
  }
  const { events, streamId } = line;
  const { rules } = stream;
  if (events.length > rules.batchLimit) {
    throw new Violation(`A batch of ${events.length} events for ${streamId}, whose limit is ${rules.batchLimit}`);
  }
  stream.receivedEvents += events.length;
  if (rules.streamLimit > 0 && stream.receivedEvents > rules.streamLimit) {
    throw new Violation(`More than ${rules.streamLimit} events for ${streamId}`);
  }
  for (const event of events) {
    if (!isWanted(rules, event)) throw new Violation(`${event} of ${key} was sent to ${streamId}, which filters`);
    const offset = offsetOf(partition.published, event, key);
    checkOrder(stream, partition, streamId, offset, key);
    checkDelay(stream, partition, line, offset, key, nowMilliseconds);
    stream.received.set(key, offset);
    partition.delivered[offset] = true;
    partition.everDelivered[offset] = true;
  }
  const last = stream.received.get(key);
  if (events.length > 0 && last !== undefined && line.offset < last) {
    throw new Violation(`The cursor ${line.offset} of ${key} lies before the event at ${last} that it comes with`);
  }
  checkNothingPassedOver(stream, partition, line.offset + 1, key, streamId);
  notePassedOver(stream, partition, line.offset, key);
}

/** I8: a stream gets events in order and passes over none. */
function checkOrder(
  stream: ObservedStream,
  partition: SubscribedPartition,
  streamId: string,
  offset: Offset,
  key: string,
): void {
  const last = stream.received.get(key);
  if (last !== undefined && offset <= last && !stream.repeated.has(key)) {
    throw new Violation(`I8: ${streamId} got ${offset} of ${key} after ${last}`);
  }
  checkNothingPassedOver(stream, partition, offset, key, streamId);
}

/** I8: every event before `offset` was received by this stream, is committed, or is deleted. */
function checkNothingPassedOver(
  stream: ObservedStream,
  partition: SubscribedPartition,
  offset: Offset,
  key: string,
  streamId: string,
): void {
  const { published } = partition;
  for (let missing = firstOwed(stream, partition, key); missing < offset; missing += 1) {
    const event = published.events[missing];
    if (event === undefined || !isWanted(stream.rules, event)) continue;
    throw new Violation(`I8: ${streamId} passed over ${missing} of ${key} on its way to ${offset}`);
  }
}

/** What a filter passes over counts as delivered up to the cursor that the client has received. */
function notePassedOver(stream: ObservedStream, partition: SubscribedPartition, through: Offset, key: string): void {
  const { rules } = stream;
  if (rules.filter === undefined) return;
  const { published, delivered, everDelivered } = partition;
  for (let offset = firstOwed(stream, partition, key, false); offset <= through; offset += 1) {
    const event = published.events[offset];
    if (event === undefined || isWanted(rules, event)) continue;
    delivered[offset] = true;
    everDelivered[offset] = true;
  }
}

/**
 * The first offset that a stream owes its client: behind what is committed, deleted or received.
 * @param isBehindReceived Whether events before the last one that was received count no more.
 */
function firstOwed(
  { received, epochs }: ObservedStream,
  { published, committedByEpoch }: SubscribedPartition,
  key: string,
  isBehindReceived = true,
): Offset {
  let first = Math.max(published.earliest, isBehindReceived ? (received.get(key) ?? -1) + 1 : 0);
  for (let epoch = epochs.get(key) ?? 0; epoch < committedByEpoch.length; epoch += 1) {
    first = Math.max(first, (committedByEpoch[epoch] ?? -1) + 1);
  }
  return first;
}
