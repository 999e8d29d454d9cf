import type { CommittedOffset, Coordination, CursorToCommit, Topology } from '../../src/ports/coordination.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** A call that the store is working on or has just finished. */
export interface StoreOperation {
  readonly caller: string;
  /**
   * The method of the port. A merge brings back to a store what a node knows, after the store has lost it. A renewal of
   * a lease has the subscriptions for which it counts as its last argument, and counts for all without that.
   */
  readonly method: keyof Coordination | 'merge';
  readonly arguments: readonly unknown[];
  /** When it began, on the clock of the store. Milliseconds. */
  readonly beganAt: number;
  /** The state of the store when it began; for commits and changes of sessions and ownership. */
  readonly topology: Topology | undefined;
  /** Whether the rules allow it, once that was judged; undefined when they allow both. */
  isAllowed: boolean | undefined;
  /** The cursors of a commit that a stream with strict commits was not sent. */
  unsent: readonly CursorToCommit[];
  isFinished: boolean;
  result: unknown;
  error: unknown;
}

/** The state of one subscription in the store. */
export interface SubscriptionSnapshot {
  readonly topology: Topology;
  readonly committed: readonly CommittedOffset[];
  /** Grows each time that the store has lost data and goes on with what the log and the nodes know. */
  readonly incarnation: number;
  /** Whether nodes may still come back from an outage or a loss, so that none counts as dead. */
  readonly isAwaitingNodes?: boolean;
}

/** The coordination store as one node reaches it. */
export interface NodeCoordination extends Coordination {
  /** When a call last failed, in simulated time. */
  readonly failedAt: number;
}

/** A coordination store of the simulation, in a process that all nodes reach through the network. */
export interface SimulatedStore {
  readonly process: SimulatedProcess;
  start(): Promise<void>;
  stop(): void;
  /** Loses its data, now. */
  forget(): Promise<void>;
  /** The coordination of a node that has just started. */
  connect(process: SimulatedProcess): NodeCoordination;
  /** On its clock. Monotonic milliseconds. */
  now(): number;
  /** Returns when it does nothing any more until the simulated time goes on. */
  settled(): Promise<void>;
  /** The calls in progress and those that have just ended. The latter are not returned again. */
  takeOperations(): readonly StoreOperation[];
  /** Undefined while no node can use it. */
  snapshot(subscriptionId: string): Promise<SubscriptionSnapshot | undefined>;
}
