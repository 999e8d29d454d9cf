import { withTimeout } from '../../clock.ts';
import { FieldViolations, LendstreamError, type FieldViolation } from '../../errors.ts';
import { initialisePartitions } from './starting-offsets.ts';
import { partitionCountsWith } from './subscription-partitions.ts';
import type { CommittedOffset } from '../../ports/coordination.ts';
import { partitionKey } from '../../ports/event-type-partition.ts';
import { unavailabilityReason } from '../cursors/cursor-availability.ts';
import { boundsByPartition } from '../../ports/partition-bounds.ts';
import type { EventLog, PartitionBounds } from '../../ports/event-log.ts';
import { withoutTimes } from '../cursors/times.ts';
import type { CommitServices } from './commits.ts';
import { boundedList, parsePositions, readCursorFields } from './requested-cursors.ts';
import { defaultStreamingLimits } from '../definitions/streaming-limits.ts';
import type { Subscription } from '../definitions/subscription.ts';
import { findSubscription } from '../definitions/subscription-lookup.ts';

/** A reset waits for open streams to end as long as the longest commit timeout, and this. Milliseconds. */
const endingMilliseconds = 1_000;

/** How much longer a reset may take before the process that began it counts as dead. Milliseconds. */
const resetGraceMilliseconds = 59_000;

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
  const counts = await partitionCountsWith(registry, subscription, cursors);
  const positions = parsePositions(await withoutTimes(log, cursors, counts), counts);
  const bounds = await boundsOf(log, positions);
  for (const position of positions) {
    const reason = unavailabilityReason(position, bounds.get(partitionKey(position)));
    if (reason !== undefined) throw new LendstreamError('UNPROCESSABLE', reason);
  }

  if (positions.length === 0) {
    await initialisePartitions(log, coordination, subscription, counts);
    return;
  }
  // Of several positions for one partition the last counts.
  const target = [...new Map(positions.map((position) => [partitionKey(position), position])).values()];
  await moveCursors(services, subscription, counts, () => Promise.resolve(target));
}

/**
 * Closes the open streams of a subscription, and moves it when they have ended.
 *
 * @param counts Its event types with their partition counts.
 * @param target Where partitions go, asked for when no stream can commit any more. If it throws, no cursor is changed.
 * @throws CONFLICT when a reset is in progress or streams do not end; COORDINATION_UNAVAILABLE; what `target` throws
 */
export async function moveCursors(
  services: CommitServices,
  subscription: Subscription,
  counts: ReadonlyMap<string, number>,
  target: () => Promise<readonly CommittedOffset[]>,
): Promise<void> {
  const { coordination, log, limits = defaultStreamingLimits } = services;
  const waitMilliseconds = limits.commitTimeoutSeconds * 1_000 + endingMilliseconds;
  await initialisePartitions(log, coordination, subscription, counts);
  if (!(await coordination.beginReset(subscription.id, waitMilliseconds + resetGraceMilliseconds))) {
    const detail = 'Cursors reset is already in progress for provided subscription';
    throw new LendstreamError('CONFLICT', detail);
  }
  let offsets: readonly CommittedOffset[] = [];
  try {
    if (!(await streamsEnded(services, subscription.id, waitMilliseconds))) {
      throw new LendstreamError('CONFLICT', 'The open streams did not end in time, no cursor was changed. Try again.');
    }
    offsets = await target();
  } finally {
    await coordination.finishReset(subscription.id, offsets);
  }
}

/** Resolves with true as soon as no stream is open, with false when the time is up. */
async function streamsEnded(
  { coordination, clock }: CommitServices,
  subscriptionId: string,
  waitMilliseconds: number,
): Promise<boolean> {
  const deadline = clock.monotonic() + waitMilliseconds;
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

async function boundsOf(log: EventLog, positions: readonly CommittedOffset[]): Promise<Map<string, PartitionBounds>> {
  const distinct = new Map(positions.map((position) => [partitionKey(position), position]));
  const partitions = [...distinct.values()].map(({ eventType, partition }) => ({ topic: eventType, partition }));
  return boundsByPartition(await log.bounds(partitions));
}
