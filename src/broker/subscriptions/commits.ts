import { randomUUID } from 'node:crypto';
import { validate as isUuid } from 'uuid';
import { withTimeout, type Clock } from '../../clock.ts';
import { FieldViolations, LendstreamError, type FieldViolation } from '../../errors.ts';
import { initialisePartitions, partitionCounts } from './joining.ts';
import { partitionKey, type CommittedOffset, type Coordination } from '../../ports/coordination.ts';
import { beyondEndReason, boundsByPartition, unavailabilityReason } from '../cursors/cursor-availability.ts';
import { formatOffset } from '../cursors/cursor-text.ts';
import type { EventLog, PartitionBounds } from '../../ports/event-log.ts';
import type { EndOffsetCache } from './end-offsets.ts';
import type { Registry } from '../definitions/registry.ts';
import { parsePositions, readCursorFields } from './validation.ts';
import { findSubscription, type InitialCursor } from '../definitions/subscription.ts';

/** Committing, showing and resetting the cursors of a subscription. */
export interface CommitServices {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly log: EventLog;
  readonly clock: Clock;
  /** Why a stream of this process ended; undefined when that is not known. */
  readonly endedStreamReason?: (streamId: string) => string | undefined;
}

/** A cursor as the API writes it. */
export interface SubscriptionCursor extends InitialCursor {
  readonly cursor_token: string;
}

export interface CommitOutcome {
  /** Whether every cursor moved its partition forward. */
  readonly allCommitted: boolean;
  /** In the order of the request. */
  readonly items: readonly { readonly cursor: SubscriptionCursor; readonly result: 'committed' | 'outdated' }[];
}

/** Most cursors in one commit. */
export const cursorsPerCommitMaximum = 10_000;

/**
 * Commits cursors for a stream. All are checked before any is stored. Cursor tokens must be present but are not
 * compared: a partition is protected by the stream that owns it.
 *
 * @param streamId As the client sent it.
 * @param items The `items` of the request.
 * @throws NOT_FOUND, MALFORMED_REQUEST, FieldViolations; UNPROCESSABLE for an empty list, an invalid stream id, a
 *   session that has ended, a partition of another stream, an offset beyond the end; COORDINATION_UNAVAILABLE
 */
export async function commitCursors(
  services: CommitServices & { readonly ends: EndOffsetCache },
  subscriptionId: string,
  streamId: string,
  items: unknown,
): Promise<CommitOutcome> {
  const cursors = readCursors(items);
  const subscription = await findSubscription(services.registry, subscriptionId);
  if (!isUuid(streamId)) {
    throw new LendstreamError('UNPROCESSABLE', `Stream id has to be valid UUID, but \`${streamId} was provided`);
  }
  const positions = parsePositions(cursors, partitionCounts(services.registry, subscription));
  const ends = await services.ends.endOffsetsOf(positions);
  for (const [index, position] of positions.entries()) refuse(beyondEndReason(position, ends[index]));

  const result = await services.coordination.commit(subscriptionId, streamId, positions);
  if (result.outcome === 'session_not_found') {
    throw new LendstreamError('UNPROCESSABLE', sessionNotFound(streamId, services.endedStreamReason?.(streamId)));
  }
  if (result.outcome === 'not_owner') {
    const refusedKey = partitionKey(result.cursor);
    const cursor = cursors[positions.findIndex((position) => partitionKey(position) === refusedKey)];
    throw new LendstreamError(
      'UNPROCESSABLE',
      `Cursor ${cursor?.offset ?? ''} of partition ${result.cursor.partition} of event type ` +
        `${result.cursor.eventType} cannot be committed with stream id ${streamId}`,
    );
  }
  return {
    allCommitted: !result.advanced.includes(false),
    items: cursors.map((cursor, index) => ({
      cursor,
      result: result.advanced[index] === true ? 'committed' : 'outdated',
    })),
  };
}

/**
 * The committed cursors, by event type and partition; empty before the subscription was first streamed or reset. Each
 * call makes new tokens.
 * @throws NOT_FOUND
 */
export async function listCursors(services: CommitServices, subscriptionId: string): Promise<SubscriptionCursor[]> {
  await findSubscription(services.registry, subscriptionId);
  const committed = await services.coordination.committedOffsets(subscriptionId);
  return committed.map(({ eventType, partition, offset }) => ({
    partition: String(partition),
    offset: formatOffset(offset),
    event_type: eventType,
    cursor_token: randomUUID(),
  }));
}

/** How long a reset waits for open streams to end: the longest commit timeout and a second. Milliseconds. */
export const resetMillisecondsMaximum = 61_000;

/**
 * Moves the subscription to other positions, in either direction. Open streams are closed first. Partitions that are
 * not named keep their positions. An empty list closes no stream: it only settles where a subscription that never
 * streamed begins.
 *
 * @param items The `items` of the request.
 * @throws NOT_FOUND, MALFORMED_REQUEST, FieldViolations; UNPROCESSABLE for a position that is not the subscription's or
 *   not held; CONFLICT when a reset is in progress or streams do not end; COORDINATION_UNAVAILABLE
 */
