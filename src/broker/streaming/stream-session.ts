import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { openSession } from '../subscriptions/stream-slots.ts';
import { initialisePartitions } from '../subscriptions/starting-offsets.ts';
import type { Coordination } from '../../ports/coordination.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { NodeLease } from './node-lease.ts';
import type { StreamParameters } from './stream-parameters.ts';
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

type SessionParameters = Pick<StreamParameters, 'requestedPartitions' | 'commitTimeoutMilliseconds' | 'strictCommits'>;

/**
 * Registers a session for a subscription, first making sure that the lease is held and all partitions are initialised.
 * @param eventTypes The subscription's event types with their partition counts.
 * @returns the id of the new stream
 * @throws CONFLICT, PRECONDITION_FAILED (see ownership-changes.ts), and the errors of the log and the coordination
 */
export async function openStreamSession(
  { log, coordination, clock, lease, newStreamId = randomUUID }: StreamSessionServices,
  subscription: Subscription,
  eventTypes: ReadonlyMap<string, number>,
  { requestedPartitions, commitTimeoutMilliseconds, strictCommits }: SessionParameters,
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
    ...(strictCommits === true ? { sentOffsets: [] } : {}),
  };
  await openSession(coordination, subscription.id, session);
  return streamId;
}
