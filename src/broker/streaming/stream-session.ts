import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { SlotQueue } from '../subscriptions/slot-queue.ts';
import { openAfterReaping } from '../subscriptions/stream-slots.ts';
import { beginInitialisation } from '../subscriptions/starting-offsets.ts';
import type { Coordination, OpenSessionResult, Session } from '../../ports/coordination.ts';
import type { EventLog, PartitionBounds } from '../../ports/event-log.ts';
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

type SessionParameters = Pick<
  StreamParameters,
  'requestedPartitions' | 'commitTimeoutMilliseconds' | 'strictCommits' | 'countsHeartbeats' | 'slotWaitMilliseconds'
>;

export interface OpenedSession {
  readonly streamId: string;
  /** The event types of the subscription with their partition counts. */
  readonly eventTypes: ReadonlyMap<string, number>;
  readonly bounds: readonly PartitionBounds[];
  /** Nothing may be sent before it resolves: then the starting offsets are stored. Undefined when they were before. */
  readonly stored: Promise<void> | undefined;
}

/** A stream that may have to wait for a slot. */
export interface WaitingStream {
  readonly queue: SlotQueue;
  /** Ends the wait with its reason. */
  readonly signal: AbortSignal;
  /** The subscription's event types with their partition counts, which may have grown during the wait. */
  readonly eventTypes: () => ReadonlyMap<string, number>;
}

/**
 * Registers a session for a subscription, first making sure that the lease is held and all partitions are initialised.
 * @param eventTypes The subscription's event types with their partition counts.
 * @param waiting Where the stream waits for a slot if its parameters ask for that; without it, it is refused at once.
 * @returns the id of the new stream, and the bounds of all partitions as they were a moment ago, with those that were
 *   added during the wait
 * @throws the reason of the signal of a stream that waits, CONFLICT, PRECONDITION_FAILED (see ownership-changes.ts),
 *   and the errors of the log and the coordination
 */
export async function openStreamSession(
  { log, coordination, clock, lease, newStreamId = randomUUID }: StreamSessionServices,
  subscription: Subscription,
  eventTypes: ReadonlyMap<string, number>,
  parameters: SessionParameters,
  waiting?: WaitingStream,
): Promise<OpenedSession> {
  const { requestedPartitions, commitTimeoutMilliseconds, slotWaitMilliseconds } = parameters;
  // The session of a process whose lease has ended would be closed at once.
  if (!lease.isValid(clock.monotonic())) await lease.renew();
  const [{ bounds, stored }] = await Promise.all([
    beginInitialisation(log, coordination, subscription, eventTypes),
    coordination.reapSessions(subscription.id),
  ]);
  const streamId = newStreamId();
  const session = {
    streamId,
    nodeId: lease.nodeId,
    requestedPartitions,
    openedAt: clock.now(),
    commitTimeoutMilliseconds,
    ...(parameters.strictCommits === true ? { sentOffsets: [] } : {}),
    ...(parameters.countsHeartbeats === true ? { countsHeartbeats: true as const } : {}),
  };
  const open =
    waiting === undefined || slotWaitMilliseconds === undefined
      ? (id: string, opening: Session) => openDuringInitialisation(coordination, id, opening, stored)
      : async (id: string, opening: Session) => {
          // It gets a place among those that wait only when there are partitions.
          await stored;
          return waiting.queue.open(id, opening, { milliseconds: slotWaitMilliseconds, signal: waiting.signal });
        };
  await openAfterReaping(coordination, subscription.id, session, open);
  const present = waiting?.eventTypes() ?? eventTypes;
  if (isDeepStrictEqual(present, eventTypes)) return { streamId, eventTypes, bounds, stored };
  const initialised = await finishOpening(coordination, subscription.id, streamId, () =>
    beginInitialisation(log, coordination, subscription, present),
  );
  return { streamId, eventTypes: present, ...initialised };
}

/**
 * Does what a stream still needs when its session is open. If that fails, it closes the session, under which nothing
 * was sent that could be committed.
 */
export async function finishOpening<Result>(
  coordination: Coordination,
  subscriptionId: string,
  streamId: string,
  step: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    await coordination.closeSession(subscriptionId, streamId, 'refused');
    throw error;
  }
}

/**
 * Opens a session while the starting offsets are being stored, which takes longer: the store knows the partitions
 * earlier. One that does not know them yet refuses the session, and is asked again.
 */
async function openDuringInitialisation(
  coordination: Coordination,
  subscriptionId: string,
  session: Session,
  stored: Promise<void> | undefined,
): Promise<OpenSessionResult> {
  const result = await coordination.openSession(subscriptionId, session);
  if (result.outcome !== 'no_free_slots' || stored === undefined) return result;
  await stored;
  return coordination.openSession(subscriptionId, session);
}
