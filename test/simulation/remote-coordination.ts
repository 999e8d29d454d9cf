import { every, type Timer } from '../../src/clock.ts';
import { LendstreamError } from '../../src/errors.ts';
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
} from '../../src/ports/coordination.ts';
import type { EventTypePartition } from '../../src/ports/event-type-partition.ts';
import type { FailedDeliveries } from '../../src/ports/failed-deliveries.ts';
import type { NodeReport, ReportedNode } from '../../src/ports/node-reports.ts';
import { SessionCloseRetries } from '../../src/redis/session-close-retries.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Network } from './network.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { NodeCoordination } from './simulated-store.ts';
import type { Store } from './store.ts';

/** How often a process checks whether it missed a change of a watched subscription. Milliseconds. */
const roundMilliseconds = missedChangesMillisecondsMaximum / 2;

/** The generations of one incarnation of the store are below those of the next. */
const generationsPerIncarnation = 1_000_000;

/**
 * The coordination store as one process reaches it: by calls that may fail and notifications that may be lost. As the
 * port promises, it requests changes of the topology that it was not notified of. Like the adapter of Redis, it closes
 * sessions later that it could not close at once, and reports its lease to a store that lost all data.
 */
export class RemoteCoordination implements NodeCoordination {
  /** When a call last failed, in simulated time. */
  failedAt = Number.NEGATIVE_INFINITY;
  readonly #process: SimulatedProcess;
  readonly #store: Store;
  readonly #network: Network;
  readonly #now: () => number;
  readonly #listeners = new Map<string, Set<ChangeListener>>();
  /** The newest generation of each watched subscription that this process was notified of. */
  readonly #knownGenerations = new Map<string, number>();
  /** Ends the subscriptions of this process at the store, and the incarnation of the store. */
  readonly #subscribed = new Map<string, { readonly incarnation: number; readonly stop: () => void }>();
  readonly #rounds: Timer;
  readonly #sessionCloseRetries: SessionCloseRetries;
  /** The subscriptions with a reset of this process in progress. */
  readonly #resets = new Set<string>();
  /** The lease as it was last requested, and when it ends on the clock of this process. */
  #lease: { readonly nodeId: string; readonly endsAt: number } | undefined;
  /** The incarnation of the store that has the lease. */
  #leasedIncarnation = 0;

  constructor(process: SimulatedProcess, store: Store, network: Network, now: () => number) {
    this.#process = process;
    this.#store = store;
    this.#network = network;
    this.#now = now;
    this.#rounds = every(process.clock, roundMilliseconds, () => void this.#askForMissedChanges());
    this.#sessionCloseRetries = new SessionCloseRetries(
      (...session) => this.closeSession(...session),
      process.clock,
      silentLogger,
    );
    process.whenDead(() => {
      for (const { stop } of this.#subscribed.values()) stop();
    });
  }

  claim(name: string, leaseMilliseconds: number): Promise<boolean> {
    return this.#call('claim', [name, leaseMilliseconds]);
  }

  releaseClaim(name: string): Promise<void> {
    return this.#call('releaseClaim', [name]);
  }

  async renewLease(nodeId: string, leaseMilliseconds: number): Promise<void> {
    const endsAt = this.#process.clock.monotonic() + leaseMilliseconds;
    // As the leases on Redis do: a store that forgets everything gets back the end that was requested last, because the
    // response may still be on its way.
    this.#lease = { nodeId, endsAt };
    await this.#call('renewLease', [nodeId, leaseMilliseconds]);
  }

  reapSessions(subscriptionId: string): Promise<number> {
    return this.#call('reapSessions', [subscriptionId]);
  }

  reportNode(report: NodeReport): Promise<void> {
    return this.#call('reportNode', [report]);
  }

  withdrawNode(nodeId: string): Promise<void> {
    return this.#call('withdrawNode', [nodeId]);
  }

  reportedNodes(): Promise<ReportedNode[]> {
    return this.#call('reportedNodes', []);
  }

  initialise(subscriptionId: string, start: readonly CommittedOffset[]): Promise<void> {
    return this.#call('initialise', [subscriptionId, start]);
  }

