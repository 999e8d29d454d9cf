import type { Offset } from './event-log.ts';
import type { EventTypePartition } from './event-type-partition.ts';
import type { FailedDeliveries, FailureRecord } from './failed-deliveries.ts';
import type { NodeReport, ReportedNode } from './node-reports.ts';

/**
 * Coordination: the port behind which Redis (cluster) or memory (one machine) keeps the state that the consumers of a
 * subscription share: sessions, ownership of partitions, committed offsets.
 *
 * This state is expendable. Committed offsets are mirrored to the log before the response to a commit or shortly after
 * it, and the open streams rebuild the rest. Each method is atomic. A method decides from the store's own state, never
 * from a caller's copy. Every method may throw COORDINATION_UNAVAILABLE (retriable).
 *
 * Words: a *session* is one open stream, known by its stream id; it lives on a *node* (process) and dies with the
 * node's *lease*. A partition's *fence* is a number that grows by one with each change of owner and is never reused.
 */

export interface Session {
  readonly streamId: string;
  readonly nodeId: string;
  /** The partitions this stream requested; empty for a stream that accepts any. */
  readonly requestedPartitions: readonly EventTypePartition[];
  /** When the stream was opened. Milliseconds since the epoch. */
  readonly openedAt: number;
  /** How long commits of this session still count after it was closed, see {@link Coordination.closeSession}. */
  readonly commitTimeoutMilliseconds: number;
  /**
   * Makes commits strict: of each partition, the last offset that the stream was sent. A partition that is missing was
   * not sent to it yet. Absent for a stream that may commit what it was not sent.
   */
  readonly sentOffsets?: readonly CommittedOffset[];
  /** Makes a commit of what is committed already a heart-beat, see {@link Coordination.heartbeats}. */
  readonly countsHeartbeats?: true;
}

export type OwnershipState = 'unassigned' | 'assigned' | 'reassigning';

/**
 * Which stream may deliver and commit a partition.
 * - unassigned: `streamId` and `nextStreamId` are null.
 * - assigned: `streamId` owns it.
 * - reassigning: `streamId` still owns it and may commit; it stops delivering and hands over to `nextStreamId`.
 */
export interface PartitionOwnership extends EventTypePartition {
  readonly state: OwnershipState;
  readonly streamId: string | null;
  readonly nextStreamId: string | null;
  readonly fence: number;
  /** How often the next event failed. Absent on a partition of which no failure was reported since its last reset. */
  readonly failureRecord?: FailureRecord;
}

export interface Topology {
  /** Grows with every change of sessions or ownership. {@link Coordination.applyOwnership} compares it. */
  readonly generation: number;
  /** While a cursor reset is under way no session may open. */
  readonly resetting: boolean;
  /** By stream id. */
  readonly sessions: readonly Session[];
  /** By event type, then partition. Empty before {@link Coordination.initialise}. */
  readonly partitions: readonly PartitionOwnership[];
  /** What was committed until the same moment: also by earlier owners. As {@link Coordination.committedOffsets}. */
  readonly committed: readonly CommittedOffset[];
}

/** The last processed offset of a partition: -1 before the first record ever. */
export interface CommittedOffset extends EventTypePartition {
  readonly offset: Offset;
}

/** A change that the rebalancer wants (see rebalance.ts). */
export interface OwnershipChange extends EventTypePartition {
  readonly state: 'assigned' | 'reassigning';
  /** assigned: the new owner. reassigning: the present owner, unchanged. */
  readonly streamId: string;
  /** reassigning: the stream that gets it. assigned: null. */
  readonly nextStreamId: string | null;
}

export type OpenSessionResult =
  | { readonly outcome: 'opened' }
  | { readonly outcome: 'resetting' }
  /** As many streams that accept any partition are open as there are partitions that no stream requested. */
  | { readonly outcome: 'no_free_slots'; readonly totalSlots: number }
  /** Requested partitions that other open streams requested first. */
  | { readonly outcome: 'partitions_taken'; readonly partitions: readonly EventTypePartition[] };

export type ReleaseResult =
  | { readonly outcome: 'released'; readonly nextStreamId: string | null; readonly fence: number }
  /** The caller no longer owns the partition under this fence; nothing was changed. */
  | { readonly outcome: 'fenced' };

/** How commits of a closed session are treated. */
export type LateCommits = 'accepted' | 'refused';

export type CommitResult =
  /**
   * In the order of the request: true when the cursor moved the committed offset forward, false when it was outdated.
   */
  | { readonly outcome: 'committed'; readonly advanced: readonly boolean[] }
  /** The session is not open, and it was closed too long ago or may no longer commit a partition of the request. */
  | { readonly outcome: 'session_not_found' }
  /** The first cursor whose partition this session does not own; nothing of the request was committed. */
  | { readonly outcome: 'not_owner'; readonly cursor: EventTypePartition }
  /** Of a strict session: the first cursor beyond what it was sent; nothing of the request was committed. */
  | { readonly outcome: 'not_sent'; readonly cursor: CommittedOffset };

