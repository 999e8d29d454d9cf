import { randomUUID } from 'node:crypto';
import { applyRebalance } from '../broker/subscriptions/ownership-changes.ts';
import type { Coordination, PartitionOwnership, Topology } from '../ports/coordination.ts';
import { after, type Clock } from '../clock.ts';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { loanCommandsTopic } from '../lending-format/lending-topics.ts';

/**
 * How any number of processes share the loan partitions: in the same way as streams share those of a subscription. Each
 * process has a session under one reserved id. The same pure rules assign each partition, and the same compare-and-set
 * applies the assignment.
 *
 * None of this decides which process may write: the fenced writer of the partition does. Two processes that both treat
 * a partition as theirs disturb only each other. So a process that cannot reach the coordination store continues to
 * work on its partitions.
 *
 * | state of the partition in store | a loop runs here  | no loop runs here                       |
 * |---------------------------------|-------------------|-----------------------------------------|
 * | assigned to this process        | continues         | begins                                  |
 * | reassigning to another process  | ends              | the partition is released               |
 * | another process's, or unowned   | ends              |                                         |
 */

/** Stands for a subscription id. No subscription can have it (their ids are UUIDs), see `isReservedId`. */
export const loanPartitionsId = 'lendstream.loan-partitions';

/**
 * How often the state is read again and sessions of dead processes are looked for, in case a hint was lost.
 * Milliseconds.
 */
const recheckMilliseconds = 2_000;

/** How long to wait before a temporary failure is retried. Milliseconds. */
const retryMilliseconds = 1_000;

/**
 * How long a partition is left alone after another process took it over although the store assigns it to this one.
 * Milliseconds.
 */
const takenOverPauseMilliseconds = 1_000;

/**
 * How soon after a session was opened it may be replaced, so that a process without a lease does not spin.
 * Milliseconds.
 */
const sessionPauseMilliseconds = 1_000;

/**
 * Why a loop ended: it was asked to, a newer owner fenced it, or the log was closed under it. The log is closed when
 * the process is ending.
 */
export type LoopEnd = 'stopped' | 'taken_over' | 'log_closed';

export interface PartitionSharingOptions {
  readonly coordination: Coordination;
  /** The id of this process. The creator keeps its lease renewed. */
  readonly nodeId: string;
  readonly partitionCount: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Works on a partition until `signal` ends it or it cannot continue. Calls `onOwned` when the work has begun. */
  readonly runPartition: (partition: number, signal: AbortSignal, onOwned: () => void) => Promise<LoopEnd>;
}

/** The steps that bring the loops of a process in line with the store. */
export interface LoopPlan {
  readonly begin: readonly number[];
  readonly end: readonly number[];
  readonly release: readonly PartitionOwnership[];
}

/**
 * Compares the ownership in the store with the running loops.
 * @param streamId The session of this process; undefined when it has none, and then every loop ends.
 * @param running The partitions with a running loop, including loops that are ending.
 */
export function planLoops(
  { partitions }: Pick<Topology, 'partitions'>,
  streamId: string | undefined,
  running: ReadonlySet<number>,
): LoopPlan {
  const ownPartitions = partitions.filter((ownership) => ownership.streamId === streamId);
  const assigned = new Set(ownPartitions.flatMap(({ state, partition }) => (state === 'assigned' ? [partition] : [])));
  return {
    begin: [...assigned].filter((partition) => !running.has(partition)),
    end: [...running].filter((partition) => !assigned.has(partition)),
    release: ownPartitions.filter(({ state, partition }) => state === 'reassigning' && !running.has(partition)),
  };
}

interface PartitionLoop {
  readonly stopping: AbortController;
  /** Also settles when the loop ends before it owned anything. */
  readonly owned: Promise<void>;
  readonly ended: Promise<void>;
}

/** Runs the loops of the partitions that are assigned to this process. */
export class PartitionSharing {
  readonly #options: PartitionSharingOptions;
  readonly #loops = new Map<number, PartitionLoop>();
  /** Monotonic milliseconds, by partition. */
  readonly #pausedUntil = new Map<number, number>();
  #streamId: string | undefined;
  #isStandby = false;
  #sessionAllowedAt = Number.NEGATIVE_INFINITY;
  #isStopping = false;
  #isLogClosed = false;
  #unwatch = (): void => {};
  #reconciling: Promise<void> = Promise.resolve();
  #hasChanged = false;
  #wake = (): void => {};

  constructor(options: PartitionSharingOptions) {
    this.#options = options;
  }

