import { closeInfo, type CloseCode } from '../../../src/broker/streaming/close-codes.ts';
import type { LateCommits } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { FailedDeliveries } from '../../../src/ports/failed-deliveries.ts';
import type { StoreOperation } from '../simulated-store.ts';
import type { ObservedSubscription } from './observed-subscriptions.ts';
import type { PassedOverEvents } from './passed-over-events.ts';
import { uncommittedOf } from './uncommitted-events.ts';
import { Violation } from './violation.ts';

/**
 * The ends that say nothing about the consumer. A list of its own: with that of the service, no change of it would be
 * noticed.
 */
const serviceEnds: readonly CloseCode[] = [
  'server_shutdown',
  'session_lost',
  'subscription_deleted',
  'consumption_blocked',
  'access_revoked',
  'cursors_reset',
  'repartitioned',
  'no_free_slots',
  'no_partitions',
  'log_error',
  'coordination_error',
];

const serviceEndTexts = new Set(serviceEnds.map((code) => closeInfo(code).debug));

/**
 * D8: a stream reports as failed what it has sent and what is not committed, unless the service ended it. Its last
 * events may leave while it reports.
 * @param operation The one that closed its session.
 * @param closeReason Why a stream has ended, in the words of its last line, without details.
 */
export function checkReported(
  { id, streams, partitions }: ObservedSubscription,
  { topology, arguments: args }: StoreOperation,
  unprocessable: PassedOverEvents,
  closeReason: (streamId: string) => string | undefined,
): void {
  const [, streamId, lateCommits, failed] = args as [string, string, LateCommits, FailedDeliveries | undefined];
  const stream = streams.get(streamId);
  if (stream === undefined) return;
  const reason = closeReason(streamId);
  const isByService = reason !== undefined && serviceEndTexts.has(reason) && lateCommits === 'accepted';
  if (isByService && failed !== undefined) throw new Violation(`D8: ${streamId} reports a failure: ${reason}`);
  const isDue = reason !== undefined && !isByService && unprocessable.policySince(id, stream.openedAt);
  const owned = topology?.partitions.filter((ownership) => ownership.streamId === streamId) ?? [];
  for (const ownership of owned) {
    const key = partitionKey(ownership);
    const partition = partitions.get(key);
    const uncommitted = uncommittedOf(stream, key, partition);
    const reported = failed?.partitions.find((delivery) => partitionKey(delivery) === key);
    if (reported === undefined) {
      const isOwed = uncommitted.some((offset) => offset <= (stream.sentBeforeEnd.get(key) ?? -1));
      if (!isDue || !isOwed) continue;
      throw new Violation(`D8: ${streamId} does not report ${uncommitted[0]} of ${key} as failed: ${reason}`);
    }
    const { firstOffset: offset } = reported;
    if (!(stream.sent.get(key) ?? []).includes(offset)) {
      throw new Violation(`D8: ${streamId} reports ${offset} of ${key}, which it has not sent: ${reason}`);
    }
    // The stream has not heard of its commit.
    if (offset <= (partition?.committed ?? -1)) continue;
    const { failureRecord } = ownership;
    const isSearched = failureRecord?.isOneByOne === true && offset <= failureRecord.throughOffset;
    unprocessable.failed(id, key, { offset, isSearched, fence: ownership.fence });
  }
}
