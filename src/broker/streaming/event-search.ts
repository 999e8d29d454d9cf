import type { FailureRecord } from '../../ports/failed-deliveries.ts';
import type { Offset } from '../../ports/event-log.ts';
import type { CloseCode } from './close-codes.ts';

/**
 * The search for the one event that a consumer cannot process, for subscriptions that have a policy for such events.
 * Arithmetic only: nothing here keeps state or reads a clock.
 *
 * Streams that end without a commit are counted with the partition (failed-deliveries.ts). When a batch has failed too
 * often, its events are sent one by one. While one of them is with the consumer, the stream sends nothing else, of no
 * partition: only then does its end say which event failed. An event that has failed too often alone is passed over.
 */

/** Of one partition, while a stream owns it. */
export interface EventSearch {
  readonly record: FailureRecord;
  /** The next event has failed too often and is not sent: it is about to be passed over. */
  isHeld: boolean;
  /** It is being passed over now: the partition stays with this stream until that is done or has failed. */
  isPassingOver: boolean;
  /** This stream has written the dead letter of the event that failed: another attempt to pass it over writes none. */
  hasLetter: boolean;
}

/** The search in a partition whose committed offset is known; undefined when there is nothing to search for. */
export function searchFrom(
  record: FailureRecord | undefined,
  committedThrough: Offset,
  hasLetter = false,
): EventSearch | undefined {
  if (record?.isOneByOne !== true || committedThrough >= record.throughOffset) return undefined;
  return { record, isHeld: false, isPassingOver: false, hasLetter };
}

/**
 * Whether an event that was sent alone has failed too often.
 * @param offset Of the next event of the partition. Only the one whose failures were counted is meant: it may have been
 *   deleted since.
 */
export function hasFailedTooOften({ record }: EventSearch, offset: Offset, sendsMaximum: number): boolean {
  return record.firstOffset === offset && record.failures >= sendsMaximum;
}

/** The ends of a stream that the service brought about, whatever the consumer did. */
const endsByTheService: ReadonlySet<CloseCode> = new Set([
  'server_shutdown',
  'session_lost',
  'subscription_deleted',
  'event_type_deleted',
  'consumption_blocked',
  'access_revoked',
  'cursors_reset',
  'repartitioned',
  'no_free_slots',
  'no_partitions',
  'log_error',
  'coordination_error',
]);

/** Whether the end of a stream says that its consumer failed with what it had not committed. */
export function countsAsFailure(code: CloseCode, isCommitOverdue: boolean): boolean {
  return isCommitOverdue || !endsByTheService.has(code);
}

/** What the turns need to know of a partition. */
export interface PartitionInTurn {
  readonly search: EventSearch | undefined;
  /** Events that wait to be sent. */
  readonly events: number;
  readonly uncommittedEvents: number;
  /** Until when it waits for commits before it goes to another stream; undefined while it stays here. */
  readonly handOverUntil: number | undefined;
}

/** Which partitions of a stream may send now: all, those without a search, none, or this one, and that one event. */
export type SendingTurn<Partition> = 'all' | 'others' | 'none' | Partition;

/**
 * Whose turn it is. The partitions without a search send in between, so that one event that fails again and again does
 * not stop all of them.
 *
 * @param others Whether a partition without a search has a batch with events that is due, asked for when it matters.
 * @param wasSearched Whether an event of a search was sent since the others had their turn.
 * @param rotation Any number, so that of several searches none comes first every time.
 */
export function sendingTurn<Partition extends PartitionInTurn>(
  partitions: readonly Partition[],
  others: (partitions: readonly Partition[]) => boolean,
  wasSearched: boolean,
  rotation: number,
): SendingTurn<Partition> {
  const searching = partitions.filter(({ search }) => search !== undefined);
  if (searching.length === 0) return 'all';
  if (searching.some(({ uncommittedEvents }) => uncommittedEvents > 0)) return 'none';
  const waiting = searching.filter(
    ({ search, events, handOverUntil }) => events > 0 && search?.isHeld === false && handOverUntil === undefined,
  );
  if (waiting.length === 0) return 'others';
  if (partitions.some(({ uncommittedEvents }) => uncommittedEvents > 0)) return 'none';
  if (wasSearched && others(partitions.filter(({ search }) => search === undefined))) return 'others';
  return waiting[rotation % waiting.length] ?? 'none';
}

/** How many events a partition may send in a turn. @param allowance How many the stream may send. */
export function allowanceInTurn<Partition extends PartitionInTurn>(
  turn: SendingTurn<Partition>,
  partition: Partition,
  allowance: number,
): number {
  if (turn === 'all') return allowance;
  if (turn === 'none') return 0;
  if (turn === 'others') return partition.search === undefined ? allowance : 0;
  return turn === partition ? Math.min(allowance, 1) : 0;
}
