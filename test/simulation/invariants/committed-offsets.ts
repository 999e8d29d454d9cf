import type { CommittedOffset, CursorToCommit } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { Offset } from '../../../src/ports/event-log.ts';
import type { StoreOperation } from '../simulated-store.ts';
import {
  isWanted,
  type ObservedStream,
  type ObservedSubscription,
  type SubscribedPartition,
} from './observed-subscriptions.ts';
import type { PassedOverEvents } from './passed-over-events.ts';
import { beginEpoch, noteMoved, noteResetTargets } from './resets.ts';
import { isFinishedReset, isOfClient, type StoreChange } from './store-change.ts';
import { Violation } from './violation.ts';

/**
 * I1: every committed event was delivered. I2: committed offsets move back only by a reset, or by a store that lost its
 * data.
 * @param mayLoseCommits Whether the store may lose the latest commits with its data.
 */
export function checkCommitted(
  subscription: ObservedSubscription,
  { offset, ...where }: CommittedOffset,
  { operations, hasForgotten }: StoreChange,
  unprocessable: PassedOverEvents,
  mayLoseCommits: boolean,
): void {
  const key = partitionKey(where);
  const partition = subscription.partitions.get(key);
  if (partition === undefined) return;
  noteResetTargets(partition, key, operations);
  const before = partition.committed;
  const lastCommitted = hasForgotten
    ? undefined
    : subscription.snapshot?.committed.find((committed) => partitionKey(committed) === key)?.offset;
  // What a node or the log brings back.
  const isRestored = hasForgotten || operations.some(({ method }) => method === 'merge');
  if (hasForgotten) partition.isBehind = mayLoseCommits;
  if (offset === before) return;
  // A start that was lost before any stream heard of it: the next one is where the subscription begins now.
  const isFirstStart = lastCommitted === undefined && partition.everDelivered.length === 0;
  if (isFirstStart && operations.some(({ method }) => method === 'initialise')) {
    beginEpoch(partition, offset);
    return;
  }
  const isReset = partition.resetTargets.has(offset) && (isRestored || operations.some(isFinishedReset));
  if (isReset || (isRestored && !partition.isBehind && partition.lastReset === offset && offset < before)) {
    noteMoved(partition, offset, operations);
    return;
  }
  if (offset < before && partition.isBehind) {
    checkNotLowered(lastCommitted, offset, key);
    return;
  }
  if (isRestored && partition.isBehind && offset <= Math.max(...partition.committedByEpoch)) {
    // The log had not learned of a reset.
    partition.committed = offset;
    return;
  }
  if (offset < before) {
    throw new Violation(`I2: the committed offset of ${key} went back from ${before} to ${offset}`);
  }
  checkDelivered(subscription, partition, key, offset, operations, unprocessable);
  partition.isBehind = false;
  partition.committed = offset;
  partition.committedByEpoch[partition.committedByEpoch.length - 1] = offset;
}

/** The partitions of a subscription with events that are neither committed nor deleted. */
export function unfinishedOf({ id, partitions }: ObservedSubscription): string[] {
  return [...partitions].flatMap(([key, { published, committed }]) => {
    for (let offset = published.events.length - 1; offset > committed && offset >= published.earliest; offset -= 1) {
      if (published.events[offset] !== undefined) return [`${key} of ${id}, ${offset}, committed ${committed}`];
    }
    return [];
  });
}

/** I2: not even while nodes bring back what the store has lost. */
function checkNotLowered(before: Offset | undefined, offset: Offset, key: string): void {
  if (before === undefined || offset >= before) return;
  throw new Violation(`I2: the restored offset of ${key} went back from ${before} to ${offset}`);
}

/**
 * I1: what lies between the committed offset and the new one was delivered to a client, or deleted by retention, or
 * passed over by a filter or policy.
 */
function checkDelivered(
  subscription: ObservedSubscription,
  partition: SubscribedPartition,
  key: string,
  offset: Offset,
  operations: readonly StoreOperation[],
  unprocessable: PassedOverEvents,
): void {
  const { published } = partition;
  // A client may pass over what a reset wants to be delivered again: it commits, for another stream, what it received
  // before the reset.
  const committers = committersOf(subscription, operations, key, offset);
  const isByReceiver = committers.every(({ received }) => (received.get(key) ?? -1) >= offset);
  const delivered = isByReceiver ? partition.delivered : partition.everDelivered;
  for (let passed = partition.committed + 1; passed <= offset; passed += 1) {
    const event = published.events[passed];
    if (passed < published.earliest || event === undefined) continue;
    if (passed > partition.askedByClients) {
      if (isPassedOverByFilter(subscription, operations, partition, key, passed, offset)) {
        partition.delivered[passed] = true;
        partition.everDelivered[passed] = true;
        continue;
      }
      unprocessable.passedOver(subscription.id, key, passed, partition.highestFence);
      continue;
    }
    if (committers.every(({ sent }) => sent.get(key)?.includes(passed))) {
      unprocessable.committedByConsumer(subscription.id, key, passed);
    } else if (committers.some(({ rules }) => !isWanted(rules, event))) {
      unprocessable.passedOverByFilter(subscription.id, key, passed);
    }
    if (delivered[passed] === true) continue;
    throw new Violation(`I1: ${passed} of ${key} is committed and was never delivered`);
  }
}

/**
 * Whether the service committed an event that consumers fail with, and with it one before that the filter of the stream
 * passes over.
 */
function isPassedOverByFilter(
  { streams }: ObservedSubscription,
  operations: readonly StoreOperation[],
  { published }: SubscribedPartition,
  key: string,
  passed: Offset,
  offset: Offset,
): boolean {
  const event = published.events[passed];
  if (event === undefined || passed >= offset || published.events[offset] === undefined) return false;
  return operations.some(({ method, arguments: args }) => {
    if (method !== 'commit') return false;
    const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
    const isOfService = cursors.some(
      (cursor) => !isOfClient(cursor) && partitionKey(cursor) === key && cursor.offset === offset,
    );
    const rules = streams.get(streamId)?.rules;
    return isOfService && rules !== undefined && !isWanted(rules, event);
  });
}

/** The streams whose ids the commits of this offset came with. */
function committersOf(
  { streams }: ObservedSubscription,
  operations: readonly StoreOperation[],
  key: string,
  offset: Offset,
): ObservedStream[] {
  return operations.flatMap(({ method, arguments: args }) => {
    if (method !== 'commit') return [];
    const [, streamId, cursors] = args as [string, string, readonly CursorToCommit[]];
    const isCommitted = cursors.some((cursor) => partitionKey(cursor) === key && cursor.offset === offset);
    return isCommitted ? (streams.get(streamId) ?? []) : [];
  });
}