  /** The partitions that this process works on, ascending. */
  get partitions(): number[] {
    return [...this.#loops.keys()].sort((left, right) => left - right);
  }

  /**
   * Opens the session and begins with the partitions assigned to this process. Returns when each partition of the first
   * assignment has been owned. That may be none, when other processes have them or there are more processes than
   * partitions.
   * @throws the errors of the coordination
   */
  async start(): Promise<void> {
    this.#unwatch = this.#options.coordination.watch(loanPartitionsId, () => this.#notifyChange());
    const first = this.#reconcile();
    this.#reconciling = first.then(
      () => this.#reconcileUntilStopped(),
      () => {},
    );
    try {
      await first;
    } catch (error) {
      await this.stop();
      throw error;
    }
    await Promise.all([...this.#loops.values()].map(({ owned }) => owned));
  }

  /** Lets commits under way finish, then hands all partitions over to the other processes at once. */
  async stop(): Promise<void> {
    const { coordination, logger } = this.#options;
    this.#isStopping = true;
    this.#unwatch();
    for (const { stopping } of this.#loops.values()) stopping.abort();
    this.#notifyChange();
    await this.#reconciling;
    await Promise.all([...this.#loops.values()].map(({ ended }) => ended));
    if (this.#streamId === undefined) return;
    try {
      await coordination.closeSession(loanPartitionsId, this.#streamId);
      this.#streamId = undefined;
    } catch (error) {
      const logFields = { error: describeError(error) };
      logger.warn(logFields, 'Cannot hand over the loan partitions; other processes take them when the lease ends');
    }
  }

  async #reconcileUntilStopped(): Promise<void> {
    const { logger } = this.#options;
    let failed = false;
    while (!this.#isStopping) {
      await this.#waitForChange(failed ? retryMilliseconds : this.#millisecondsToNextCheck());
      if (this.#isStopping) return;
      try {
        await this.#reconcile();
        failed = false;
      } catch (error) {
        const logFields = { error: describeError(error), partitions: this.partitions };
        if (!failed) logger.warn(logFields, 'Sharing the loan partitions failed; work on the assigned ones continues');
        failed = true;
      }
    }
  }

  /** Reads the state of the store and acts on it. Every step here may be repeated safely. */
  async #reconcile(): Promise<void> {
    const { coordination, clock, logger } = this.#options;
    this.#hasChanged = false;
    await coordination.reapSessions(loanPartitionsId);
    if (this.#streamId === undefined) {
      if (clock.monotonic() < this.#sessionAllowedAt) return;
      await this.#openSession();
    }
    const topology = await applyRebalance(coordination, loanPartitionsId);
    if (this.#streamId !== undefined && !topology.sessions.some(({ streamId }) => streamId === this.#streamId)) {
      logger.warn({ partitions: this.partitions }, 'The lease of this worker ended; it requests its partitions again');
      const lostStreamId = this.#streamId;
      this.#streamId = undefined;
      this.#notifyChange();
      // The session is gone, but a store that recovers lost data may restore it. Only a session that was closed stays
      // gone.
      await coordination.closeSession(loanPartitionsId, lostStreamId);
      return;
    }
    await this.#applyPlan(planLoops(topology, this.#streamId, new Set(this.#loops.keys())));
  }

  async #openSession(): Promise<void> {
    const { coordination, nodeId, partitionCount, clock, logger } = this.#options;
    // The changelog has the position of each partition: these offsets never move.
    const start = Array.from({ length: partitionCount }, (_, partition) => ({
      eventType: loanCommandsTopic,
      partition,
      offset: -1,
    }));
    await coordination.initialise(loanPartitionsId, start);
    const session = {
      streamId: randomUUID(),
      nodeId,
      requestedPartitions: [],
      openedAt: clock.now(),
      commitTimeoutMilliseconds: 0,
    };
    const { outcome } = await coordination.openSession(loanPartitionsId, session);
    const isStandby = outcome !== 'opened';
    if (isStandby && !this.#isStandby) {
      logger.info({ partitionCount }, 'Every loan partition has a process; this one is on standby');
    }
    this.#isStandby = isStandby;
    if (isStandby) return;
    this.#streamId = session.streamId;
    this.#sessionAllowedAt = clock.monotonic() + sessionPauseMilliseconds;
  }

  async #applyPlan({ begin, end, release }: LoopPlan): Promise<void> {
    const { coordination, clock } = this.#options;
    for (const partition of end) this.#loops.get(partition)?.stopping.abort();
    for (const partition of begin) {
      const pausedUntil = this.#pausedUntil.get(partition) ?? Number.NEGATIVE_INFINITY;
      if (clock.monotonic() >= pausedUntil && !this.#isStopping && !this.#isLogClosed) this.#startLoop(partition);
    }
    for (const { eventType, partition, fence } of release) {
      if (this.#streamId === undefined) return;
      await coordination.release(loanPartitionsId, this.#streamId, { eventType, partition }, fence);
    }
  }

  #startLoop(partition: number): void {
    const stopping = new AbortController();
    let onOwned = (): void => {};
    const owned = new Promise<void>((resolve) => (onOwned = resolve));
    const ended = this.#options.runPartition(partition, stopping.signal, onOwned).then((end) => {
      this.#loops.delete(partition);
      if (end === 'log_closed') this.#isLogClosed = true;
      if (end === 'taken_over') {
        this.#pausedUntil.set(partition, this.#options.clock.monotonic() + takenOverPauseMilliseconds);
      }
      onOwned();
      this.#notifyChange();
    });
    this.#loops.set(partition, { stopping, owned, ended });
  }

  #millisecondsToNextCheck(): number {
    const now = this.#options.clock.monotonic();
    const checkTimes = [...this.#pausedUntil.values()];
    if (this.#streamId === undefined && !this.#isStandby) checkTimes.push(this.#sessionAllowedAt);
    const nextCheckAt = Math.min(...checkTimes.filter((at) => at > now), now + recheckMilliseconds);
    return Math.ceil(nextCheckAt - now);
  }

  #notifyChange(): void {
    this.#hasChanged = true;
    this.#wake();
  }

  /** Returns when something has changed since the last check, or after this time (milliseconds). */
  #waitForChange(milliseconds: number): Promise<void> {
    if (this.#hasChanged) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = after(this.#options.clock, milliseconds, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
