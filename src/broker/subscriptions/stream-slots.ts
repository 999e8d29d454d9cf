import { LendstreamError } from '../../errors.ts';
import type { Coordination, OpenSessionResult, Session, Topology } from '../../ports/coordination.ts';
import { describePartitions, partitionKey } from '../../ports/event-type-partition.ts';

/**
 * Opens the session of a stream, after those of dead nodes were closed.
 * @throws CONFLICT when every slot is taken, a requested partition belongs to another stream, or a reset is in progress
 */
export async function openSession(coordination: Coordination, subscriptionId: string, session: Session): Promise<void> {
  await coordination.reapSessions(subscriptionId);
  await openAfterReaping(coordination, subscriptionId, session);
}

/**
 * Opens the session of a stream, when the caller has closed those of dead nodes.
 * @param open Asks the store. Default: once.
 * @throws CONFLICT when every slot is taken, a requested partition belongs to another stream, or a reset is in progress
 */
export async function openAfterReaping(
  coordination: Coordination,
  subscriptionId: string,
  session: Session,
  open: (subscriptionId: string, session: Session) => Promise<OpenSessionResult> = (id, opening) =>
    coordination.openSession(id, opening),
): Promise<void> {
  const result = await open(subscriptionId, session);
  switch (result.outcome) {
    case 'opened':
      return;
    case 'resetting':
      throw new LendstreamError('CONFLICT', 'Resetting subscription cursors request is still in progress');
    case 'no_free_slots':
      throw new LendstreamError(
        'CONFLICT',
        `No free slots for streaming available for subscription ${subscriptionId}. Total slots: ${result.totalSlots}`,
      );
    case 'partitions_taken':
      throw new LendstreamError(
        'CONFLICT',
        'The following partitions are already requested by other stream(s) of this subscription: ' +
          describePartitions(result.partitions),
      );
  }
}

/**
 * The streams that get no partition because others requested partitions directly. Of the streams that take any
 * partition, these are the ones opened last.
 */
export function surplusStreams({ sessions, partitions }: Pick<Topology, 'sessions' | 'partitions'>): Set<string> {
  const requested = new Set(sessions.flatMap(({ requestedPartitions }) => requestedPartitions.map(partitionKey)));
  const sharedCount = partitions.filter((partition) => !requested.has(partitionKey(partition))).length;
  const autoStreams = sessions
    .filter(({ requestedPartitions }) => requestedPartitions.length === 0)
    .sort((left, right) => left.openedAt - right.openedAt || (left.streamId < right.streamId ? -1 : 1));
  return new Set(autoStreams.slice(sharedCount).map(({ streamId }) => streamId));
}
