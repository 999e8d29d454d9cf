import type { StreamingLimits } from '../definitions/streaming-limits.ts';
import { validate as isUuid } from 'uuid';
import type { Clock } from '../../clock.ts';
import { FieldViolations, LendstreamError, type FieldViolation } from '../../errors.ts';
import { isConsumptionBlocked } from '../definitions/blacklist.ts';
import { knownPartitionCountsWith, partitionCountsWith } from './subscription-partitions.ts';
import type { Coordination } from '../../ports/coordination.ts';
import { partitionKey } from '../../ports/event-type-partition.ts';
import { formatOffset } from '../cursors/cursor-text.ts';
import { beyondEndReason } from '../cursors/cursor-availability.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { EndOffsetCache } from './end-offsets.ts';
import type { Registry } from '../definitions/registry.ts';
import { parsePositions, readCursorFields, boundedList } from './requested-cursors.ts';
import type { InitialCursor, Subscription } from '../definitions/subscription.ts';
import { findSubscription } from '../definitions/subscription-lookup.ts';

/** What committing, showing and resetting the cursors of a subscription needs. */
export interface CommitServices {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly log: EventLog;
  readonly clock: Clock;
  /** Why a stream of this process ended; undefined when that is not known. */
  readonly endedStreamReason?: (streamId: string) => string | undefined;
  readonly limits?: StreamingLimits;
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

/**
 * Commits cursors for a stream. All are checked before any is stored. Cursor tokens must be present but are not
 * compared: a partition is protected by the stream that owns it.
 *
 * @param streamId As the client sent it.
 * @param items The `items` of the request.
 * @throws NOT_FOUND, MALFORMED_REQUEST, FieldViolations; FORBIDDEN for a blocked consumer; UNPROCESSABLE for an empty
 *   list, an invalid stream id, a session that has ended, a partition of another stream, an offset beyond the end, or
 *   one that a stream with strict commits was not sent; COORDINATION_UNAVAILABLE
 */
export async function commitCursors(
  services: CommitServices & { readonly ends: EndOffsetCache },
  subscriptionId: string,
  streamId: string,
  items: unknown,
): Promise<CommitOutcome> {
  const cursors = readCursors(items);
  const { registry } = services;
  // What this process knows is not waited for: commits come by the thousand.
  const subscription =
    registry.get<Subscription>('subscription', subscriptionId) ?? (await findSubscription(registry, subscriptionId));
  if (isConsumptionBlocked(registry, subscription)) {
    throw new LendstreamError('FORBIDDEN', 'Application or subscription is blocked');
  }
  if (!isUuid(streamId)) {
    throw new LendstreamError('UNPROCESSABLE', `Stream id has to be valid UUID, but \`${streamId} was provided`);
  }
  const counts =
    knownPartitionCountsWith(registry, subscription, cursors) ??
    (await partitionCountsWith(registry, subscription, cursors));
  const positions = parsePositions(cursors, counts);
  const ends = services.ends.knownEndOffsetsOf(positions) ?? (await services.ends.endOffsetsOf(positions));
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
  if (result.outcome === 'not_sent') {
    const { eventType, partition, offset } = result.cursor;
    throw new LendstreamError(
      'UNPROCESSABLE',
      `Cursor ${formatOffset(offset)} of partition ${partition} of event type ${eventType} cannot be committed: ` +
        `stream ${streamId} was not sent it, and its commits are strict`,
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