export interface CursorToCommit extends CommittedOffset {
  /** When given, the commit counts only under this fence of the partition. */
  readonly fence?: number;
}

/**
 * Which state of a subscription changed. A change notification: it may be lost or come twice, so watchers re-read what
 * they need.
 */
export type CoordinationChange = 'topology' | 'offsets' | 'reset' | 'removed';

/** How soon a process catches up on changes it missed of the subscriptions that are watched in it. Milliseconds. */
export const missedChangesMillisecondsMaximum = 2_000;

/**
 * @param generation The topology's generation, where known. A listener that has read this one need not read again.
 * @param committed With 'offsets', the committed offsets, where known. A listener that takes them need not read again.
 *   They are never late: after a reset that the listener's process could have seen, none from before it are given.
 */
export type ChangeListener = (
  change: CoordinationChange,
  generation?: number,
  committed?: readonly CommittedOffset[],
) => void;

/** The latest commit of a partition, even an outdated one. */
export interface LastCommit extends EventTypePartition {
  /** As the client sent it. */
  readonly offset: string;
  /** Milliseconds since the epoch. */
  readonly committedAt: number;
}

/** A stream that has ended. */
export interface EndedStream {
  readonly streamId: string;
  /** Why it ended, in the words of its last line. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}

/** Facts for people who wonder why nothing arrives. No decision depends on them. */
export interface SubscriptionHistory {
  /** One for each partition, in no particular order. */
  readonly lastCommits: readonly LastCommit[];
  /** Newest first. */
  readonly endedStreams: readonly EndedStream[];
}

/**
 * What shows whether committed offsets moved in any other way than by commits. A mark that is unchanged says that they
 * only moved forward; a changed one says nothing.
 */
export interface OffsetMarks {
  /** The marks of all subscriptions as one: while it is unchanged, each of them is. */
  readonly all: string;
  of(subscriptionId: string): string;
}

/** How many ended streams of a subscription are remembered. */
export const endedStreamsMaximum = 10;

export interface Coordination {
  /**
   * Claims a name for the first caller. Returns true for exactly one of any number of concurrent callers until the
   * claim is released or `leaseMilliseconds` have passed.
   */
  claim(name: string, leaseMilliseconds: number): Promise<boolean>;
  releaseClaim(name: string): Promise<void>;

  /** Keeps this node's sessions alive for `leaseMilliseconds` from now. */
  renewLease(nodeId: string, leaseMilliseconds: number): Promise<void>;
  /** Closes every session of nodes whose lease has ended. Returns how many sessions those were. */
  reapSessions(subscriptionId: string): Promise<number>;

  /**
   * Stores what a node says of itself, in place of what it said before, for {@link nodeRetentionMilliseconds}. Reports
   * are less durable than the rest: after a loss, nodes are missing until they report again.
   */
  reportNode(report: NodeReport): Promise<void>;
  /** Forgets a node that stops. An unknown one is not an error. */
  withdrawNode(nodeId: string): Promise<void>;
  /** What each node said last, in no particular order; at most {@link reportedNodesMaximum}. */
  reportedNodes(): Promise<ReportedNode[]>;

  /**
   * Sets the starting offsets of partitions that have none yet and registers these partitions as unassigned. Registered
   * partitions keep their offset and owner, so any number of streams may call this at once.
   */
  initialise(subscriptionId: string, start: readonly CommittedOffset[]): Promise<void>;
  topology(subscriptionId: string): Promise<Topology>;
  /** By event type, then partition. Empty before {@link initialise}. */
  committedOffsets(subscriptionId: string): Promise<CommittedOffset[]>;
  /**
   * Marks that change with each reset and removal, and with a loss of the store. Those who remember what they read need
   * not read again what cannot have moved back; the cost does not grow with the subscriptions.
   */
  offsetMarks(): Promise<OffsetMarks>;

  /**
   * Notes how far a strict session is about to be sent its partitions, in place of what was noted before. A list with a
   * lower offset, or without one, comes late and changes nothing. To be called before the events leave, so that no
   * commit of them is refused.
   * @returns false when the session is not open
   */
  recordSent(subscriptionId: string, streamId: string, sentOffsets: readonly CommittedOffset[]): Promise<boolean>;

