import type { Clock } from '../../clock.ts';
import { describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { settleOwnership } from '../subscriptions/assignment.ts';
import type { CommittedOffset, Coordination, CoordinationChange, Topology } from '../../ports/coordination.ts';
import type { NodeLease } from './node-lease.ts';

/** How often committed offsets are read again while events are out, in case a hint was lost. Milliseconds. */
const offsetsRecheckMilliseconds = 1_000;

/**
 * How often sessions and ownership are read again although nobody has told of a change. Lost hints are the
 * coordination's to make up for; this is for what nobody has thought of. Milliseconds.
 */
const topologyRecheckMilliseconds = 300_000;

/** How long to wait before something that failed for the moment is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

export interface StreamWatchServices {
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lease: NodeLease;
}

/**
 * The stream whose watch it is, which is told what was seen. No closures: there is one of these for each open stream.
 */
export interface StreamWatcher {
  readonly streamId: string;
  readonly subscription: { readonly id: string };
  /** Whether there is nothing left to look for. */
  isOver(): boolean;
  /** @param topology Only when it was read as well, before the committed offsets. */
  take(committed: readonly CommittedOffset[], topology: Topology | undefined): Promise<void>;
  /** What was taken may take effect, or it is known when to look again. */
  looked(): void;
  /** The store cannot be reached: nobody can commit or hand over. Monotonic milliseconds. */
  storeIsAway(now: number): void;
  /** Looking failed for good. */
  lookFailed(error: unknown): void;
}

/**
 * What others did to a stream's subscription: commits, sessions, ownership. Hints only say that it is time to look;
 * what is looked at is the coordination store, one look at a time. While commits are expected it looks without a hint
 * as well.
 */
export class StreamWatch {
  readonly #services: StreamWatchServices;
  readonly #watcher: StreamWatcher;
  #looking = false;
  #topologyWanted = true;
  #offsetsWanted = false;
  /** The generation of the topology that was read last; undefined when it has to be read again anyway. */
  #generation: number | undefined;
  /** The tenure of the process's lease in which the topology was last read. */
  #tenure = 0;
  /** The tenure for which reading it was asked for. */
  #tenureSeen = 0;
  #failing = false;
  #topologyRecheckAt: number;
  #offsetsRecheckAt = Infinity;

  constructor(services: StreamWatchServices, watcher: StreamWatcher) {
    this.#services = services;
    this.#watcher = watcher;
    this.#topologyRecheckAt = services.clock.monotonic() + topologyRecheckMilliseconds;
  }

  /** When something has to be looked at without a hint. Monotonic milliseconds. */
  get nextLookAt(): number {
    return Math.min(this.#topologyRecheckAt, this.#offsetsRecheckAt);
  }

  /**
   * Looks at what a hint tells of.
   * @param generation Of the topology, where it is known.
   * @param committed What was committed, where it is known: then there is nothing left to look at.
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

  /** Something about sessions or ownership could not be done and has to be looked at again soon. */
  lookSoon(now: number): void {
    this.#topologyRecheckAt = Math.min(this.#topologyRecheckAt, now + retryMilliseconds);
  }

  /** From now on commits are waited for, or no longer. */
  expectCommits(areExpected: boolean, now: number): void {
    this.#offsetsRecheckAt = areExpected ? now + offsetsRecheckMilliseconds : Infinity;
  }

  /** Looks at what is due. */
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
   * Whether the stream may send: not while others may have taken over, and after that not before the topology was read
   * again, for two streams must not deliver a partition in turns.
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

  /** Looks at what is wanted. */
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
        // Read after the topology: what an earlier owner committed before it let go is among them.
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

  /** The tenure in which what is read from now on counts; none as long as the lease may have ended. */
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
    // Once: there may be thousands of streams, and each tries every second.
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
