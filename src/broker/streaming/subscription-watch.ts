import type { Clock } from '../../clock.ts';
import { applyRebalance } from '../subscriptions/ownership-changes.ts';
import type { CommittedOffset, Coordination, CoordinationChange, Topology } from '../../ports/coordination.ts';
import type { NodeLease } from './node-lease.ts';

/**
 * How often committed offsets are read again while sent events wait for commits: a change notification may be lost.
 * Milliseconds.
 */
const offsetsRecheckMilliseconds = 1_000;

/**
 * How late that may be. The streams of a process that all wait for commits then read in one turn, and share their
 * calls. Milliseconds.
 */
export const offsetsRecheckLateMilliseconds = 250;

/**
 * How often sessions and ownership are read again without notice of a change. The coordination makes up for lost
 * notifications itself; this is for unforeseen cases. Milliseconds.
 */
const topologyRecheckMilliseconds = 300_000;

/** How long to wait before an operation that failed with a retriable error is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

export interface SubscriptionWatchServices {
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly lease: NodeLease;
}

/** What a watch has seen. `heartbeats` is there where it was wanted and read. */
export type Observation =
  /** The committed offsets, read or brought by a change notification. */
  | { readonly kind: 'offsets'; readonly committed: readonly CommittedOffset[]; readonly heartbeats?: number }
  /** Sessions and ownership, and the committed offsets as they were after that. */
  | {
      readonly kind: 'topology';
      readonly topology: Topology;
      readonly committed: readonly CommittedOffset[];
      readonly heartbeats?: number;
      /** The lease epoch of this process when the read began; 0 if the lease may have ended by then. */
      readonly leaseEpoch: number;
    }
  /** The state could not be read, or the observer failed. The watch tries again in a second, unless it is stopped. */
  | { readonly kind: 'failure'; readonly error: unknown };

/** An interface instead of a closure saves memory: each open stream has a watch. */
export interface Observer {
  /** Called with one read at a time; the next one begins when the promise is settled. */
  observed(observation: Observation): Promise<void>;
}

/**
 * Follows changes that others make to a stream's subscription: commits, sessions, ownership. Change notifications only
 * say that it is time to read; the state itself is read from the coordination store, one read at a time. While commits
 * are expected, the watch also reads without a change notification. It decides nothing: the observer does.
 */
export class SubscriptionWatch {
  readonly #services: SubscriptionWatchServices;
  readonly #subscriptionId: string;
  readonly #observer: Observer;
  /** The stream whose heart-beats are read with the offsets. */
  readonly #countedStreamId: string | undefined;
  #isReading = false;
  #isStopped = false;
  #topologyWanted = true;
  #offsetsWanted = false;
  /** The generation of the topology that was read last; undefined if it has to be read again in any case. */
  #generation: number | undefined;
  /** The lease epoch for which a read of the topology was last wanted. */
  #wantedLeaseEpoch = 0;
  #topologyRecheckAt: number;
  /** Infinite while no commits are expected. */
  #offsetsRecheckAt = Infinity;

  /** @param countedStreamId The stream whose heart-beats are wanted. */
  constructor(
    services: SubscriptionWatchServices,
    subscriptionId: string,
    observer: Observer,
    countedStreamId?: string,
  ) {
    this.#countedStreamId = countedStreamId;
    this.#services = services;
    this.#subscriptionId = subscriptionId;
    this.#observer = observer;
    this.#topologyRecheckAt = services.clock.monotonic() + topologyRecheckMilliseconds;
  }

  /** When the next read of everything without a change notification is due. Monotonic milliseconds. */
  get nextReadAt(): number {
    return this.#topologyRecheckAt;
  }

  /** When the offsets are due, which may be read {@link offsetsRecheckLateMilliseconds} later. */
  get nextOffsetsAt(): number {
    return this.#offsetsRecheckAt;
  }

  /** Begins with a read of everything. */
  start(): void {
    this.#readWanted();
  }

  /** Observes nothing more. */
  stop(): void {
    this.#isStopped = true;
  }

