import type { CloseCode } from './close-codes.ts';
import { commitDeadline, isCommitOverdue } from './commit-deadline.ts';
import type { StreamParameters } from './stream-parameters.ts';

/** When a stream has to end by itself, and when to check that next. Times are monotonic milliseconds. */

export type ClosingRules = Pick<StreamParameters, 'commitTimeoutMilliseconds' | 'keepAliveLimit' | 'streamLimit'>;

export interface PartitionProgress {
  /** Events that were read and not sent. */
  readonly events: number;
  /** Keep-alives since the last batch with events. */
  readonly keepAlives: number;
  /** Why nothing more can be read. */
  readonly readFailure: Closing | undefined;
  /** Until when the partition waits for commits before it goes to its next stream; undefined while it stays here. */
  readonly handOverUntil: number | undefined;
}

export interface StreamProgress {
  readonly partitions: readonly PartitionProgress[];
  /** Events sent in the lifetime of the stream. */
  readonly sentEvents: number;
  /** Since when sent events have waited for a commit; undefined when there are none. */
  readonly uncommittedSince: number | undefined;
  /** Since when the stream has had no partition. Counts only while it has none. */
  readonly idleSince: number;
  /** When its stream timeout is reached. */
  readonly endsAt: number;
  readonly logClosed: boolean;
}

export interface Closing {
  readonly code: CloseCode;
  readonly detail: string;
}

/** Why the stream has to end now; undefined while nothing ends it. If there are several, the first one below. */
export function closingReason(rules: ClosingRules, progress: StreamProgress, now: number): Closing | undefined {
  const { keepAliveLimit, streamLimit } = rules;
  const { partitions, sentEvents, uncommittedSince } = progress;
  if (isCommitOverdue(rules, uncommittedSince, now)) return { code: 'commit_timeout', detail: '' };
  if (streamLimit > 0 && sentEvents >= streamLimit && uncommittedSince === undefined) {
    return { code: 'stream_limit', detail: String(streamLimit) };
  }
  if (now >= progress.endsAt) return { code: 'stream_timeout', detail: '' };
  if (progress.logClosed) return { code: 'server_shutdown', detail: '' };
  if (partitions.some(({ handOverUntil }) => handOverUntil !== undefined && now >= handOverUntil)) {
    return { code: 'handover_timeout', detail: '' };
  }
  if (partitions.length === 0) {
    return now >= partitionsAwaitedUntil(rules, progress) ? { code: 'no_partitions', detail: '' } : undefined;
  }
  if (keepAliveLimit > 0 && partitions.every(({ keepAlives }) => keepAlives >= keepAliveLimit)) {
    return { code: 'keep_alive_limit', detail: String(keepAliveLimit) };
  }
  // Events that were read before reading failed are sent first.
  return partitions.find(({ readFailure, events }) => readFailure !== undefined && events === 0)?.readFailure;
}

/** The first moment at which time alone makes {@link closingReason} return a reason. */
export function closingDueAt(rules: ClosingRules, progress: StreamProgress): number {
  const { partitions, uncommittedSince } = progress;
  let at = progress.endsAt;
  if (uncommittedSince !== undefined) at = Math.min(at, commitDeadline(rules, uncommittedSince));
  if (partitions.length === 0) at = Math.min(at, partitionsAwaitedUntil(rules, progress));
  for (const { handOverUntil } of partitions) if (handOverUntil !== undefined) at = Math.min(at, handOverUntil);
  return at;
}

/** A stream without partitions waits for one twice as long as another stream may take to release it. */
function partitionsAwaitedUntil(rules: ClosingRules, { idleSince }: StreamProgress): number {
  return idleSince + 2 * rules.commitTimeoutMilliseconds;
}
