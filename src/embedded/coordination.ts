import { every, type Clock, type Timer } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import {
  missedChangesMillisecondsMaximum,
  type ChangeListener,
  type CommitResult,
  type CommittedOffset,
  type Coordination,
  type CoordinationChange,
  type CursorToCommit,
  type LateCommits,
  type OffsetMarks,
  type OpenSessionResult,
  type OwnershipChange,
  type ReleaseResult,
  type Session,
  type SubscriptionHistory,
  type Topology,
} from '../ports/coordination.ts';
import { partitionKey, type EventTypePartition } from '../ports/event-type-partition.ts';
import type { FailedDeliveries } from '../ports/failed-deliveries.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { NodeReport, ReportedNode } from '../ports/node-reports.ts';
import { createCursorsTopic, mirrorRecord, readMirror } from '../broker/log/cursors-topic.ts';
import { CursorMirror } from './cursor-mirror.ts';
import { ReportedNodes } from './reported-nodes.ts';
import { SubscriptionHistories } from './subscription-history.ts';
import { SubscriptionState } from './subscription-state.ts';

export interface EmbeddedCoordinationOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the watched subscriptions are checked for sessions of dead nodes. Milliseconds. */
const sweepIntervalMilliseconds = missedChangesMillisecondsMaximum / 2;

/**
 * A sweep this long after the one before means that the machine slept: nodes are about to renew their leases.
 * Milliseconds.
 */
const sleepThresholdMilliseconds = 2 * sweepIntervalMilliseconds;

/** From this number of claims on, those that have ended are removed with each new one. */
export const claimsBeforeCleanup = 1_000;

/**
 * Coordination within one process. All state is in memory, and committed offsets are also in the mirror in the log. The
 * mirror is written before a commit or a reset returns. It is also written before an initialisation returns, unless the
 * log is full. A restart keeps the offsets and nothing else.
 */
export class EmbeddedCoordination implements Coordination {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #subscriptions = new Map<string, SubscriptionState>();
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  /** When claims and the leases of nodes end, in monotonic milliseconds. */
  readonly #claims = new Map<string, number>();
  readonly #leases = new Map<string, number>();
  readonly #reportedNodes = new ReportedNodes();
  /** Initialisations, resets and removals of a subscription run one after another. */
  readonly #lastSerialRuns = new Map<string, Promise<unknown>>();
  readonly #history: SubscriptionHistories;
  readonly #mirror: CursorMirror;
  #generation = 0;
  readonly #nextGeneration = (): number => (this.#generation += 1);
  /** How many resets and removals there were. */
  #resets = 0;
  /** Above every fence that streams of removed subscriptions had. */
  #fenceFloor = 0;
  readonly #sweepTimer: Timer;
  /** When the last sweep ran, in monotonic milliseconds. */
  #sweptAt: number;
  #isClosed = false;

  private constructor({ log, clock, logger }: EmbeddedCoordinationOptions) {
    this.#mirror = new CursorMirror(log, clock);
    this.#clock = clock;
    this.#logger = logger;
    this.#history = new SubscriptionHistories(clock.now());
    this.#sweptAt = clock.monotonic();
    this.#sweepTimer = every(clock, sweepIntervalMilliseconds, () => this.#sweep());
  }

  /** Opens with the offsets in the log. Creates the topic of the mirror if it is missing. */
  static async open(options: EmbeddedCoordinationOptions): Promise<EmbeddedCoordination> {
    const coordination = new EmbeddedCoordination(options);
    await createCursorsTopic(options.log, options.clock);
    for (const [subscriptionId, offsets] of await readMirror(options.log)) {
      coordination.#state(subscriptionId).addPartitions(offsets, 0);
    }
    return coordination;
  }