  /**
   * Reads the state that a change notification names.
   * @param generation Of the topology, where it is known.
   * @param committed The committed offsets, where they are known: then nothing has to be read.
   */
  notify(change: CoordinationChange, generation?: number, committed?: readonly CommittedOffset[]): void {
    if (generation !== undefined && generation === this.#generation) return;
    if (change === 'offsets' && committed !== undefined) {
      this.#offsetsRecheckAt = Infinity;
      this.#observer.observed({ kind: 'offsets', committed }).catch((error: unknown) => this.#failed(error));
      return;
    }
    if (change === 'offsets') this.#offsetsWanted = true;
    else this.#topologyWanted = true;
    this.#readWanted();
  }

  /** Schedules an early read of sessions and ownership after an operation on them failed. */
  readSoon(now: number): void {
    this.#topologyRecheckAt = Math.min(this.#topologyRecheckAt, now + retryMilliseconds);
  }

  /**
   * Reads the state that is due: by time, or because a new lease epoch has begun.
   * @param areCommitsExpected Then the offsets are due a second after they were last read.
   */
  recheck(now: number, areCommitsExpected: boolean): void {
    const { lease } = this.#services;
    if (!areCommitsExpected) this.#offsetsRecheckAt = Infinity;
    else if (this.#offsetsRecheckAt === Infinity) this.#offsetsRecheckAt = now + offsetsRecheckMilliseconds;
    if (now >= this.#offsetsRecheckAt) {
      this.#offsetsRecheckAt = now + offsetsRecheckMilliseconds;
      this.#offsetsWanted = true;
    }
    if (now >= this.#topologyRecheckAt) {
      this.#topologyRecheckAt = now + topologyRecheckMilliseconds;
      this.#topologyWanted = true;
    }
    if (this.#wantedLeaseEpoch !== lease.epoch && lease.isValid(now)) {
      this.#wantedLeaseEpoch = lease.epoch;
      this.#topologyWanted = true;
    }
    this.#readWanted();
  }

  /** Reads the state that is wanted, unless a read is already running: that one is followed by another. */
  #readWanted(): void {
    if (!this.#isReading && (this.#topologyWanted || this.#offsetsWanted)) void this.#readUntilCurrent();
  }

  async #readUntilCurrent(): Promise<void> {
    this.#isReading = true;
    try {
      while (!this.#isStopped && (this.#topologyWanted || this.#offsetsWanted)) {
        await this.#observer.observed(this.#topologyWanted ? await this.#readTopology() : await this.#readOffsets());
      }
    } catch (error) {
      await this.#failed(error);
    }
    this.#isReading = false;
  }

  async #readTopology(): Promise<Observation> {
    const { coordination, lease, clock } = this.#services;
    const leaseEpoch = lease.isValid(clock.monotonic()) ? lease.epoch : 0;
    this.#wantedLeaseEpoch = leaseEpoch;
    this.#topologyWanted = false;
    // Read with the topology, so they include the commits of an earlier owner before it released a partition.
    this.#offsetsWanted = false;
    const topology = await applyRebalance(coordination, this.#subscriptionId);
    this.#generation = topology.generation;
    const { committed } = topology;
    const heartbeats = await this.#readHeartbeats();
    this.#offsetsRecheckAt = Infinity;
    return { kind: 'topology', topology, committed, ...heartbeats, leaseEpoch };
  }

  async #readOffsets(): Promise<Observation & { kind: 'offsets' }> {
    const { coordination } = this.#services;
    this.#offsetsWanted = false;
    const committed = await coordination.committedOffsets(this.#subscriptionId);
    const heartbeats = await this.#readHeartbeats();
    this.#offsetsRecheckAt = Infinity;
    return { kind: 'offsets', committed, ...heartbeats };
  }

  async #readHeartbeats(): Promise<{ readonly heartbeats?: number }> {
    const counted = this.#countedStreamId;
    if (counted === undefined) return {};
    return { heartbeats: await this.#services.coordination.heartbeats(this.#subscriptionId, counted) };
  }

  async #failed(error: unknown): Promise<void> {
    this.#generation = undefined;
    this.#topologyWanted = false;
    this.#offsetsWanted = false;
    this.#offsetsRecheckAt = Infinity;
    this.#topologyRecheckAt = this.#services.clock.monotonic() + retryMilliseconds;
    await this.#observer.observed({ kind: 'failure', error });
  }
}