  async topology(subscriptionId: string): Promise<Topology> {
    const { incarnation, result } = await this.#callOf('topology', [subscriptionId]);
    return { ...result, generation: incarnation * generationsPerIncarnation + result.generation };
  }

  committedOffsets(subscriptionId: string): Promise<CommittedOffset[]> {
    return this.#call('committedOffsets', [subscriptionId]);
  }

  async offsetMarks(): Promise<OffsetMarks> {
    const { incarnation, result } = await this.#callOf('offsetMarks', []);
    return {
      all: `${incarnation}:${result.all}`,
      of: (subscriptionId) => `${incarnation}:${result.of(subscriptionId)}`,
    };
  }

  async openSession(subscriptionId: string, session: Session, placeMilliseconds = 0): Promise<OpenSessionResult> {
    try {
      return await this.#call('openSession', [subscriptionId, session, placeMilliseconds]);
    } catch (error) {
      this.#sessionCloseRetries.add(subscriptionId, session.streamId, 'refused');
      throw error;
    }
  }

  recordSent(subscriptionId: string, streamId: string, sentOffsets: readonly CommittedOffset[]): Promise<boolean> {
    return this.#call('recordSent', [subscriptionId, streamId, sentOffsets]);
  }

  async closeSession(
    subscriptionId: string,
    streamId: string,
    lateCommits: LateCommits = 'accepted',
    failed?: FailedDeliveries,
  ): Promise<void> {
    try {
      await this.#call('closeSession', [subscriptionId, streamId, lateCommits, failed]);
    } catch (error) {
      this.#sessionCloseRetries.add(subscriptionId, streamId, lateCommits, failed);
      throw error;
    }
  }

  async applyOwnership(
    subscriptionId: string,
    generation: number,
    changes: readonly OwnershipChange[],
  ): Promise<'applied' | 'conflict'> {
    const base = (): number => this.#store.incarnation * generationsPerIncarnation;
    return this.#callWith('applyOwnership', () => [subscriptionId, generation - base(), changes]);
  }

  release(
    subscriptionId: string,
    streamId: string,
    partition: EventTypePartition,
    fence: number,
  ): Promise<ReleaseResult> {
    return this.#call('release', [subscriptionId, streamId, partition, fence]);
  }

  async commit(subscriptionId: string, streamId: string, cursors: readonly CursorToCommit[]): Promise<CommitResult> {
    const result = await this.#call('commit', [subscriptionId, streamId, cursors]);
    if (result.outcome === 'committed') {
      const advanced = cursors.filter((_, index) => result.advanced[index] === true);
      // Only here: a notification of another process may be late, and older than a reset.
      if (advanced.length > 0) this.#notify(subscriptionId, 'offsets', undefined, advanced);
    }
    return result;
  }

  heartbeats(subscriptionId: string, streamId: string): Promise<number> {
    return this.#call('heartbeats', [subscriptionId, streamId]);
  }

  async beginReset(subscriptionId: string): Promise<boolean> {
    // As the adapter of Redis: the mark of the one in progress may be lost.
    if (this.#resets.has(subscriptionId)) return false;
    const hasBegun = await this.#call('beginReset', [subscriptionId]);
    if (hasBegun) this.#resets.add(subscriptionId);
    return hasBegun;
  }

  finishReset(subscriptionId: string, offsets: readonly CommittedOffset[]): Promise<void> {
    this.#resets.delete(subscriptionId);
    return this.#call('finishReset', [subscriptionId, offsets]);
  }

  recordHistory(subscriptionId: string, news: SubscriptionHistory): Promise<void> {
    return this.#call('recordHistory', [subscriptionId, news]);
  }

  history(subscriptionId: string): Promise<SubscriptionHistory & { readonly since: number }> {
    return this.#call('history', [subscriptionId]);
  }

  remove(subscriptionId: string): Promise<void> {
    return this.#call('remove', [subscriptionId]);
  }

  watch(subscriptionId: string, listener: ChangeListener): () => void {
    const listeners = this.#listeners.get(subscriptionId) ?? new Set();
    this.#listeners.set(subscriptionId, listeners.add(listener));
    this.#subscribe(subscriptionId);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(subscriptionId) !== listeners) return;
      this.#listeners.delete(subscriptionId);
      this.#knownGenerations.delete(subscriptionId);
      this.#subscribed.get(subscriptionId)?.stop();
      this.#subscribed.delete(subscriptionId);
    };
  }

