import { silentLogger } from '../../../src/logger.ts';
import { readMirror } from '../../../src/broker/log/cursors-topic.ts';
import type { Topology } from '../../../src/ports/coordination.ts';
import { partitionKey } from '../../../src/ports/event-type-partition.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { KeySpace } from '../../../src/redis/keys.ts';
import type { Script } from '../../../src/redis/script-loading.ts';
import { decodeTopology } from '../../../src/redis/script-values.ts';
import type { StoredOffset } from '../../../src/redis/stored-offset.ts';
import { settled, type SimulatedClock } from '../../support/simulated-clock.ts';
import type { Chance } from '../chance.ts';
import { SimulatedLog } from '../simulated-log.ts';
import type { LogData } from '../log-data.ts';
import type { Network } from '../network.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import type { NodeCoordination, SimulatedStore, StoreOperation, SubscriptionSnapshot } from '../simulated-store.ts';
import type { AcknowledgedOffsets } from './acknowledged-offsets.ts';
import { NodeConnection } from './node-connection.ts';
import { startingCoordination } from './starting-coordination.ts';
import type { RedisForRuns } from './redis-server.ts';
import { RefillChecks } from './refill-checks.ts';
import { NotDecided, operationsOf, type ScriptOperation } from './script-operations.ts';
import { scriptNameOf, snapshotScript, timeKey } from './simulated-scripts.ts';
import { isRecovering, type StoredSubscription } from './stored-subscription.ts';

/** A command of a node. */
export type StoreCommand =
  | {
      readonly kind: 'script';
      readonly script: Script;
      readonly keys: readonly string[];
      readonly values: readonly (string | number)[];
      /** The newest commits that the node knows to be stored, by subscription and partition, when it merges. */
      readonly acknowledged?: AcknowledgedOffsets;
    }
  | { readonly kind: 'hash'; readonly key: string }
  | { readonly kind: 'field'; readonly key: string; readonly field: string }
  | { readonly kind: 'set if absent'; readonly key: string; readonly value: string; readonly milliseconds: number };

/** What became of a command. */
export type CommandOutcome = { readonly reply: unknown } | { readonly error: unknown };

export interface RedisStoreOptions {
  readonly redis: RedisForRuns;
  readonly time: SimulatedClock;
  readonly chance: Chance;
  readonly network: Network;
  readonly data: LogData;
  readonly newProcess: () => SimulatedProcess;
  /** The log as a node reaches it. */
  readonly logOf: (process: SimulatedProcess) => EventLog;
  readonly subscriptions: () => readonly string[];
  readonly onOperation: (operation: StoreOperation) => void;
  /** Called after each command that may have changed something. */
  readonly onExecuted: () => Promise<void>;
  readonly observe: (check: () => void) => void;
  readonly note: (text: () => string) => void;
}

/** Scripts that change nothing that invariants look at, and publish nothing. */
const quietScripts: ReadonlySet<string> = new Set([
  'topology',
  'committed-offsets',
  'heartbeats',
  'remember',
  'history',
  'shard-state',
  'read-hashes',
  'renew-claim',
  'release-claim',
  'nodes/report',
  'nodes/list',
]);

/** Between the end of one turn of the event loop and the next, work that gives way to others goes on. */
const quietTurns = 6;

/**
 * The coordination store of the simulation that a cluster has: a real Redis with the scripts of the product, which take
 * the simulated time. Every command waits in the simulated network until it is carried out, alone, and nothing else
 * happens meanwhile.
 */
