import type { Offset } from './event-log.ts';

/**
 * Coordination: the port behind which Redis (cluster) or memory (one machine) keeps what consumers of a subscription
 * share: sessions, ownership of partitions, committed offsets.
 *
 * It is expendable: committed offsets are mirrored to the log before or shortly after a commit is answered, and the
 * rest is rebuilt by the streams that are open. Each method is atomic. What a method decides from is the store's own
 * state, never a caller's copy. Every method may throw COORDINATION_UNAVAILABLE (retriable).
 *
 * Words: a *session* is one open stream, known by its stream id; it lives on a *node* (process) and dies with the
 * node's *lease*. A partition's *fence* is a number that grows by one with each change of owner and is never reused.
 */

export interface EventTypePartition {
  readonly eventType: string;
  readonly partition: number;
}

export interface Session {
  readonly streamId: string;
  readonly nodeId: string;
  /** The partitions this stream asked for; empty for a stream that takes what it is given. */
  readonly requestedPartitions: readonly EventTypePartition[];
  /** When the stream was opened. Milliseconds since the epoch. */
  readonly openedAt: number;
  /** How long commits under this session still count after it was closed, see {@link Coordination.closeSession}. */
  readonly commitTimeoutMilliseconds: number;
}

export type OwnershipState = 'unassigned' | 'assigned' | 'reassigning';

/**
 * Who may deliver and commit a partition.
 * - unassigned: `streamId` and `nextStreamId` are null.
 * - assigned: `streamId` owns it.
 * - reassigning: `streamId` still owns it and may commit; it stops delivering and hands over to `nextStreamId`.
 */
export interface PartitionOwnership extends EventTypePartition {
  readonly state: OwnershipState;
  readonly streamId: string | null;
  readonly nextStreamId: string | null;
  readonly fence: number;
}

export interface Topology {
  /** Grows with every change of sessions or ownership; what a compare-and-set compares. */
  readonly generation: number;
  /** While a cursor reset is under way no session may open. */
  readonly resetting: boolean;
  /** By stream id. */
  readonly sessions: readonly Session[];
  /** By event type, then partition. Empty before {@link Coordination.initialise}. */
  readonly partitions: readonly PartitionOwnership[];
}

/** The last processed offset of a partition: -1 before the first record ever. */
export interface CommittedOffset extends EventTypePartition {
  readonly offset: Offset;
}

/** What the rebalancer wants changed (see rebalance.ts). */
export interface OwnershipChange extends EventTypePartition {
  readonly state: 'assigned' | 'reassigning';
  /** assigned: the new owner. reassigning: the present owner, unchanged. */
  readonly streamId: string;
  /** reassigning: who gets it. assigned: null. */
  readonly nextStreamId: string | null;
}

export type OpenSessionAnswer =
  | { readonly outcome: 'opened' }
  | { readonly outcome: 'resetting' }
  /** As many auto streams are open as there are partitions not directly requested. */
  | { readonly outcome: 'no_free_slots'; readonly totalSlots: number }
  /** Requested partitions that other open streams requested first. */
  | { readonly outcome: 'partitions_taken'; readonly partitions: readonly EventTypePartition[] };

export type ReleaseAnswer =
  | { readonly outcome: 'released'; readonly nextStreamId: string | null; readonly fence: number }
  /** The caller no longer owns the partition under this fence; nothing was changed. */
  | { readonly outcome: 'fenced' };

/** What becomes of commits under a session that was closed. */
export type LateCommits = 'accepted' | 'refused';

export type CommitAnswer =
  /**
   * In the order of the request: true when the cursor moved the committed offset forward, false when it was outdated.
   */
  | { readonly outcome: 'committed'; readonly advanced: readonly boolean[] }
  /** Not open, and closed too long ago, or a partition of the request is no longer its to commit. */
  | { readonly outcome: 'session_not_found' }
  /** The first cursor whose partition this session does not own; nothing of the request was committed. */
  | { readonly outcome: 'not_owner'; readonly cursor: EventTypePartition };

export interface CursorToCommit extends CommittedOffset {
  /** When given, the commit counts only under this tenure of the partition. */
  readonly fence?: number;
}

/**
 * Something of a subscription changed. A hint: it may be lost or come twice, so watchers re-read what they care for.
 */
export type CoordinationChange = 'topology' | 'offsets' | 'reset' | 'removed';

/** How soon a process makes up for what it has missed of the subscriptions that are watched in it. Milliseconds. */
export const missedChangesMillisecondsMaximum = 2_000;

/**
 * @param generation That the topology has reached, where it is known: one who has seen it need not look again.
 * @param committed With 'offsets', what was committed, where it is known: one who takes it need not look.
 */
export type ChangeListener = (
  change: CoordinationChange,
  generation?: number,
  committed?: readonly CommittedOffset[],
) => void;

/** What was committed last in a partition, be it behind what was committed before. */
export interface LastCommit extends EventTypePartition {
  /** As the client gave it. */
  readonly offset: string;
  /** Milliseconds since the epoch. */
  readonly committedAt: number;
}

/** A stream that has ended, and why, in the words of its last line. */
export interface EndedStream {
  readonly streamId: string;
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

/** What people may wonder about when nothing arrives. Nothing is decided from it. */
export interface SubscriptionHistory {
  /** One for each partition, in no particular order. */
  readonly lastCommits: readonly LastCommit[];
  /** Newest first. */
  readonly endedStreams: readonly EndedStream[];
}

/** How many ended streams of a subscription are remembered. */
export const endedStreamsMaximum = 10;

export interface Coordination {
  /**
   * Claims a name for whoever asks first. True for exactly one of any number of concurrent callers until it is
   * released or `leaseMilliseconds` have passed.
   */
  claim(name: string, leaseMilliseconds: number): Promise<boolean>;
  releaseClaim(name: string): Promise<void>;