  /**
   * Checks for a reset, for free slots and for the requested partitions, and adds the session, all in one step.
   *
   * @param placeMilliseconds How long a refused session keeps a place among those that wait for a slot; 0 for none.
   *   Only sessions that accept any partition get places. A free slot goes to the session that has waited longest:
   *   others are refused as long as there are places for all free slots. Asking again keeps the place. It ends with its
   *   time, with the lease of its node, and with {@link closeSession}.
   */
  openSession(subscriptionId: string, session: Session, placeMilliseconds?: number): Promise<OpenSessionResult>;
  /**
   * Removes the session, or gives up its place among those that wait. Each of its partitions goes to its next stream at
   * once if one is named and open (fence + 1). Otherwise it becomes unassigned. A missing session is not an error.
   *
   * Its stream may still commit a partition that became unassigned, until another stream gets that partition, its
   * cursors are reset, or the session's commit timeout has passed. This is also true for sessions closed by
   * {@link reapSessions}, unless the store loses its data first.
   *
   * @param lateCommits 'refused' for a stream that ended because its commits did not come in time.
   * @param failed Counted in the failure records of the partitions that the session owns. They stay with the partition
   *   under its next owners, until its next reset or a loss of the store. A first event that is committed is not
   *   counted: the stream has not heard of its commit. {@link reapSessions} counts nothing: a process that died says
   *   nothing about the consumer.
   */
  closeSession(
    subscriptionId: string,
    streamId: string,
    lateCommits?: LateCommits,
    failed?: FailedDeliveries,
  ): Promise<void>;

  /**
   * Compare-and-set: applies the changes if the topology's generation is still the given one, and raises the fence of
   * each partition that gets another owner. A change that names a closed session is also a conflict.
   */
  applyOwnership(
    subscriptionId: string,
    generation: number,
    changes: readonly OwnershipChange[],
  ): Promise<'applied' | 'conflict'>;
  /** The owner hands a reassigning partition to its next stream. If that is gone, the partition is left unassigned. */
  release(
    subscriptionId: string,
    streamId: string,
    partition: EventTypePartition,
    fence: number,
  ): Promise<ReleaseResult>;

  /**
   * Moves committed offsets forward, durably. The session and every partition's owner are checked before anything is
   * written. For what a closed session may commit see {@link closeSession}. Of a strict session, open or closed,
   * nothing is committed beyond what it was sent ({@link recordSent}) or what is committed already. Cursors of one
   * partition are compared in order with the running maximum. The store does not know the end of the log: it commits an
   * offset beyond the end as given, so callers check that first.
   */
  commit(subscriptionId: string, streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitResult>;

  /**
   * How many heart-beats a session has had: commits that moved no partition forward and named the committed offset of
   * one. Only of an open session that counts them; each is reported to watchers as a change of 'offsets'. After a loss
   * the count begins again.
   */
  heartbeats(subscriptionId: string, streamId: string): Promise<number>;

  /**
   * Marks a reset: open streams are told to close, new sessions are refused. False when a reset is already running.
   * @param milliseconds After which the mark counts as that of a process that died. Default two minutes.
   */
  beginReset(subscriptionId: string, milliseconds?: number): Promise<boolean>;
  /**
   * Sets the given offsets, in either direction, and ends the reset. Every partition loses its owner and its failure
   * record, and its fence grows, so that nothing delivered before the reset can be committed after it. An empty list
   * only ends the reset.
   * @throws COORDINATION_UNAVAILABLE when the store has lost the mark and streams have opened since; nothing is changed
   */
  finishReset(subscriptionId: string, offsets: readonly CommittedOffset[]): Promise<void>;

  /**
   * Adds to the history of the subscription: its last commits, and the last {@link endedStreamsMaximum} streams that
   * ended. The history is less durable than the rest: after a loss {@link history} returns a later `since`.
   */
  recordHistory(subscriptionId: string, news: SubscriptionHistory): Promise<void>;
  /** The history from all processes, and when it begins (`since`, milliseconds since the epoch). */
  history(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }>;

  /** Removes the subscription: sessions, ownership, offsets and their mirror, history. Watchers get 'removed'. */
  remove(subscriptionId: string): Promise<void>;

  /**
   * Notifies the listener of changes from now on, until the returned function is called. As long as there is a watcher,
   * - a change of the topology whose notification was lost is reported again within {@link
   *   missedChangesMillisecondsMaximum};
   * - sessions of dead nodes are closed that soon after their lease has ended, without {@link reapSessions}.
   *
   * Both need a reachable store. When it is unreachable, all watchers are told to read again, and so find out. A lost
   * 'offsets' notification is not repeated. A stream that waits for commits polls. A commit is reported on the process
   * where its stream is open, and on the one that made it; other processes need not learn of it.
   */
  watch(subscriptionId: string, listener: ChangeListener): () => void;

  close(): Promise<void>;
}