export class RedisStore implements SimulatedStore {
  readonly keys = new KeySpace('lendstream');
  /** Whether nodes take it for a Redis Cluster, and call each shard by itself. */
  readonly isCluster: boolean;
  readonly #options: RedisStoreOptions;
  readonly #connections = new Set<NodeConnection>();
  /** What was published and has not been passed on. */
  #published: { readonly channel: string; readonly text: string }[] = [];
  #raw: readonly StoredSubscription[] = [];
  #operations: StoreOperation[] = [];
  #process: SimulatedProcess;
  /** When the last script ran. Microseconds since the epoch. */
  #microseconds = 0;
  /** Commands that are being carried out. */
  #running = 0;
  /** When claims end, by key. In milliseconds since the epoch. */
  readonly #claimsUntil = new Map<string, number>();
  readonly #refillChecks: RefillChecks;
  #hasStopped = false;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#process = options.newProcess();
    this.isCluster = options.chance.happens(0.3);
    this.#refillChecks = new RefillChecks({
      subscriptions: options.subscriptions,
      storedOf: (subscriptionId) => this.#rawOf(subscriptionId),
      milliseconds: () => this.#milliseconds(),
      observe: options.observe,
    });
    options.redis.subscriber.on('pmessage', this.#onMessage);
  }

  get process(): SimulatedProcess {
    return this.#process;
  }

  /** Milliseconds of its own clock are whole, as those of the scripts. */
  now(): number {
    return Math.floor(this.#options.time.monotonic());
  }

  async start(): Promise<void> {
    await this.#work(() => this.#options.redis.client.flushall());
  }

  stop(): void {
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    this.#options.redis.subscriber.off('pmessage', this.#onMessage);
    this.#process.die();
  }

  /** Loses all data, with its process or without. */
  async forget(): Promise<void> {
    const { chance, redis, newProcess, note } = this.#options;
    const restarts = chance.happens(0.5);
    note(() => (restarts ? 'redis restarts empty' : 'redis is emptied'));
    await this.#work(async () => {
      await redis.client.flushall();
      this.#claimsUntil.clear();
      this.#refillChecks.lost(await this.#readMirror());
      await this.#readAll();
    });
    if (!restarts) return;
    this.#process.die();
    this.#process = newProcess();
    for (const connection of this.#connections) connection.serverGone();
  }

  connect(process: SimulatedProcess): NodeCoordination {
    const { time, chance, network, logOf } = this.#options;
    const connections: NodeConnection[] = [];
    return startingCoordination(
      {
        redisUrl: '',
        log: logOf(process),
        clock: process.clock,
        logger: silentLogger,
        random: () => chance.next(),
        openConnection: async (_address, _logger, events) => {
          const connection = new NodeConnection({ store: this, process, network, time, events });
          connections.push(connection);
          this.#connections.add(connection);
          process.whenDead(() => this.#connections.delete(connection));
          await connection.open();
          return connection;
        },
      },
      process,
      () => Math.max(...connections.map(({ failedAt }) => failedAt)),
    );
  }

  disconnected(connection: NodeConnection): void {
    this.#connections.delete(connection);
  }

  async settled(): Promise<void> {
    for (let turns = 0; turns < quietTurns; turns += 1) {
      await settled();
      while (this.#running > 0) {
        await settled();
        turns = 0;
      }
    }
  }

  takeOperations(): readonly StoreOperation[] {
    const operations = this.#operations;
    this.#operations = [];
    return operations;
  }

  async snapshot(subscriptionId: string): Promise<SubscriptionSnapshot | undefined> {
    return this.#snapshot(subscriptionId);
  }

  /** Carries out commands that arrived together, in their order. */
  async execute(caller: string, commands: readonly StoreCommand[]): Promise<CommandOutcome[]> {
    return this.#work(async () => {
      // Until the step that this belongs to has its number.
      await settled();
      const outcomes: CommandOutcome[] = [];
      let mayPublish = false;
      for (const command of commands) {
        try {
          outcomes.push({ reply: await this.#executeOne(caller, command) });
        } catch (error) {
          outcomes.push({ error });
        }
        if (command.kind === 'script' && !quietScripts.has(scriptNameOf(command.script.sha))) mayPublish = true;
      }
      if (mayPublish) await this.#passOnMessages();
      return outcomes;
    });
  }

  async #executeOne(caller: string, command: StoreCommand): Promise<unknown> {
    const { redis } = this.#options;
    const { client } = redis;
    switch (command.kind) {
      case 'hash':
        return client.hgetall(command.key);
      case 'field':
        return client.hget(command.key, command.field);
      case 'set if absent': {
        const now = this.#milliseconds();
        if ((this.#claimsUntil.get(command.key) ?? 0) <= now) await client.del(command.key);
        const isSet = (await client.set(command.key, command.value, 'NX')) === 'OK';
        if (isSet) this.#claimsUntil.set(command.key, now + command.milliseconds);
        return isSet;
      }
      case 'script':
        return this.#runScript(caller, command);
      default:
        throw new Error('There is no such command.');
    }
  }

  async #runScript(
    caller: string,
    { script, keys, values, acknowledged = new Map() }: StoreCommand & { readonly kind: 'script' },
  ): Promise<unknown> {
    const name = scriptNameOf(script.sha);
    const { note } = this.#options;
    if (quietScripts.has(name)) {
      const reply = (await this.#evaluate(script, keys, values)) as readonly unknown[];
      const [key = ''] = keys;
      if (name === 'renew-claim' && reply[1] === '1')
        this.#claimsUntil.set(key, this.#milliseconds() + Number(values[1]));
      return reply;
    }
    const texts = values.map(String);
    const leasedIds = this.#options.subscriptions().filter((id) => keys.includes(this.keys.key(id, 'nodes')));
    const operations = operationsOf(name, this.keys.subscriptionOf(texts[1] ?? ''), texts, leasedIds);
    const begun = operations.map((operation) => this.#begin(caller, operation));
    const reply = (await this.#evaluate(script, keys, values)) as readonly unknown[];
    note(() => `redis ${caller} ${name} ${texts.slice(3).join(' ')}: ${JSON.stringify(reply)}`);
    await this.#readAll();
    // A script that refuses the incarnation has done nothing.
    if (reply[0] === 'INCARNATION') return reply;
    for (const [index, operation] of begun.entries()) {
      this.#options.onOperation(operation);
      try {
        operation.result = operations[index]?.result(reply);
      } catch (error) {
        if (!(error instanceof NotDecided)) throw error;
        operation.error = error;
      }
      operation.isFinished = true;
      this.#operations.push(operation);
    }
    await this.#options.onExecuted();
    this.#refillChecks.executed(name, begun, acknowledged);
    return reply;
  }

  #begin(caller: string, { method, arguments: args }: ScriptOperation): StoreOperation {
    const topology = method === 'renewLease' ? undefined : this.#snapshot(String(args[0]))?.topology;
    return {
      caller,
      method,
      arguments: args,
      beganAt: this.now(),
      topology,
      isAllowed: true,
      unsent: [],
      isFinished: false,
      result: undefined,
      error: undefined,
    };
  }

  async #evaluate(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    const { client } = this.#options.redis;
    const microseconds = this.#milliseconds() * 1_000 + Math.floor((this.#options.time.monotonic() % 1) * 1_000);
    // No script begins in the microsecond of another.
    this.#microseconds = Math.max(microseconds, this.#microseconds + 1);
    const setting = client.set(timeKey, String(this.#microseconds));
    const rest = [keys.length, ...keys, ...values] as const;
    try {
      return await client.evalsha(script.sha, ...rest);
    } catch (error) {
      if (!String(error).includes('NOSCRIPT')) throw error;
      return await client.eval(script.text, ...rest);
    } finally {
      await setting;
    }
  }

  /** The simulated time of the server. Milliseconds since the epoch. */
  #milliseconds(): number {
    return this.#options.time.now();
  }

  /** Passes on what was published until now: a message comes before the response to a later ping. */
  async #passOnMessages(): Promise<void> {
    await this.#options.redis.subscriber.ping();
    const published = this.#published;
    this.#published = [];
    for (const { channel, text } of published) {
      for (const connection of this.#connections) connection.published(channel, text);
    }
  }

  async #readAll(): Promise<void> {
    const ids = this.#options.subscriptions();
    if (ids.length === 0) return;
    const kinds = ['shard', 'meta', 'owners', 'sessions', 'offsets', 'nodes'] as const;
    const keys = ids.flatMap((id) => kinds.map((kind) => this.keys.key(id, kind)));
    const { client } = this.#options.redis;
    this.#raw = (await client.eval(snapshotScript, keys.length, ...keys)) as StoredSubscription[];
  }

  #rawOf(subscriptionId: string): StoredSubscription | undefined {
    return this.#raw[this.#options.subscriptions().indexOf(subscriptionId)];
  }

  #snapshot(subscriptionId: string): SubscriptionSnapshot | undefined {
    const raw = this.#rawOf(subscriptionId);
    if (raw === undefined) return undefined;
    const [[incarnation, , returnUntil], [generation, resetUntil], sessions, owners, offsets] = raw;
    // While a shard is refilled, no script runs on it.
    if (typeof incarnation !== 'string') return undefined;
    const now = this.#milliseconds();
    const isResetting = Number(resetUntil ?? '0') > now;
    const topology: Topology = decodeTopology([generation ?? '0', isResetting ? '1' : '0', sessions, owners, offsets]);
    return {
      topology,
      committed: topology.committed,
      incarnation: Number(incarnation),
      isAwaitingNodes: isRecovering(raw, now) || Number(returnUntil ?? '0') > now,
    };
  }

  async #readMirror(): Promise<Map<string, Map<string, StoredOffset>>> {
    const { data, time } = this.#options;
    const mirror = await readMirror(new SimulatedLog({ data, clock: time })).catch(() => new Map<string, never[]>());
    return new Map(
      Array.from(mirror, ([id, offsets]) => [
        id,
        new Map(offsets.map(({ offset, epoch, ...where }) => [partitionKey(where), { offset, epoch }])),
      ]),
    );
  }

  async #work<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  readonly #onMessage = (_pattern: string, channel: string, text: string): void => {
    this.#published.push({ channel, text });
  };
}