  /** Keeps this node's sessions alive for `leaseMilliseconds` from now. */
  renewLease(nodeId: string, leaseMilliseconds: number): Promise<void>;
  /** Closes every session of nodes whose lease has ended; answers how many sessions that were. */
  reapSessions(subscriptionId: string): Promise<number>;

  /**
   * Sets the starting offsets of partitions that have none yet and makes them known as unassigned. Partitions already
   * known keep offset and owner, so any number of streams may call this at once.
   */
  initialise(subscriptionId: string, start: readonly CommittedOffset[]): Promise<void>;
  topology(subscriptionId: string): Promise<Topology>;
  /** By event type, then partition. Empty before {@link initialise}. */
  committedOffsets(subscriptionId: string): Promise<CommittedOffset[]>;

  /** Checks reset, slots and requested partitions and adds the session, all in one step. */
  openSession(subscriptionId: string, session: Session): Promise<OpenSessionAnswer>;
  /**
   * Removes the session. Its partitions go to their next stream at once where one is named and open (fence + 1), else
   * they become unassigned. A session that is not there is no error.
   *
   * Its stream may still commit a partition that became unassigned, until another stream gets that partition, its
   * cursors are reset, or the session's commit timeout has passed. This holds for sessions closed by
   * {@link reapSessions} as well, unless the store loses its memory first.
   *
   * @param lateCommits 'refused' for a stream that ended because its commits did not come in time.
   */
  closeSession(subscriptionId: string, streamId: string, lateCommits?: LateCommits): Promise<void>;

  /**
   * Compare-and-set: applies the changes when the topology's generation is still the given one, raising the fence of
   * each partition that gets another owner. A change that names a closed session is a conflict as well.
   */
  applyOwnership(
    subscriptionId: string,
    generation: number,
    changes: readonly OwnershipChange[],
  ): Promise<'applied' | 'conflict'>;
  /** The owner hands a reassigning partition to its next stream (or, when that is gone, to nobody). */
  release(
    subscriptionId: string,
    streamId: string,
    partition: EventTypePartition,
    fence: number,
  ): Promise<ReleaseAnswer>;

  /**
   * Moves committed offsets forward, durably. The session and every partition's owner are checked before anything is
   * written. For what a closed session may commit see {@link closeSession}. Cursors of one partition are judged in
   * order against the running maximum.
   */
  commit(subscriptionId: string, streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitAnswer>;

  /** Marks a reset: open streams are told to close, new sessions are refused. False when one is under way already. */
  beginReset(subscriptionId: string): Promise<boolean>;
  /**
   * Sets the given offsets, in either direction, and ends the reset. Every partition loses its owner and its fence
   * grows, so that nothing delivered before the reset can be committed after it. An empty list only ends the reset.
   */
  finishReset(subscriptionId: string, offsets: readonly CommittedOffset[]): Promise<void>;

  /**
   * Adds to what is remembered of the subscription: its last commits, and the last {@link endedStreamsMaximum} streams
   * that ended. Not as durable as the rest: a loss shows in what {@link history} says of its beginning.
   */
  remember(subscriptionId: string, news: SubscriptionHistory): Promise<void>;
  /** What is remembered, by whichever process, and since when anything is. Milliseconds since the epoch. */
  history(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }>;

  /** Forgets the subscription: sessions, ownership, offsets and their mirror, history. Watchers get 'removed'. */
  remove(subscriptionId: string): Promise<void>;

  /**
   * Tells of what changes from now on, until the answered function is called. As long as somebody watches,
   * - a change of the topology is told again within {@link missedChangesMillisecondsMaximum} where its hint was lost;
   * - sessions of dead nodes are closed that soon after their lease has ended without {@link reapSessions}.
   *
   * Both need a store that can be reached; when it cannot, everybody is told to look, and so finds out. A lost
   * 'offsets' is not made up for: whoever waits for commits looks himself.
   */
  watch(subscriptionId: string, listener: ChangeListener): () => void;

  close(): Promise<void>;
}

/**
 * Whether the id is no subscription's but one under which the service shares partitions among its own processes. What
 * is committed under it means nothing and is shown to nobody.
 */
export function isReservedId(subscriptionId: string): boolean {
  return subscriptionId.startsWith('lendstream.');
}

/** One spelling of a partition as a map key. */
export function partitionKey({ eventType, partition }: EventTypePartition): string {
  return `${eventType}:${partition}`;
}

/** By event type, then partition: the order of every list of partitions. */
export function comparePartitions(left: EventTypePartition, right: EventTypePartition): number {
  if (left.eventType !== right.eventType) return left.eventType < right.eventType ? -1 : 1;
  return left.partition - right.partition;
}

/** A partition as the API's messages write it, whatever stands for its number. */
export function describePartition(eventType: string, partition: string | number): string {
  return `EventTypePartition{eventType='${eventType}', partition='${partition}'}`;
}

/** Partitions as the API's messages list them. */
export function describePartitions(partitions: readonly EventTypePartition[]): string {
  return [...partitions]
    .sort(comparePartitions)
    .map(({ eventType, partition }) => describePartition(eventType, partition))
    .join(', ');
}