export async function resetCursors(services: CommitServices, subscriptionId: string, items: unknown): Promise<void> {
  const { registry, coordination, log } = services;
  const violations: FieldViolation[] = [];
  const cursors = readCursorFields('items', boundedList(items), violations);
  if (violations.length > 0) throw new FieldViolations(violations);
  const subscription = await findSubscription(registry, subscriptionId);
  const unsubscribed = cursors.filter((cursor) => !subscription.event_types.includes(cursor.event_type));
  if (unsubscribed.length > 0) {
    const names = [...new Set(unsubscribed.map((cursor) => cursor.event_type))].join(', ');
    throw new LendstreamError('UNPROCESSABLE', `Event type does not belong to subscription: [${names}]`);
  }
  const counts = partitionCounts(registry, subscription);
  const positions = parsePositions(cursors, counts);
  const bounds = await boundsOf(log, positions);
  for (const position of positions) refuse(unavailabilityReason(position, bounds.get(partitionKey(position))));

  await initialisePartitions(log, coordination, subscription, counts);
  if (positions.length === 0) return;
  if (!(await coordination.beginReset(subscriptionId))) {
    const detail = 'Cursors reset is already in progress for provided subscription';
    throw new LendstreamError('CONFLICT', detail);
  }
  let target: readonly CommittedOffset[] = [];
  try {
    if (!(await streamsEnded(services, subscriptionId))) {
      throw new LendstreamError('CONFLICT', 'The open streams did not end in time, no cursor was changed. Try again.');
    }
    // Of several positions for one partition the last counts.
    target = [...new Map(positions.map((position) => [partitionKey(position), position])).values()];
  } finally {
    await coordination.finishReset(subscriptionId, target);
  }
}

/** Resolves with true as soon as no stream is open, with false when the time is up. */
async function streamsEnded({ coordination, clock }: CommitServices, subscriptionId: string): Promise<boolean> {
  const deadline = clock.monotonic() + resetMillisecondsMaximum;
  let notify = (): void => {};
  // Watching once begins before the first check. Each watch reports a change by itself, so a watch for each check would
  // never let the checks wait.
  const stop = coordination.watch(subscriptionId, () => notify());
  try {
    for (;;) {
      const change = new Promise<void>((resolve) => (notify = resolve));
      await coordination.reapSessions(subscriptionId);
      if ((await coordination.topology(subscriptionId)).sessions.length === 0) return true;
      const remainingMilliseconds = deadline - clock.monotonic();
      if (remainingMilliseconds <= 0) return false;
      const milliseconds = Math.min(remainingMilliseconds, lostNotificationMilliseconds);
      await withTimeout(clock, change, milliseconds, () => undefined);
    }
  } finally {
    stop();
  }
}

/** How long a lost notification may delay a check. Milliseconds. */
const lostNotificationMilliseconds = 1_000;

/** @throws UNPROCESSABLE for far more cursors than any subscription has partitions */
function boundedList(items: unknown): unknown {
  const list = notNull(items);
  if (Array.isArray(list) && list.length > cursorsPerCommitMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `A request may have at most ${cursorsPerCommitMaximum} cursors`);
  }
  return list;
}

function readCursors(items: unknown): SubscriptionCursor[] {
  const violations: FieldViolation[] = [];
  const list = boundedList(items);
  const cursors = readCursorFields('items', list, violations);
  const tokens = (list as ({ cursor_token?: unknown } | null)[]).map((item, index) => {
    const token = item?.cursor_token ?? null;
    if (item !== null && token === null) {
      violations.push({ field: `items[${index}].cursor_token`, message: 'must not be null' });
    }
    return typeof token === 'string' ? token : JSON.stringify(token);
  });
  if (violations.length > 0) throw new FieldViolations(violations);
  if (cursors.length === 0) throw new LendstreamError('UNPROCESSABLE', 'Cursors are empty');
  return cursors.map(({ event_type, partition, offset }, index) => ({
    partition,
    offset,
    event_type,
    cursor_token: tokens[index] ?? '',
  }));
}

function notNull(items: unknown): unknown {
  if (items === undefined || items === null) {
    throw new FieldViolations([{ field: 'items', message: 'must not be null' }]);
  }
  return items;
}

async function boundsOf(log: EventLog, positions: readonly CommittedOffset[]): Promise<Map<string, PartitionBounds>> {
  const distinct = new Map(positions.map((position) => [partitionKey(position), position]));
  const partitions = [...distinct.values()].map(({ eventType, partition }) => ({ topic: eventType, partition }));
  return boundsByPartition(await log.bounds(partitions));
}

function refuse(reason: string | undefined): void {
  if (reason !== undefined) throw new LendstreamError('UNPROCESSABLE', reason);
}

function sessionNotFound(streamId: string, reason: string | undefined): string {
  const why = reason === undefined ? 'The stream has ended or was never open' : `The stream has ended: ${reason}`;
  return (
    `Session with stream id ${streamId} not found. ${why}; ` +
    'what it did not commit is delivered again to the next stream of the subscription.'
  );
}
