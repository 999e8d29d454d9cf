import type {
  CommittedOffset,
  CursorToCommit,
  LateCommits,
  OpenSessionResult,
  OwnershipChange,
  OwnershipState,
  ReleaseResult,
  Session,
  Topology,
} from '../ports/coordination.ts';
import { comparePartitions, partitionKey, type EventTypePartition } from '../ports/event-type-partition.ts';
import { recordFailure, type FailedDeliveries, type FailureRecord } from '../ports/failed-deliveries.ts';
import type { Offset } from '../ports/event-log.ts';

/** An offset that is being written to the mirror. */
export interface PendingCommit {
  readonly partition: SubscribedPartition;
  readonly offset: Offset;
  /** Settles when the mirror has replied. */
  durable: Promise<void>;
}

interface SubscribedPartition extends EventTypePartition {
  state: OwnershipState;
  streamId: string | null;
  nextStreamId: string | null;
  fence: number;
  /** The closed session that owned the partition last, as long as it may still commit. */
  lastOwner: LastOwner | undefined;
  /** The durable offset. */
  committed: Offset;
  /** Offsets that are not durable yet, ascending. */
  pendingCommits: readonly PendingCommit[];
  failureRecord: FailureRecord | undefined;
}

interface LastOwner {
  readonly streamId: string;
  /** Monotonic milliseconds. */
  readonly commitsUntil: number;
  /** Of a strict session: the last offset that it was sent. */
  readonly sentThrough: Offset | undefined;
}

/** A session that waits for a slot. */
interface Place {
  readonly nodeId: string;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** What the opening of a session depends on besides the state. */
export interface Opening {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** How long a refused session keeps its place; 0 for none. */
  readonly placeMilliseconds: number;
  readonly isDead: (nodeId: string) => boolean;
}

const withoutPlace: Opening = { now: 0, placeMilliseconds: 0, isDead: () => false };

/** Shared by every partition without a commit under way, which is nearly all of them. */
const noPendingCommits: readonly PendingCommit[] = [];

export type CommitDecision =
  | { readonly outcome: 'session_not_found' }
  | { readonly outcome: 'not_owner'; readonly cursor: EventTypePartition }
  | { readonly outcome: 'not_sent'; readonly cursor: CommittedOffset }
  | {
      readonly outcome: 'judged';
      readonly advanced: readonly boolean[];
      /** To be written. Later decisions already count them. */
      readonly pendingCommits: readonly PendingCommit[];
      /** Earlier pending commits that the result "outdated" depends on. */
      readonly dependsOn: readonly PendingCommit[];
    };

/**
 * The state that the streams of one subscription share, in memory. It implements every rule of the coordination port
 * except durability. Methods are synchronous and so atomic. Those that change sessions or ownership return whether they
 * changed anything.
 */
export class SubscriptionState {
  readonly #nextGeneration: () => number;
  readonly #sessions = new Map<string, Session>();
  /** Of the sessions that count them and had any. */
  readonly #heartbeats = new Map<string, number>();
  /** Those that have waited longest come first. */
  readonly #places = new Map<string, Place>();
  /** By event type, then partition. */
  #partitions = new Map<string, SubscribedPartition>();
  #generation: number;
  #isResetting = false;
  /** While offsets are forced or removed, no stream may become an owner. */
  #isFrozen = false;

  /** @param nextGeneration Never returns the same number twice, so that a compare-and-set fails after a removal. */
  constructor(nextGeneration: () => number) {
    this.#nextGeneration = nextGeneration;
    this.#generation = nextGeneration();
  }

  topology(): Topology {
    return {
      generation: this.#generation,
      resetting: this.#isResetting,
      sessions: [...this.#sessions.values()].sort((left, right) => (left.streamId < right.streamId ? -1 : 1)),
      partitions: [...this.#partitions.values()].map(
        ({ eventType, partition, state, streamId, nextStreamId, fence, failureRecord }) => ({
          eventType,
          partition,
          state,
          streamId,
          nextStreamId,
          fence,
          ...(failureRecord === undefined ? {} : { failureRecord }),
        }),
      ),
      committed: this.committedOffsets(),
    };
  }

  committedOffsets(): CommittedOffset[] {
    return [...this.#partitions.values()].map(({ eventType, partition, committed }) => ({
      eventType,
      partition,
      offset: committed,
    }));
  }

  hasPartition(partition: EventTypePartition): boolean {
    return this.#partitions.has(partitionKey(partition));
  }

