import type { Clock } from '../../clock.ts';
import { describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { settleOwnership } from '../subscriptions/assignment.ts';
import type { CommittedOffset, Coordination, CoordinationChange, Topology } from '../../ports/coordination.ts';
import type { NodeLease } from './node-lease.ts';

/** How often committed offsets are read again while sent events wait for commits: a hint may be lost. Milliseconds. */
const offsetsRecheckMilliseconds = 1_000;

/**
 * How often sessions and ownership are read again without notice of a change. The coordination makes up for lost hints
 * itself; this is for unforeseen cases. Milliseconds.
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
  isOver(): boolean;
  /** Applies new state. @param topology Given only if it was read too, before the committed offsets. */
  take(committed: readonly CommittedOffset[], topology: Topology | undefined): Promise<void>;
  /** Called after a read: new state may take effect, or the time of the next attempt is known. */
  looked(): void;
  /** The store cannot be reached: commits and hand-overs are impossible. @param now Monotonic milliseconds. */
  storeIsAway(now: number): void;
  /** Reading the state failed permanently. */
  lookFailed(error: unknown): void;
}

/**
 * Follows changes that others make to a stream's subscription: commits, sessions, ownership. Hints only say that it is
 * time to read; the state itself is read from the coordination store, one read at a time. While commits are expected,
 * the watch also reads without a hint.
 */
export class StreamWatch {
  readonly #services: StreamWatchServices;
  readonly #watcher: StreamWatcher;
  #looking = false;
  #topologyWanted = true;
  #offsetsWanted = false;
  /** The generation of the topology that was read last; undefined if it has to be read again in any case. */
  #generation: number | undefined;
  /** The tenure of the process's lease during which the topology was last read. */
  #tenure = 0;
  /** The tenure for which a read of the topology was last requested. */
  #tenureSeen = 0;
  #failing = false;
  #topologyRecheckAt: number;
  #offsetsRecheckAt = Infinity;

  constructor(services: StreamWatchServices, watcher: StreamWatcher) {
    this.#services = services;
    this.#watcher = watcher;
    this.#topologyRecheckAt = services.clock.monotonic() + topologyRecheckMilliseconds;
  }

  /** When the next read without a hint is due. Monotonic milliseconds. */
  get nextLookAt(): number {
    return Math.min(this.#topologyRecheckAt, this.#offsetsRecheckAt);
  }

  /**
   * Reads the state that a hint names.
   * @param generation Of the topology, where it is known.
   * @param committed The committed offsets, where they are known: then nothing has to be read.
   */
  hinted(change: CoordinationChange, generation?: number, committed?: readonly CommittedOffset[]): void {
    if (generation !== undefined && generation === this.#generation) return;
    if (change === 'offsets' && committed !== undefined) {
      this.#watcher.take(committed, undefined).then(
        () => this.#watcher.looked(),
        (error: unknown) => this.#watcher.lookFailed(error),
      );
      return;
    }
    if (change === 'offsets') this.#offsetsWanted = true;
    else this.#topologyWanted = true;
    this.look();
  }

  /** Schedules an early read of sessions and ownership after an operation on them failed. */
  lookSoon(now: number): void {
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
    if (this.#topologyWanted || this.#offsetsWanted) this.look();
  }

  /**
   * Whether the stream may send. It may not while others may have taken over, nor after that before the topology was
   * read again: two streams must not deliver the same partition in turns.
   */
  maySend(now: number): boolean {
    const { lease } = this.#services;
    if (!lease.isHeld(now)) return false;
    if (this.#tenureSeen !== lease.tenure) {
      this.#tenureSeen = lease.tenure;
      this.#topologyWanted = true;
    }
    return this.#tenure === lease.tenure;
  }

  /** Reads the state that is wanted, unless a read is already running: that one picks it up. */
  look(): void {
    if (!this.#looking) void this.#lookUntilCurrent();
  }

  async #lookUntilCurrent(): Promise<void> {
    const { coordination } = this.#services;
    const watcher = this.#watcher;
    this.#looking = true;
    try {
      while (!watcher.isOver() && (this.#topologyWanted || this.#offsetsWanted)) {
        const tenure = this.#tenureForSure();
        if (this.#topologyWanted) this.#tenureSeen = tenure;
        const topology = this.#topologyWanted ? await this.#settle() : undefined;
        this.#offsetsWanted = false;
        // Read after the topology, so they include the commits of an earlier owner before it released a partition.
        const committed = await coordination.committedOffsets(watcher.subscription.id);
        await watcher.take(committed, topology);
        if (topology !== undefined) this.#tenure = tenure;
        this.#failing = false;
        watcher.looked();
      }
    } catch (error) {
      this.#failed(error);
    }
    this.#looking = false;
  }

  /** The tenure for which reads from now on are valid; 0 while the lease may have ended. */
  #tenureForSure(): number {
    const { lease, clock } = this.#services;
    return lease.isHeld(clock.monotonic()) ? lease.tenure : 0;
  }

  async #settle(): Promise<Topology> {
    this.#topologyWanted = false;
    const topology = await settleOwnership(this.#services.coordination, this.#watcher.subscription.id);
    this.#generation = topology.generation;
    return topology;
  }

  #failed(error: unknown): void {
    const { clock, logger } = this.#services;
    const watcher = this.#watcher;
    if (!isLendstreamError(error) || !error.retriable || error.code === 'LOG_CLOSED') {
      watcher.lookFailed(error);
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
    if (error.code === 'COORDINATION_UNAVAILABLE') watcher.storeIsAway(now);
    watcher.looked();
  }
}
