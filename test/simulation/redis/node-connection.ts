import { LendstreamError } from '../../../src/errors.ts';
import type { ConnectionEvents, StoreConnection } from '../../../src/redis/connection.ts';
import type { Script } from '../../../src/redis/script-loading.ts';
import type { SimulatedClock } from '../../support/simulated-clock.ts';
import type { Network } from '../network.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import { AcknowledgedCommits } from './acknowledged-offsets.ts';
import { scriptNameOf } from './simulated-scripts.ts';
import type { CommandOutcome, RedisStore, StoreCommand } from './redis-store.ts';

/** Pauses between attempts to connect again, as those of the product. Milliseconds. */
const reconnectStepMilliseconds = 50;
const reconnectMillisecondsMaximum = 500;

/** How many attempts a new process makes before it gives up. */
const openAttemptsMaximum = 20;

/** How soon a process notices that its server has ended. Milliseconds. */
const noticeMilliseconds = 1;

export interface NodeConnectionOptions {
  readonly store: RedisStore;
  readonly process: SimulatedProcess;
  readonly network: Network;
  readonly time: SimulatedClock;
  readonly events: ConnectionEvents;
}

interface WaitingCommand {
  readonly command: StoreCommand;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The connections of one node to the store, in the simulated network. They do what those of the product do: the
 * commands of one turn of the event loop are sent together, calls fail at once while there is no connection, and after
 * an interruption the coordination is told that messages may be missing, and whether another server responds.
 */
export class NodeConnection implements StoreConnection {
  /** When a call last failed, in simulated time. */
  failedAt = Number.NEGATIVE_INFINITY;
  readonly #options: NodeConnectionOptions;
  readonly #acknowledged = new AcknowledgedCommits();
  readonly #channels = new Set<string>();
  /** The channels that the server knows of. */
  #subscribed = new Set<string>();
  /** The process of the server that it is connected to. */
  #server: SimulatedProcess | undefined;
  /** That it reached last. */
  #lastServer: SimulatedProcess | undefined;
  #waiting: WaitingCommand[] = [];
  #isClosed = false;
  #isConnecting = false;

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
  }

  get isCluster(): boolean {
    return this.#options.store.isCluster;
  }

  /** @throws COORDINATION_UNAVAILABLE when the store does not respond in time */
  async open(): Promise<void> {
    for (let attempt = 1; !(await this.#connect()); attempt += 1) {
      if (attempt === openAttemptsMaximum) throw unavailable('there is no connection');
      await this.#options.process.clock.sleep(reconnectMillisecondsMaximum);
    }
  }

  run(script: Script, keys: readonly string[], valuesNow: () => readonly (string | number)[]): Promise<unknown[]> {
    const acknowledged = this.#acknowledged.offsets;
    return this.#send(() => ({ kind: 'script', script, keys, values: valuesNow(), acknowledged })) as Promise<
      unknown[]
    >;
  }

  readHash(key: string): Promise<Record<string, string>> {
    return this.#send(() => ({ kind: 'hash', key })) as Promise<Record<string, string>>;
  }

  readHashField(key: string, field: string): Promise<string | null> {
    return this.#send(() => ({ kind: 'field', key, field })) as Promise<string | null>;
  }

  setIfAbsent(key: string, value: string, milliseconds: number): Promise<boolean> {
    return this.#send(() => ({ kind: 'set if absent', key, value, milliseconds })) as Promise<boolean>;
  }

  subscribe(channel: string, onSubscribed: () => void): void {
    this.#channels.add(channel);
    if (this.#server === undefined) return;
    this.#call('messages', () => {
      this.#subscribed.add(channel);
    }).then(onSubscribed, () => this.#interrupted());
  }

  unsubscribe(channel: string): void {
    this.#channels.delete(channel);
    this.#subscribed.delete(channel);
  }

  close(): void {
    this.#isClosed = true;
    this.#server = undefined;
    this.#options.store.disconnected(this);
  }

  /** The store has published a message. It may get lost on its way. */
  published(channel: string, text: string): void {
    if (this.#server === undefined || !this.#subscribed.has(channel)) return;
    const { network, process, events } = this.#options;
    network.notify(process, () => {
      if (this.#server !== undefined && this.#channels.has(channel)) events.message(channel, text);
    });
  }

  /** The process of the store has ended. */
  serverGone(): void {
    const { time, process } = this.#options;
    time.at(time.monotonic() + noticeMilliseconds, () => process.receive(() => this.#interrupted()));
  }

  async #send(command: () => StoreCommand): Promise<unknown> {
    if (this.#server === undefined) {
      this.#failed();
      throw unavailable('there is no connection');
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command: command(), resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const { store, process } = this.#options;
    const waiting = this.#waiting;
    this.#waiting = [];
    let outcomes: readonly CommandOutcome[];
    try {
      outcomes = await this.#call('store', () =>
        store.execute(
          process.name,
          waiting.map(({ command }) => command),
        ),
      );
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      // The server may have ended while the connection to it was made.
      if (this.#server !== undefined && this.#server !== store.process) this.#interrupted();
      return;
    }
    for (const [index, { command, resolve, reject }] of waiting.entries()) {
      const outcome = outcomes[index];
      if (outcome !== undefined && 'reply' in outcome) {
        if (command.kind === 'script' && scriptNameOf(command.script.sha) === 'commit') {
          this.#acknowledged.received(command.values, outcome.reply as readonly unknown[]);
        }
        resolve(outcome.reply);
      } else reject(outcome?.error);
    }
  }

  /** Lets the server that it is connected to do something. */
  #call<Result>(lane: string, work: () => Result | Promise<Result>): Promise<Result> {
    const { store, process, network } = this.#options;
    const server = this.#server;
    return network.call(
      process,
      store.process,
      lane,
      () => {
        if (server !== store.process) throw unavailable('The connection was reset.');
        return work();
      },
      unavailable,
      () => this.#failed(),
    );
  }

  #failed(): void {
    this.failedAt = this.#options.time.monotonic();
  }

  /** Messages may have been missed, or the server is another one. */
  #interrupted(): void {
    if (this.#isClosed || this.#isConnecting) return;
    this.#failed();
    this.#server = undefined;
    this.#subscribed = new Set();
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    this.#isConnecting = true;
    const { clock } = this.#options.process;
    for (let attempt = 1; ; attempt += 1) {
      await clock.sleep(Math.min(attempt * reconnectStepMilliseconds, reconnectMillisecondsMaximum));
      if (this.#isClosed) return;
      if (await this.#connect()) break;
    }
    this.#isConnecting = false;
    this.#options.events.resubscribed();
  }

  /** @returns whether it is connected now */
  async #connect(): Promise<boolean> {
    const { store, process, network, events } = this.#options;
    try {
      const server = await network.call(
        process,
        store.process,
        'store',
        () => {
          this.#subscribed = new Set(this.#channels);
          return store.process;
        },
        unavailable,
        () => this.#failed(),
      );
      const isOther = this.#lastServer !== undefined && this.#lastServer !== server;
      this.#server = server;
      this.#lastServer = server;
      if (isOther) events.serverChanged();
      return true;
    } catch {
      return false;
    }
  }
}

function unavailable(reason: string): LendstreamError {
  return new LendstreamError('COORDINATION_UNAVAILABLE', reason);
}