  /** @param fence The fence that these partitions start from. */
  addPartitions(offsets: readonly CommittedOffset[], fence: number): void {
    const added = offsets.map(({ eventType, partition, offset }): SubscribedPartition => ({
      eventType,
      partition,
      state: 'unassigned',
      streamId: null,
      nextStreamId: null,
      fence,
      lastOwner: undefined,
      committed: offset,
      pendingCommits: noPendingCommits,
      failureRecord: undefined,
    }));
    const all = [...this.#partitions.values(), ...added].sort(comparePartitions);
    this.#partitions = new Map(all.map((partition) => [partitionKey(partition), partition]));
    this.#changed();
  }

  openSession(session: Session, opening = withoutPlace): OpenSessionResult {
    const { streamId, nodeId, requestedPartitions } = session;
    if (this.#sessions.has(streamId)) return { outcome: 'opened' };
    const refusal = this.#refusal(session, opening);
    if (refusal === undefined) {
      this.#places.delete(streamId);
      this.#sessions.set(streamId, session);
      this.#changed();
      return { outcome: 'opened' };
    }
    const { now, placeMilliseconds } = opening;
    if (placeMilliseconds > 0 && requestedPartitions.length === 0) {
      this.#places.set(streamId, { nodeId, until: now + placeMilliseconds });
    }
    return refusal;
  }

  #refusal(session: Session, opening: Opening): OpenSessionResult | undefined {
    if (this.#isResetting) return { outcome: 'resetting' };
    const others = [...this.#sessions.values()];
    const requested = new Set(others.flatMap(({ requestedPartitions }) => requestedPartitions.map(partitionKey)));
    if (session.requestedPartitions.length > 0) {
      const taken = session.requestedPartitions.filter((partition) => requested.has(partitionKey(partition)));
      if (taken.length > 0) return { outcome: 'partitions_taken', partitions: taken.sort(comparePartitions) };
    } else {
      const autoStreams = others.filter(({ requestedPartitions }) => requestedPartitions.length === 0).length;
      const totalSlots = this.#partitions.size;
      const taken = autoStreams + this.#placesBefore(session.streamId, opening);
      if (taken >= totalSlots - requested.size) return { outcome: 'no_free_slots', totalSlots };
    }
    return undefined;
  }

  /** How many sessions have waited longer. */
  #placesBefore(streamId: string, { now, isDead }: Opening): number {
    let count = 0;
    for (const [id, { nodeId, until }] of this.#places) {
      if (until <= now || isDead(nodeId)) this.#places.delete(id);
      else if (id === streamId) break;
      else count += 1;
    }
    return count;
  }

  /** @param now Monotonic milliseconds, as everywhere in this class. */
  closeSession(streamId: string, lateCommits: LateCommits, now: number, failed?: FailedDeliveries): boolean {
    const session = this.#sessions.get(streamId);
    if (session === undefined) {
      const hadPlace = this.#places.delete(streamId);
      if (hadPlace) this.#changed();
      return hadPlace;
    }
    this.#sessions.delete(streamId);
    this.#heartbeats.delete(streamId);
    if (failed !== undefined) this.#recordFailures(streamId, failed);
    const commitsUntil = lateCommits === 'accepted' ? now + session.commitTimeoutMilliseconds : now;
    for (const partition of this.#partitions.values()) {
      if (partition.streamId !== streamId) continue;
      this.#handOver(partition);
      if (partition.streamId === null) {
        partition.lastOwner = { streamId, commitsUntil, sentThrough: sentThrough(session, partition) };
      }
    }
    this.#changed();
    return true;
  }

  /** Returns whether the session is open. */
  recordSent(streamId: string, sentOffsets: readonly CommittedOffset[]): boolean {
    const session = this.#sessions.get(streamId);
    if (session === undefined) return false;
    const sent = { ...session, sentOffsets };
    const isLate = session.sentOffsets?.some((before) => (sentThrough(sent, before) ?? -1) < before.offset) ?? false;
    if (!isLate) this.#sessions.set(streamId, sent);
    return true;
  }

  /** Closes the sessions of the streams on dead nodes. Returns how many it closed. */
  closeSessionsOf(isDead: (nodeId: string) => boolean, now: number): number {
    const dead = [...this.#sessions.values()].filter(({ nodeId }) => isDead(nodeId));
    for (const { streamId } of dead) this.closeSession(streamId, 'accepted', now);
    return dead.length;
  }

  applyOwnership(generation: number, changes: readonly OwnershipChange[]): 'applied' | 'conflict' {
    if (generation !== this.#generation || this.#isFrozen) return 'conflict';
    const pairs = changes.map((change) => ({ change, partition: this.#partitions.get(partitionKey(change)) }));
    if (!pairs.every(({ change, partition }) => partition !== undefined && this.#mayBecome(partition, change))) {
      return 'conflict';
    }
    for (const { change, partition } of pairs) {
      if (partition === undefined) continue;
      if (partition.streamId !== change.streamId) partition.fence += 1;
      partition.state = change.state;
      partition.streamId = change.streamId;
      partition.lastOwner = undefined;
      partition.nextStreamId = change.nextStreamId;
    }
    if (changes.length > 0) this.#changed();
    return 'applied';
  }

  release(streamId: string, eventTypePartition: EventTypePartition, fence: number): ReleaseResult {
    const partition = this.#partitions.get(partitionKey(eventTypePartition));
    if (partition === undefined || partition.streamId !== streamId || partition.fence !== fence) {
      return { outcome: 'fenced' };
    }
    this.#handOver(partition);
    this.#changed();
    return { outcome: 'released', nextStreamId: partition.streamId, fence: partition.fence };
  }

  /**
   * Compares cursors with the durable offsets and the ones being written. The caller sets `durable` of each pending
   * commit.
   */
  decideCommit(streamId: string, cursors: readonly CursorToCommit[], now: number): CommitDecision {
    const session = this.#sessions.get(streamId);
    const isOpen = session !== undefined;
    if (!isOpen && cursors.length === 0) return { outcome: 'session_not_found' };
    const mayCommit = (cursor: CursorToCommit): boolean =>
      isOpen ? this.#owns(streamId, cursor) : this.#ownedLast(streamId, cursor, now);
    const notOwned = cursors.find((cursor) => !mayCommit(cursor));
    if (notOwned !== undefined) {
      if (!isOpen) return { outcome: 'session_not_found' };
      return { outcome: 'not_owner', cursor: { eventType: notOwned.eventType, partition: notOwned.partition } };
    }
    const notSent = this.#firstNotSent(session, cursors);
    if (notSent !== undefined) return { outcome: 'not_sent', cursor: notSent };
    const highestOffsets = new Map<SubscribedPartition, Offset>();
    const dependsOn = new Set<PendingCommit>();
    const advanced = cursors.map((cursor) => {
      const partition = this.#partitions.get(partitionKey(cursor));
      if (partition === undefined) return false;
      const lastPending = partition.pendingCommits.at(-1);
      // A later commit may have become durable before the pending one.
      const reached = Math.max(lastPending?.offset ?? partition.committed, partition.committed);
      if (cursor.offset > (highestOffsets.get(partition) ?? reached)) {
        highestOffsets.set(partition, cursor.offset);
        return true;
      }
      if (cursor.offset > partition.committed && lastPending !== undefined) dependsOn.add(lastPending);
      return false;
    });
    const pendingCommits = [...highestOffsets].map(([partition, offset]): PendingCommit => {
      const pendingCommit = { partition, offset, durable: Promise.resolve() };
      partition.pendingCommits = [...partition.pendingCommits, pendingCommit];
      return pendingCommit;
    });
    return { outcome: 'judged', advanced, pendingCommits, dependsOn: [...dependsOn] };
  }

  /** Counts a commit that moved nothing forward, if it is a heart-beat. Returns whether it is. */
  countHeartbeat(streamId: string, cursors: readonly CursorToCommit[]): boolean {
    if (this.#sessions.get(streamId)?.countsHeartbeats !== true) return false;
    const isHeartbeat = cursors.some((cursor) => {
      const partition = this.#partitions.get(partitionKey(cursor));
      return cursor.offset === (partition?.pendingCommits.at(-1)?.offset ?? partition?.committed);
    });
    if (isHeartbeat) this.#heartbeats.set(streamId, this.heartbeats(streamId) + 1);
    return isHeartbeat;
  }

  heartbeats(streamId: string): number {
    return this.#heartbeats.get(streamId) ?? 0;
  }

  /** Called when the mirror has replied: the offsets are durable, or it is unknown whether they are. */
  completeCommits(pendingCommits: readonly PendingCommit[], isDurable: boolean): void {
    for (const pendingCommit of pendingCommits) {
      const { partition, offset } = pendingCommit;
      const remaining = partition.pendingCommits.filter((other) => other !== pendingCommit);
      partition.pendingCommits = remaining.length === 0 ? noPendingCommits : remaining;
      if (isDurable) partition.committed = Math.max(partition.committed, offset);
    }
  }

  beginReset(): boolean {
    if (this.#isResetting) return false;
    this.#isResetting = true;
    this.#changed();
    return true;
  }

  endReset(): void {
    this.#isResetting = false;
    this.#isFrozen = false;
    this.#changed();
  }

  /**
   * Takes every partition from its owner, so that no further commit is accepted, until {@link endReset} or
   * {@link unfreeze}. Commits under way are written before any later write, so they need no recall.
   */
  freeze(): void {
    this.#isFrozen = true;
    for (const partition of this.#partitions.values()) {
      Object.assign(partition, { state: 'unassigned', streamId: null, nextStreamId: null, lastOwner: undefined });
      partition.fence += 1;
    }
    this.#changed();
  }

  unfreeze(): void {
    this.#isFrozen = false;
  }

  /** Begins the counts of failed deliveries again. To be called when a reset of the cursors is stored. */
  forgetFailures(): void {
    for (const partition of this.#partitions.values()) partition.failureRecord = undefined;
  }

  closeAllSessions(): void {
    this.#sessions.clear();
    this.#heartbeats.clear();
    this.#places.clear();
    this.#changed();
  }

  setCommitted({ offset, ...eventTypePartition }: CommittedOffset): void {
    const partition = this.#partitions.get(partitionKey(eventTypePartition));
    if (partition !== undefined) partition.committed = offset;
  }

  highestFence(): number {
    return Math.max(0, ...[...this.#partitions.values()].map(({ fence }) => fence));
  }

  #recordFailures(streamId: string, { failuresMaximum, partitions }: FailedDeliveries): void {
    for (const delivery of partitions) {
      const partition = this.#partitions.get(partitionKey(delivery));
      if (partition?.streamId !== streamId) continue;
      // The stream has not heard of the commit.
      if (delivery.firstOffset <= partition.committed) continue;
      partition.failureRecord = recordFailure(partition.failureRecord, delivery, failuresMaximum);
    }
  }

  #owns(streamId: string, cursor: CursorToCommit): boolean {
    const partition = this.#partitions.get(partitionKey(cursor));
    return partition?.streamId === streamId && (cursor.fence ?? partition.fence) === partition.fence;
  }

  /**
   * Whether the stream was the last owner of the partition and may still commit. True while no other stream has owned
   * it since and the time for late commits has not passed.
   */
  #ownedLast(streamId: string, cursor: CursorToCommit, now: number): boolean {
    const partition = this.#partitions.get(partitionKey(cursor));
    const lastOwner = partition?.lastOwner;
    if (partition === undefined || lastOwner?.streamId !== streamId) return false;
    return now < lastOwner.commitsUntil && (cursor.fence ?? partition.fence) === partition.fence;
  }

  /**
   * The first cursor that a strict session was not sent.
   * @param session Undefined when it is closed: what the last owner was sent counts.
   */
  #firstNotSent(session: Session | undefined, cursors: readonly CursorToCommit[]): CommittedOffset | undefined {
    if (session !== undefined && session.sentOffsets === undefined) return undefined;
    const found = cursors.find((cursor) => {
      const partition = this.#partitions.get(partitionKey(cursor));
      const sent = session === undefined ? partition?.lastOwner?.sentThrough : sentThrough(session, cursor);
      if (partition === undefined || sent === undefined) return false;
      const committed = partition.pendingCommits.at(-1)?.offset ?? partition.committed;
      return cursor.offset > Math.max(sent, committed);
    });
    return found && { eventType: found.eventType, partition: found.partition, offset: found.offset };
  }

  /** An owner with an open session keeps its partition until it hands the partition over itself. */
  #mayBecome(partition: SubscribedPartition, { state, streamId, nextStreamId }: OwnershipChange): boolean {
    if (!this.#sessions.has(streamId)) return false;
    const isOwner = partition.streamId === streamId;
    if (state === 'reassigning') return isOwner && nextStreamId !== null && this.#sessions.has(nextStreamId);
    return isOwner || partition.streamId === null || !this.#sessions.has(partition.streamId);
  }

  #handOver(partition: SubscribedPartition): void {
    const next = partition.state === 'reassigning' ? partition.nextStreamId : null;
    partition.nextStreamId = null;
    if (next !== null && this.#sessions.has(next)) {
      partition.state = 'assigned';
      partition.streamId = next;
      partition.fence += 1;
    } else {
      partition.state = 'unassigned';
      partition.streamId = null;
    }
  }

  #changed(): void {
    this.#generation = this.#nextGeneration();
  }
}

/** The last offset of the partition that a strict session was sent; undefined for any other session. */
function sentThrough({ sentOffsets }: Session, partition: EventTypePartition): Offset | undefined {
  if (sentOffsets === undefined) return undefined;
  const key = partitionKey(partition);
  return sentOffsets.find((sent) => partitionKey(sent) === key)?.offset ?? -1;
}