  async claim(name: string, leaseMilliseconds: number): Promise<boolean> {
    this.#requireOpen();
    const now = this.#clock.monotonic();
    const until = this.#claims.get(name);
    if (until !== undefined && until > now) return false;
    if (this.#claims.size >= claimsBeforeCleanup) {
      for (const [claimed, end] of this.#claims) if (end <= now) this.#claims.delete(claimed);
    }
    this.#claims.set(name, now + leaseMilliseconds);
    return true;
  }

  async releaseClaim(name: string): Promise<void> {
    this.#requireOpen();
    this.#claims.delete(name);
  }

  async renewLease(nodeId: string, leaseMilliseconds: number): Promise<void> {
    this.#requireOpen();
    this.#leases.set(nodeId, this.#clock.monotonic() + leaseMilliseconds);
  }

  async reapSessions(subscriptionId: string): Promise<number> {
    this.#requireOpen();
    return this.#reap(subscriptionId);
  }

  async reportNode(report: NodeReport): Promise<void> {
    this.#requireOpen();
    this.#reportedNodes.add(report, this.#clock.monotonic());
  }

  async withdrawNode(nodeId: string): Promise<void> {
    this.#requireOpen();
    this.#reportedNodes.delete(nodeId);
  }

  async reportedNodes(): Promise<ReportedNode[]> {
    this.#requireOpen();
    return this.#reportedNodes.list(this.#clock.monotonic());
  }

  initialise(subscriptionId: string, start: readonly CommittedOffset[]): Promise<void> {
    return this.#runSerially(subscriptionId, async () => {
      const state = this.#state(subscriptionId);
      const added = new Map(
        start
          .filter((committed) => !state.hasPartition(committed))
          .map((committed) => [partitionKey(committed), committed] as const),
      );
      if (added.size === 0) return;
      const offsets = [...added.values()];
      await this.#mirror.writeStart(
        offsets.map((committed) => mirrorRecord(subscriptionId, committed, committed.offset)),
      );
      state.addPartitions(offsets, this.#fenceFloor);
      this.#notify(subscriptionId, 'topology');
    });
  }

  async topology(subscriptionId: string): Promise<Topology> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    return state?.topology() ?? { generation: 0, resetting: false, sessions: [], partitions: [], committed: [] };
  }

  async committedOffsets(subscriptionId: string): Promise<CommittedOffset[]> {
    this.#requireOpen();
    return this.#subscriptions.get(subscriptionId)?.committedOffsets() ?? [];
  }

  /** All subscriptions have the same one: resets are rare. */
  async offsetMarks(): Promise<OffsetMarks> {
    this.#requireOpen();
    const mark = String(this.#resets);
    return { all: mark, of: () => mark };
  }

  async openSession(subscriptionId: string, session: Session, placeMilliseconds = 0): Promise<OpenSessionResult> {
    this.#requireOpen();
    const now = this.#clock.monotonic();
    const isDead = (nodeId: string): boolean => (this.#leases.get(nodeId) ?? 0) <= now;
    const result = this.#state(subscriptionId).openSession(session, { now, placeMilliseconds, isDead });
    if (result.outcome === 'opened') this.#notify(subscriptionId, 'topology');
    return result;
  }

  async recordSent(
    subscriptionId: string,
    streamId: string,
    sentOffsets: readonly CommittedOffset[],
  ): Promise<boolean> {
    this.#requireOpen();
    return this.#subscriptions.get(subscriptionId)?.recordSent(streamId, sentOffsets) ?? false;
  }

  async closeSession(
    subscriptionId: string,
    streamId: string,
    lateCommits: LateCommits = 'accepted',
    failed?: FailedDeliveries,
  ): Promise<void> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    const isChanged = state?.closeSession(streamId, lateCommits, this.#clock.monotonic(), failed) ?? false;
    if (isChanged) this.#notify(subscriptionId, 'topology');
  }

  async applyOwnership(
    subscriptionId: string,
    generation: number,
    changes: readonly OwnershipChange[],
  ): Promise<'applied' | 'conflict'> {
    this.#requireOpen();
    const result = this.#subscriptions.get(subscriptionId)?.applyOwnership(generation, changes) ?? 'conflict';
    if (result === 'applied' && changes.length > 0) this.#notify(subscriptionId, 'topology');
    return result;
  }

  async release(
    subscriptionId: string,
    streamId: string,
    partition: EventTypePartition,
    fence: number,
  ): Promise<ReleaseResult> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    const result = state?.release(streamId, partition, fence) ?? { outcome: 'fenced' };
    if (result.outcome === 'released') this.#notify(subscriptionId, 'topology');
    return result;
  }

  async commit(subscriptionId: string, streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitResult> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    if (state === undefined) return { outcome: 'session_not_found' };
    const decision = state.decideCommit(streamId, cursors, this.#clock.monotonic());
    if (decision.outcome !== 'judged') return decision;
    const { advanced, pendingCommits, dependsOn } = decision;
    if (pendingCommits.length > 0) {
      const written = this.#mirror.write(
        pendingCommits.map(({ partition, offset }) => mirrorRecord(subscriptionId, partition, offset)),
      );
      for (const pendingCommit of pendingCommits) pendingCommit.durable = written;
      try {
        await written;
      } catch (error) {
        state.completeCommits(pendingCommits, false);
        throw error;
      }
      state.completeCommits(pendingCommits, true);
      const committed = pendingCommits.map(({ partition: { eventType, partition }, offset }) => {
        return { eventType, partition, offset };
      });
      this.#notify(subscriptionId, 'offsets', committed);
    } else if (state.countHeartbeat(streamId, cursors)) {
      this.#notify(subscriptionId, 'offsets');
    }
    // A cursor counts as outdated only when the offset that outdated it is durable.
    await Promise.all(dependsOn.map(({ durable }) => durable));
    return { outcome: 'committed', advanced };
  }

  async heartbeats(subscriptionId: string, streamId: string): Promise<number> {
    this.#requireOpen();
    return this.#subscriptions.get(subscriptionId)?.heartbeats(streamId) ?? 0;
  }

  async beginReset(subscriptionId: string): Promise<boolean> {
    this.#requireOpen();
    const hasBegun = this.#state(subscriptionId).beginReset();
    if (hasBegun) this.#notify(subscriptionId, 'reset');
    return hasBegun;
  }

  finishReset(subscriptionId: string, offsets: readonly CommittedOffset[]): Promise<void> {
    return this.#runSerially(subscriptionId, async () => {
      const state = this.#state(subscriptionId);
      try {
        if (offsets.length > 0) {
          state.freeze();
          await this.#mirror.write(
            offsets.map((committed) => mirrorRecord(subscriptionId, committed, committed.offset)),
          );
          const added = offsets.filter((committed) => !state.hasPartition(committed));
          state.addPartitions(added, this.#fenceFloor);
          for (const committed of offsets) state.setCommitted(committed);
          state.forgetFailures();
          this.#resets += 1;
        }
      } finally {
        // A failed reset ends as well, or no stream could ever open again.
        state.endReset();
        this.#notify(subscriptionId, 'offsets');
        this.#notify(subscriptionId, 'topology');
      }
    });
  }

  async recordHistory(subscriptionId: string, addition: SubscriptionHistory): Promise<void> {
    this.#requireOpen();
    this.#history.add(subscriptionId, addition);
  }

  async history(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    this.#requireOpen();
    return this.#history.of(subscriptionId);
  }

  remove(subscriptionId: string): Promise<void> {
    return this.#runSerially(subscriptionId, async () => {
      const state = this.#subscriptions.get(subscriptionId);
      const offsets = state?.committedOffsets() ?? [];
      state?.freeze();
      state?.closeAllSessions();
      try {
        if (offsets.length > 0) {
          await this.#mirror.write(offsets.map((committed) => mirrorRecord(subscriptionId, committed, null)));
        }
      } catch (error) {
        state?.unfreeze();
        this.#notify(subscriptionId, 'topology');
        throw error;
      }
      this.#fenceFloor = Math.max(this.#fenceFloor, state?.highestFence() ?? 0);
      this.#subscriptions.delete(subscriptionId);
      this.#resets += 1;
      this.#history.forget(subscriptionId);
      this.#notify(subscriptionId, 'removed');
    });
  }

  watch(subscriptionId: string, listener: ChangeListener): () => void {
    const listeners = this.#listeners.get(subscriptionId) ?? new Set();
    this.#listeners.set(subscriptionId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(subscriptionId) === listeners) {
        this.#listeners.delete(subscriptionId);
      }
    };
  }

  /** Waits for commits under way. The log stays open. Further calls throw COORDINATION_UNAVAILABLE. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sweepTimer.cancel();
    await Promise.allSettled(this.#lastSerialRuns.values());
    await this.#mirror.close();
  }

  #reap(subscriptionId: string): number {
    const now = this.#clock.monotonic();
    const state = this.#subscriptions.get(subscriptionId);
    const count = state?.closeSessionsOf((nodeId) => (this.#leases.get(nodeId) ?? 0) <= now, now) ?? 0;
    if (count > 0) this.#notify(subscriptionId, 'topology');
    return count;
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    const hasSlept = now - this.#sweptAt > sleepThresholdMilliseconds;
    this.#sweptAt = now;
    if (hasSlept) return;
    for (const subscriptionId of this.#listeners.keys()) this.#reap(subscriptionId);
  }

  #state(subscriptionId: string): SubscriptionState {
    const known = this.#subscriptions.get(subscriptionId);
    if (known !== undefined) return known;
    const state = new SubscriptionState(this.#nextGeneration);
    this.#subscriptions.set(subscriptionId, state);
    return state;
  }

  #runSerially<Result>(subscriptionId: string, work: () => Promise<Result>): Promise<Result> {
    const previous = this.#lastSerialRuns.get(subscriptionId) ?? Promise.resolve();
    const result = previous.then(() => {
      this.#requireOpen();
      return work();
    });
    const finished = result.then(
      () => {},
      () => {},
    );
    this.#lastSerialRuns.set(subscriptionId, finished);
    void finished.then(() => {
      if (this.#lastSerialRuns.get(subscriptionId) === finished) this.#lastSerialRuns.delete(subscriptionId);
    });
    return result;
  }

  #notify(subscriptionId: string, change: CoordinationChange, committed?: readonly CommittedOffset[]): void {
    for (const listener of this.#listeners.get(subscriptionId) ?? []) {
      try {
        listener(change, undefined, committed);
      } catch (error) {
        this.#logger.error({ subscriptionId, change, error: describeError(error) }, 'A watcher failed');
      }
    }
  }

  #requireOpen(): void {
    if (this.#isClosed) {
      throw new LendstreamError('COORDINATION_UNAVAILABLE', 'The service is shutting down.');
    }
  }
}