  async close(): Promise<void> {
    this.#rounds.cancel();
    this.#sessionCloseRetries.stop();
    for (const { stop } of this.#subscribed.values()) stop();
    this.#listeners.clear();
  }

  /** Lets the store notify this process of changes, from now on. */
  #subscribe(subscriptionId: string): void {
    const { incarnation } = this.#store;
    if (!this.#store.isStarted || this.#subscribed.get(subscriptionId)?.incarnation === incarnation) return;
    const { coordination } = this.#store;
    const stop = coordination.watch(subscriptionId, (change) => {
      void coordination.topology(subscriptionId).then(({ generation }) => {
        const known = incarnation * generationsPerIncarnation + generation;
        this.#network.notify(this.#process, () => this.#notify(subscriptionId, change, known));
      });
    });
    this.#subscribed.set(subscriptionId, { incarnation, stop });
  }

  #notify(
    subscriptionId: string,
    change: CoordinationChange,
    generation: number | undefined,
    committed?: readonly CommittedOffset[],
  ): void {
    const isTopology = change !== 'offsets';
    const listeners = this.#listeners.get(subscriptionId);
    if (listeners === undefined) return;
    if (isTopology && generation !== undefined) this.#knownGenerations.set(subscriptionId, generation);
    for (const listener of listeners) listener(change, isTopology ? generation : undefined, committed);
  }

  /** One call requests the generations of all watched subscriptions. */
  async #askForMissedChanges(): Promise<void> {
    const ids = [...this.#listeners.keys()];
    if (ids.length === 0) return;
    try {
      const { incarnation } = this.#store;
      const generations = await this.#send(async () => {
        const { coordination } = this.#store;
        const topologies = await Promise.all(ids.map((id) => coordination.topology(id)));
        return topologies.map(({ generation }) => this.#store.incarnation * generationsPerIncarnation + generation);
      });
      if (incarnation !== this.#store.incarnation) return;
      for (const [index, id] of ids.entries()) {
        this.#subscribe(id);
        const generation = generations[index];
        if (generation !== undefined && generation !== this.#knownGenerations.get(id)) {
          this.#notify(id, 'topology', generation);
        }
      }
    } catch {
      // All of them are told to read.
      for (const id of ids) this.#notify(id, 'topology', undefined);
    }
  }

  #call<Method extends keyof Coordination>(
    method: Method,
    args: Parameters<Coordination[Method]>,
  ): Promise<Awaited<ReturnType<Coordination[Method]>>> {
    return this.#callWith(method, () => args);
  }

  async #callWith<Method extends keyof Coordination>(
    method: Method,
    args: () => Parameters<Coordination[Method]>,
  ): Promise<Awaited<ReturnType<Coordination[Method]>>> {
    return this.#send(() => this.#store.execute(this.#process.name, method, args()));
  }

  /** A store that has lost all data gets the remaining lease before it does anything else. */
  async #recoverLease(): Promise<void> {
    const { incarnation } = this.#store;
    if (this.#leasedIncarnation === incarnation) return;
    this.#leasedIncarnation = incarnation;
    if (this.#lease === undefined) return;
    const milliseconds = this.#lease.endsAt - this.#process.clock.monotonic();
    if (milliseconds > 0) {
      await this.#store.execute(this.#process.name, 'renewLease', [this.#lease.nodeId, milliseconds]);
    }
  }

  #callOf<Method extends keyof Coordination>(
    method: Method,
    args: Parameters<Coordination[Method]>,
  ): Promise<{ readonly incarnation: number; readonly result: Awaited<ReturnType<Coordination[Method]>> }> {
    return this.#send(async () => {
      const { incarnation } = this.#store;
      return { incarnation, result: await this.#store.execute(this.#process.name, method, args) };
    });
  }

  #send<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#network.call(
      this.#process,
      this.#store.process,
      'store',
      async () => {
        await this.#recoverLease();
        return work();
      },
      (reason) => new LendstreamError('COORDINATION_UNAVAILABLE', reason),
      () => {
        this.failedAt = this.#now();
      },
    );
  }
}
