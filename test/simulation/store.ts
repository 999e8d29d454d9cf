import { after } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { LendstreamError } from '../../src/errors.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import type { CommittedOffset, Coordination } from '../../src/ports/coordination.ts';
import type { LogData } from './log-data.ts';
import type { Network } from './network.ts';
import { SimulatedLog } from './simulated-log.ts';
import { RemoteCoordination } from './remote-coordination.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { NodeCoordination, SimulatedStore, StoreOperation, SubscriptionSnapshot } from './simulated-store.ts';

export interface StoreOptions {
  readonly data: LogData;
  readonly network: Network;
  /** The process of the log. */
  readonly logProcess: SimulatedProcess;
  /** Creates the process of the store, each time that it starts. */
  readonly newProcess: () => SimulatedProcess;
  /** The simulated time. */
  readonly now: () => number;
  /** Called with each operation before it begins. */
  readonly onOperation: (operation: StoreOperation) => void;
}

const readMethods: ReadonlySet<keyof Coordination> = new Set([
  'topology',
  'committedOffsets',
  'history',
  'heartbeats',
  'reportedNodes',
  'watch',
]);

/** After this time a reset counts as over, because the process that began it has died, as on Redis. Milliseconds. */
const resetMillisecondsMaximum = 120_000;

const judgedMethods: ReadonlySet<keyof Coordination> = new Set([
  'openSession',
  'closeSession',
  'commit',
  'applyOwnership',
]);

/**
 * The coordination store of the simulation: the one in memory, in a process that all nodes reach through the network.
 */
export class Store implements SimulatedStore {
  /** Grows each time that the store starts with only the mirror. */
  incarnation = 0;
  /** Calls in progress, and those that ended since {@link takeOperations}. */
  #operations: StoreOperation[] = [];
  readonly #options: StoreOptions;
  #process: SimulatedProcess;
  #coordination: EmbeddedCoordination | undefined;
  /** The resets in progress, by subscription. */
  readonly #resets = new Map<string, object>();
  /** The resets that processes have begun, by process and subscription: after a loss they are none of those above. */
  readonly #begun = new Map<string, object>();

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#process = options.newProcess();
  }

  get process(): SimulatedProcess {
    return this.#process;
  }

  get isStarted(): boolean {
    return this.#coordination !== undefined;
  }

  connect(process: SimulatedProcess): NodeCoordination {
    return new RemoteCoordination(process, this, this.#options.network, this.#options.now);
  }

  now(): number {
    return this.#options.now();
  }

  async settled(): Promise<void> {
    // Nothing of it waits for anything but promises.
  }

  stop(): void {
    this.#process.die();
  }

  forget(): Promise<void> {
    return this.start();
  }

  /** Starts, or loses all data and starts again from the mirror. Until then calls fail. */
  async start(): Promise<void> {
    this.#process.die();
    this.#coordination = undefined;
    this.#operations = [];
    this.#resets.clear();
    const process = this.#options.newProcess();
    this.#process = process;
    this.incarnation += 1;
    const { data, network, logProcess } = this.#options;
    // The mirror is read at once, because nothing of interest can happen meanwhile.
    const reading = new SimulatedLog({ data, clock: process.clock });
    const writing = new SimulatedLog({
      data,
      clock: process.clock,
      transport: (name, work) =>
        network.call(
          process,
          logProcess,
          'mirror',
          // The last messages of a dead process arrive before its successor starts, or never.
          () => (process.isDead ? new Promise<never>(() => {}) : work()),
          (reason) => new LendstreamError(name === 'append' ? 'OUTCOME_UNKNOWN' : 'LOG_UNAVAILABLE', reason),
        ),
    });
    let isOpen = false;
    const log = new Proxy(writing, {
      get: (_target, name) => {
        const target = isOpen ? writing : reading;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const coordination = await EmbeddedCoordination.open({ log, clock: process.clock, logger: silentLogger });
    isOpen = true;
    if (this.#process === process) this.#coordination = coordination;
  }

  /**
   * The store itself, for calls that the network has delivered.
   * @throws COORDINATION_UNAVAILABLE before it has started
   */
  get coordination(): EmbeddedCoordination {
    if (this.#coordination !== undefined) return this.#coordination;
    throw new LendstreamError('COORDINATION_UNAVAILABLE', 'The store is starting.');
  }

  /** Carries out a call, and records it for the invariants. */
  async execute<Method extends keyof Coordination>(
    caller: string,
    method: Method,
    args: Parameters<Coordination[Method]>,
  ): Promise<Awaited<ReturnType<Coordination[Method]>>> {
    const { coordination } = this;
    /** Of the methods that it is used for. */
    const subscriptionId = args[0] as string;
    const operation: StoreOperation = {
      caller,
      method,
      arguments: args,
      beganAt: this.#process.clock.monotonic(),
      topology: judgedMethods.has(method) ? await coordination.topology(subscriptionId) : undefined,
      isAllowed: true,
      unsent: [],
      isFinished: false,
      result: undefined,
      error: undefined,
    };
    if (!readMethods.has(method)) this.#operations.push(operation);
    this.#options.onOperation(operation);
    const call = coordination[method] as (
      ...given: Parameters<Coordination[Method]>
    ) => ReturnType<Coordination[Method]>;
    try {
      const reset = `${caller}/${subscriptionId}`;
      if (method === 'finishReset') {
        const own = this.#begun.get(reset);
        const isOwn = own !== undefined && own === this.#resets.get(subscriptionId);
        this.#begun.delete(reset);
        const offsets = args[1] as readonly CommittedOffset[];
        if (!isOwn && offsets.length === 0) return undefined as Awaited<ReturnType<Coordination[Method]>>;
        if (!isOwn) await beginLostReset(coordination, subscriptionId);
      }
      const result = await call.apply(coordination, args);
      operation.result = result;
      if (method === 'beginReset' && result === true) this.#begun.set(reset, this.#endResetLater(subscriptionId));
      if (method === 'finishReset') this.#resets.delete(subscriptionId);
      return result;
    } catch (error) {
      operation.error = error;
      throw error;
    } finally {
      operation.isFinished = true;
    }
  }

  #endResetLater(subscriptionId: string): object {
    const { coordination } = this;
    const reset = {};
    this.#resets.set(subscriptionId, reset);
    after(this.#process.clock, resetMillisecondsMaximum, () => {
      if (this.#resets.get(subscriptionId) !== reset) return;
      this.#resets.delete(subscriptionId);
      void coordination.finishReset(subscriptionId, []);
    });
    return reset;
  }

  takeOperations(): readonly StoreOperation[] {
    const operations = this.#operations;
    this.#operations = operations.filter(({ isFinished }) => !isFinished);
    return operations;
  }

  async snapshot(subscriptionId: string): Promise<SubscriptionSnapshot | undefined> {
    const coordination = this.#coordination;
    if (coordination === undefined) return undefined;
    return {
      topology: await coordination.topology(subscriptionId),
      committed: await coordination.committedOffsets(subscriptionId),
      incarnation: this.incarnation,
    };
  }
}

/**
 * Begins a reset again whose mark was lost, which the store in memory cannot do: while it is written, no stream opens.
 * @throws COORDINATION_UNAVAILABLE where finish-reset.lua refuses it: streams have opened since, or another reset begun
 */
async function beginLostReset(coordination: EmbeddedCoordination, subscriptionId: string): Promise<void> {
  const { resetting, sessions } = await coordination.topology(subscriptionId);
  if (resetting || sessions.length > 0) {
    throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Streams have opened during the reset.');
  }
  await coordination.beginReset(subscriptionId);
}
