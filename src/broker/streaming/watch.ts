import type { Clock } from '../../clock.ts';
import { describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { applyRebalance } from '../subscriptions/assignment.ts';
import type { CommittedOffset, Coordination, CoordinationChange, Topology } from '../../ports/coordination.ts';
import type { NodeLease } from './node-lease.ts';

/**
 * How often committed offsets are read again while sent events wait for commits: a change notification may be lost.
 * Milliseconds.
 */
const offsetsRecheckMilliseconds = 1_000;

/**
 * How often sessions and ownership are read again without notice of a change. The coordination makes up for lost
 * notifications itself; this is for unforeseen cases. Milliseconds.
 */
const topologyRecheckMilliseconds = 300_000;

/** How long to wait before an operation that failed with a retriable error is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

export interface StreamWatchServices {
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: NodeLease;
}

/**
 * The stream that owns a watch and is notified of changes. An interface instead of closures saves memory: each open
 * stream has a watch.
 */
export interface StreamWatcher {
  readonly streamId: string;
  readonly subscription: { readonly id: string };
  /** Whether the stream has ended, so that nothing needs to be read any more. */
  hasEnded(): boolean;
  /** Applies new state. @param topology Given only if it was read too, before the committed offsets. */
  applyState(committed: readonly CommittedOffset[], topology: Topology | undefined): Promise<void>;
  /** Called after a read: new state may take effect, or the time of the next attempt is known. */
  onRefreshed(): void;
  /** The store cannot be reached: commits and hand-overs are impossible. @param now Monotonic milliseconds. */
  onStoreUnreachable(now: number): void;
  /** Reading the state failed permanently. */
  onRefreshFailed(error: unknown): void;
}

/**
 * Follows changes that others make to a stream's subscription: commits, sessions, ownership. Change notifications only
 * say that it is time to read; the state itself is read from the coordination store, one read at a time. While commits
 * are expected, the watch also reads without a change notification.
 */
export class StreamWatch {
  readonly #services: StreamWatchServices;
  readonly #watcher: StreamWatcher;
  #isRefreshing = false;
  #topologyWanted = true;
  #offsetsWanted = false;
  /** The generation of the topology that was read last; undefined if it has to be read again in any case. */
  #generation: number | undefined;
  /** The epoch of the process's lease during which the topology was last read. */
  #leaseEpoch = 0;
  /** The lease epoch for which a read of the topology was last requested. */
  #requestedLeaseEpoch = 0;
  #failing = false;
  #topologyRecheckAt: number;
  #offsetsRecheckAt = Infinity;

  constructor(services: StreamWatchServices, watcher: StreamWatcher) {
    this.#services = services;
    this.#watcher = watcher;
    this.#topologyRecheckAt = services.clock.monotonic() + topologyRecheckMilliseconds;
  }

  /** When the next read without a change notification is due. Monotonic milliseconds. */
  get nextRefreshAt(): number {
    return Math.min(this.#topologyRecheckAt, this.#offsetsRecheckAt);
  }

  /**
   * Reads the state that a change notification names.
   * @param generation Of the topology, where it is known.
   * @param committed The committed offsets, where they are known: then nothing has to be read.
   */
  notify(change: CoordinationChange, generation?: number, committed?: readonly CommittedOffset[]): void {
    if (generation !== undefined && generation === this.#generation) return;
    if (change === 'offsets' && committed !== undefined) {
      this.#watcher.applyState(committed, undefined).then(
        () => this.#watcher.onRefreshed(),
        (error: unknown) => this.#watcher.onRefreshFailed(error),
      );
      return;
    }
    if (change === 'offsets') this.#offsetsWanted = true;
    else this.#topologyWanted = true;
    this.refresh();
  }

  /** Schedules an early read of sessions and ownership after an operation on them failed. */
  refreshSoon(now: number): void {
    this.#topologyRecheckAt = Math.min(this.#topologyRecheckAt, now + retryMilliseconds);
  }

  /** Starts or stops expecting commits. */
  expectCommits(areExpected: boolean, now: number): void {
    this.#offsetsRecheckAt = areExpected ? now + offsetsRecheckMilliseconds : Infinity;
  }

  /** Reads the state that is due by time. */
  recheck(now: number): void {
    if (now >= this.#topologyRecheckAt) {
      this.#topologyRecheckAt = now + topologyRecheckMilliseconds;
      this.#topologyWanted = true;
    }
    if (now >= this.#offsetsRecheckAt) {
      this.#offsetsRecheckAt = now + offsetsRecheckMilliseconds;
      this.#offsetsWanted = true;
    }
    if (this.#topologyWanted || this.#offsetsWanted) this.refresh();
  }

  /**
   * Whether the stream may send. It may not while others may have taken over, nor after that before the topology was
   * read again: two streams must not deliver the same partition in turns.
   */
  maySend(now: number): boolean {
    const { lease } = this.#services;
    if (!lease.isValid(now)) return false;
    if (this.#requestedLeaseEpoch !== lease.epoch) {
      this.#requestedLeaseEpoch = lease.epoch;
      this.#topologyWanted = true;
    }
    return this.#leaseEpoch === lease.epoch;
  }

  /** Reads the state that is wanted, unless a read is already running: that one picks it up. */
  refresh(): void {
    if (!this.#isRefreshing) void this.#refreshUntilCurrent();
  }

  async #refreshUntilCurrent(): Promise<void> {
    const { coordination } = this.#services;
    const watcher = this.#watcher;
    this.#isRefreshing = true;
    try {
      while (!watcher.hasEnded() && (this.#topologyWanted || this.#offsetsWanted)) {
        const leaseEpoch = this.#currentLeaseEpoch();
        if (this.#topologyWanted) this.#requestedLeaseEpoch = leaseEpoch;
        const topology = this.#topologyWanted ? await this.#rebalance() : undefined;
        this.#offsetsWanted = false;
        // Read after the topology, so they include the commits of an earlier owner before it released a partition.
        const committed = await coordination.committedOffsets(watcher.subscription.id);
        await watcher.applyState(committed, topology);
        if (topology !== undefined) this.#leaseEpoch = leaseEpoch;
        this.#failing = false;
        watcher.onRefreshed();
      }
    } catch (error) {
      this.#failed(error);
    }
    this.#isRefreshing = false;
  }

  /** The lease epoch for which reads from now on are valid; 0 while the lease may have ended. */
  #currentLeaseEpoch(): number {
    const { lease, clock } = this.#services;
    return lease.isValid(clock.monotonic()) ? lease.epoch : 0;
  }

  async #rebalance(): Promise<Topology> {
    this.#topologyWanted = false;
    const topology = await applyRebalance(this.#services.coordination, this.#watcher.subscription.id);
    this.#generation = topology.generation;
    return topology;
  }

  #failed(error: unknown): void {
    const { clock, logger } = this.#services;
    const watcher = this.#watcher;
    if (!isLendstreamError(error) || !error.retriable || error.code === 'LOG_CLOSED') {
      watcher.onRefreshFailed(error);
      return;
    }
    const { streamId, subscription } = watcher;
    const facts = { streamId, subscriptionId: subscription.id, error: describeError(error) };
    // Warn only once per outage: there may be thousands of streams, and each tries every second.
    logger[this.#failing ? 'debug' : 'warn'](facts, 'Looking at the state of a subscription failed and is tried again');
    this.#failing = true;
    const now = clock.monotonic();
    this.#generation = undefined;
    this.#topologyWanted = false;
    this.#offsetsWanted = false;
    this.#offsetsRecheckAt = Infinity;
    this.#topologyRecheckAt = now + retryMilliseconds;
    if (error.code === 'COORDINATION_UNAVAILABLE') watcher.onStoreUnreachable(now);
    watcher.onRefreshed();
  }
}
