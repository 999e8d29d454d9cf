import type { Clock } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import {
  missedChangesMillisecondsMaximum,
  type ChangeListener,
  type CommitAnswer,
  type CommittedOffset,
  type Coordination,
  type CoordinationChange,
  type CursorToCommit,
  type EventTypePartition,
  type LateCommits,
  type OpenSessionAnswer,
  type OwnershipChange,
  type ReleaseAnswer,
  type Session,
  type SubscriptionHistory,
  type Topology,
} from '../ports/coordination.ts';
import type { EventLog } from '../ports/event-log.ts';
import { createCursorsTopic, mirrorRecord, readMirror } from '../broker/log/cursor-mirror.ts';
import { MirrorWrites } from './mirror-writes.ts';
import { RememberedHistory } from './remembered-history.ts';
import { SubscriptionState } from './subscription-state.ts';

export interface EmbeddedCoordinationOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the watched subscriptions are checked for sessions of dead nodes. Milliseconds. */
const sweepMilliseconds = missedChangesMillisecondsMaximum / 2;

/**
 * A sweep this long after the one before means that the machine slept: nodes are about to renew their leases.
 * Milliseconds.
 */
const sleepMilliseconds = 2 * sweepMilliseconds;

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
  /** Initialisations, resets and removals of a subscription run one after another. */
  readonly #exclusive = new Map<string, Promise<unknown>>();
  readonly #history: RememberedHistory;
  readonly #mirror: MirrorWrites;
  #generation = 0;
  readonly #nextGeneration = (): number => (this.#generation += 1);
  /** Above every fence that streams of removed subscriptions had. */
  #fenceFloor = 0;
  readonly #sweeps: NodeJS.Timeout;
  /** When the last sweep ran, in milliseconds of this process, independent of the injected clock. */
  #sweptAt = performance.now();
  #isClosed = false;

  private constructor({ log, clock, logger }: EmbeddedCoordinationOptions) {
    this.#mirror = new MirrorWrites(log);
    this.#clock = clock;
    this.#logger = logger;
    this.#history = new RememberedHistory(clock.now());
    this.#sweeps = setInterval(() => this.#sweep(), sweepMilliseconds).unref();
  }

  /** Opens with the offsets in the log. Creates the topic of the mirror if it is missing. */
  static async open(options: EmbeddedCoordinationOptions): Promise<EmbeddedCoordination> {
    const coordination = new EmbeddedCoordination(options);
    await createCursorsTopic(options.log);
    for (const [subscriptionId, offsets] of await readMirror(options.log)) {
      coordination.#state(subscriptionId).addPartitions(offsets, 0);
    }
    return coordination;
  }

  async claim(name: string, leaseMilliseconds: number): Promise<boolean> {
    this.#requireOpen();
    const now = this.#clock.monotonic();
    if ((this.#claims.get(name) ?? 0) > now) return false;
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

  initialise(subscriptionId: string, start: readonly CommittedOffset[]): Promise<void> {
    return this.#alone(subscriptionId, async () => {
      const state = this.#state(subscriptionId);
      const added = new Map(
        start
          .filter((place) => !state.knows(place))
          .map((place) => [`${place.eventType}/${place.partition}`, place] as const),
      );
      if (added.size === 0) return;
      const offsets = [...added.values()];
      await this.#mirror.writeStart(offsets.map((place) => mirrorRecord(subscriptionId, place, place.offset)));
      state.addPartitions(offsets, this.#fenceFloor);
      this.#tell(subscriptionId, 'topology');
    });
  }

  async topology(subscriptionId: string): Promise<Topology> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    return state?.topology() ?? { generation: 0, resetting: false, sessions: [], partitions: [] };
  }

  async committedOffsets(subscriptionId: string): Promise<CommittedOffset[]> {
    this.#requireOpen();
    return this.#subscriptions.get(subscriptionId)?.committedOffsets() ?? [];
  }

  async openSession(subscriptionId: string, session: Session): Promise<OpenSessionAnswer> {
    this.#requireOpen();
    const answer = this.#state(subscriptionId).openSession(session);
    if (answer.outcome === 'opened') this.#tell(subscriptionId, 'topology');
    return answer;
  }

  async closeSession(subscriptionId: string, streamId: string, lateCommits: LateCommits = 'accepted'): Promise<void> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    const isChanged = state?.closeSession(streamId, lateCommits, this.#clock.monotonic()) ?? false;
    if (isChanged) this.#tell(subscriptionId, 'topology');
  }

  async applyOwnership(
    subscriptionId: string,
    generation: number,
    changes: readonly OwnershipChange[],
  ): Promise<'applied' | 'conflict'> {
    this.#requireOpen();
    const answer = this.#subscriptions.get(subscriptionId)?.applyOwnership(generation, changes) ?? 'conflict';
    if (answer === 'applied' && changes.length > 0) this.#tell(subscriptionId, 'topology');
    return answer;
  }

  async release(
    subscriptionId: string,
    streamId: string,
    partition: EventTypePartition,
    fence: number,
  ): Promise<ReleaseAnswer> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    const answer = state?.release(streamId, partition, fence) ?? { outcome: 'fenced' };
    if (answer.outcome === 'released') this.#tell(subscriptionId, 'topology');
    return answer;
  }

  async commit(subscriptionId: string, streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitAnswer> {
    this.#requireOpen();
    const state = this.#subscriptions.get(subscriptionId);
    if (state === undefined) return { outcome: 'session_not_found' };
    const judgement = state.judge(streamId, cursors, this.#clock.monotonic());
    if (judgement.outcome !== 'judged') return judgement;
    const { advanced, submissions, restsOn } = judgement;
    if (submissions.length > 0) {
      const written = this.#mirror.write(
        submissions.map(({ partition, offset }) => mirrorRecord(subscriptionId, partition, offset)),
      );
      for (const submission of submissions) submission.durable = written;
      try {
        await written;
      } catch (error) {
        state.settle(submissions, false);
        throw error;
      }
      state.settle(submissions, true);
      const committed = submissions.map(({ partition: { eventType, partition }, offset }) => {
        return { eventType, partition, offset };
      });
      this.#tell(subscriptionId, 'offsets', committed);
    }
    // A cursor counts as outdated only when the offset that outdated it is durable.
    await Promise.all(restsOn.map(({ durable }) => durable));
    return { outcome: 'committed', advanced };
  }

  async beginReset(subscriptionId: string): Promise<boolean> {
    this.#requireOpen();
    const hasBegun = this.#state(subscriptionId).beginReset();
    if (hasBegun) this.#tell(subscriptionId, 'reset');
    return hasBegun;
  }

  finishReset(subscriptionId: string, offsets: readonly CommittedOffset[]): Promise<void> {
    return this.#alone(subscriptionId, async () => {
      const state = this.#state(subscriptionId);
      if (offsets.length > 0) state.freeze();
      try {
        if (offsets.length > 0) {
          await this.#mirror.write(offsets.map((place) => mirrorRecord(subscriptionId, place, place.offset)));
          const added = offsets.filter((place) => !state.knows(place));
          state.addPartitions(added, this.#fenceFloor);
          for (const place of offsets) state.setCommitted(place);
        }
      } finally {
        // A failed reset ends as well, or no stream could ever open again.
        state.endReset();
        this.#tell(subscriptionId, 'offsets');
        this.#tell(subscriptionId, 'topology');
      }
    });
  }

  async remember(subscriptionId: string, news: SubscriptionHistory): Promise<void> {
    this.#requireOpen();
    this.#history.add(subscriptionId, news);
  }

  async history(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    this.#requireOpen();
    return this.#history.of(subscriptionId);
  }

  remove(subscriptionId: string): Promise<void> {
    return this.#alone(subscriptionId, async () => {
      const state = this.#subscriptions.get(subscriptionId);
      const places = state?.committedOffsets() ?? [];
      state?.freeze();
      state?.closeAllSessions();
      try {
        if (places.length > 0) {
          await this.#mirror.write(places.map((place) => mirrorRecord(subscriptionId, place, null)));
        }
      } catch (error) {
        state?.thaw();
        this.#tell(subscriptionId, 'topology');
        throw error;
      }
      this.#fenceFloor = Math.max(this.#fenceFloor, state?.highestFence() ?? 0);
      this.#subscriptions.delete(subscriptionId);
      this.#history.forget(subscriptionId);
      this.#tell(subscriptionId, 'removed');
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
    clearInterval(this.#sweeps);
    await Promise.allSettled(this.#exclusive.values());
    await this.#mirror.close();
    this.#listeners.clear();
  }

  #reap(subscriptionId: string): number {
    const now = this.#clock.monotonic();
    const state = this.#subscriptions.get(subscriptionId);
    const count = state?.closeSessionsOf((nodeId) => (this.#leases.get(nodeId) ?? 0) <= now, now) ?? 0;
    if (count > 0) this.#tell(subscriptionId, 'topology');
    return count;
  }

  #sweep(): void {
    const now = performance.now();
    const hasSlept = now - this.#sweptAt > sleepMilliseconds;
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

  #alone<Result>(subscriptionId: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#exclusive.get(subscriptionId) ?? Promise.resolve();
    const result = before.then(() => {
      this.#requireOpen();
      return work();
    });
    const settled = result.then(
      () => {},
      () => {},
    );
    this.#exclusive.set(subscriptionId, settled);
    void settled.then(() => {
      if (this.#exclusive.get(subscriptionId) === settled) this.#exclusive.delete(subscriptionId);
    });
    return result;
  }

  #tell(subscriptionId: string, change: CoordinationChange, committed?: readonly CommittedOffset[]): void {
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
