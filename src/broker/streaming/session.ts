import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { initialisePartitions, openSession } from '../subscriptions/joining.ts';
import { partitionKey, type Coordination } from '../../ports/coordination.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { NodeLease } from './node-lease.ts';
import type { StreamParameters } from './stream-parameters.ts';
import type { StreamPartition } from './stream-partition.ts';
import type { Subscription } from '../definitions/subscription.ts';

/** The services that a stream's session needs. This file opens the session and commits under it. */
export interface StreamSessionServices {
  readonly log: EventLog;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: NodeLease;
  /** Makes the id of a new stream. Default: a random UUID. */
  readonly newStreamId?: () => string;
}

type SessionParameters = Pick<StreamParameters, 'requestedPartitions' | 'commitTimeoutMilliseconds'>;

/**
 * Registers a session for a subscription, first making sure that the lease is held and all partitions are initialised.
 * @param eventTypes The subscription's event types with their partition counts.
 * @returns the id of the new stream
 * @throws CONFLICT, PRECONDITION_FAILED (see joining.ts), and the errors of the log and the coordination
 */
export async function openStreamSession(
  { log, coordination, clock, lease, newStreamId = randomUUID }: StreamSessionServices,
  subscription: Subscription,
  eventTypes: ReadonlyMap<string, number>,
  { requestedPartitions, commitTimeoutMilliseconds }: SessionParameters,
): Promise<string> {
  // The session of a process whose lease has ended would be closed at once.
  if (!lease.isValid(clock.monotonic())) await lease.renew();
  await initialisePartitions(log, coordination, subscription, eventTypes);
  const streamId = newStreamId();
  const session = {
    streamId,
    nodeId: lease.nodeId,
    requestedPartitions,
    openedAt: clock.now(),
    commitTimeoutMilliseconds,
  };
  await openSession(coordination, subscription.id, session);
  return streamId;
}

/**
 * Commits positions that no consumer can commit: those after deletions that were passed over. A partition that this
 * session has lost is left to its new owner; the others are still committed. A failure is logged, and the next call
 * tries again.
 */
export async function commitWithoutConsumer(
  { coordination, logger }: Pick<StreamSessionServices, 'coordination' | 'logger'>,
  subscriptionId: string,
  streamId: string,
  partitions: readonly Pick<StreamPartition, 'eventType' | 'partition' | 'fence' | 'committableWithoutConsumer'>[],
): Promise<void> {
  let cursors = partitions.flatMap(({ eventType, partition, fence, committableWithoutConsumer: offset }) =>
    offset === undefined ? [] : [{ eventType, partition, fence, offset }],
  );
  try {
    while (cursors.length > 0) {
      const result = await coordination.commit(subscriptionId, streamId, cursors);
      if (result.outcome !== 'not_owner') {
        if (result.outcome === 'session_not_found') logger.debug({ streamId }, 'A session is gone with its positions');
        return;
      }
      const lost = partitionKey(result.cursor);
      logger.debug({ streamId, partition: lost }, 'A position is left to the new owner of its partition');
      const remaining = cursors.filter((cursor) => partitionKey(cursor) !== lost);
      // If the store names a partition that is not in the request, stop: another attempt would loop for ever.
      if (remaining.length === cursors.length) return;
      cursors = remaining;
    }
  } catch (error) {
    const facts = { streamId, error: describeError(error) };
    logger.warn(facts, 'Cannot commit a position without events; retrying');
  }
}
