import { partitionCounts } from '../../src/broker/subscriptions/subscription-partitions.ts';
import type { EventTypeRecord } from '../../src/broker/definitions/event-type.ts';
import { deadLetterEventType } from '../../src/broker/dead-letters/dead-letter-queue.ts';
import { deadLetterQueue, unprocessableEventPolicy } from '../../src/broker/definitions/unprocessable-events.ts';
import { systemRecord, topicOf } from '../../src/broker/event-types/event-type-records.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { policyOf } from '../../src/broker/streaming/unprocessable-events.ts';
import type { Subscription } from '../../src/broker/definitions/subscription.ts';
import { subscriptionId } from '../../src/broker/definitions/subscription-id.ts';
import { formatOffset } from '../../src/broker/cursors/cursor-text.ts';
import { describeError, LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import type { EventTypePartition } from '../../src/ports/event-type-partition.ts';
import type { TopicPartition } from '../../src/ports/event-log.ts';
import { SimulatedClock, settled } from '../support/simulated-clock.ts';
import { Chance } from './chance.ts';
import {
  linesOf,
  observedLine,
  SimulatedClient,
  type ApiCursor,
  type Manners,
  type ServiceForClient,
} from './client.ts';
import { Connection } from './connection.ts';
import { Invariants } from './invariants/invariants.ts';
import { Violation } from './invariants/violation.ts';
import { LogData } from './log-data.ts';
import { Network } from './network.ts';
import { SimulatedNode } from './node.ts';
import { RedisStore } from './redis/redis-store.ts';
import type { RedisForRuns } from './redis/redis-server.ts';
import { SimulatedLog } from './simulated-log.ts';
import { leaseMilliseconds, SimulatedProcess, type ClockDeviation } from './simulated-process.ts';
import type { NodeCoordination, SimulatedStore } from './simulated-store.ts';
import { Store } from './store.ts';
import { eventText, FailingConsumers, observedLetter } from './unprocessable-events.ts';

const exactClock: ClockDeviation = { wallMilliseconds: 0, monotonicBase: 0, rate: 1 };

/** How many kinds of events there are. */
export const eventKinds = 3;

/** A subscription of the simulation. */
export interface WorldSubscription {
  readonly id: string;
  /** No client reads it to its end. */
  readonly isStuck: boolean;
}

/** Everything that is simulated: processes, network, log, store, and what is known of them. */
export class World implements ServiceForClient {
  readonly time = new SimulatedClock();
  readonly chance: Chance;
  readonly network: Network;
  readonly data = new LogData();
  readonly store: SimulatedStore;
  readonly invariants: Invariants;
  readonly registry: Registry;
  readonly logProcess: SimulatedProcess;
  readonly subscriptions: WorldSubscription[] = [];
  readonly clients: SimulatedClient[] = [];
  readonly eventTypes: string[] = [];
  readonly history: string[] = [];
  nodes: SimulatedNode[] = [];
  step = 0;
  /** No fault is in progress any more. */
  isQuiet = false;
  /** Nothing but clients ever fails. */
  isCalm = false;
  /** Whether subscriptions may have a policy for events that consumers fail with. */
  hasPolicies = false;
  /** How likely an event is one that consumers fail with. */
  failing = 0;
  violation: string | undefined;
  readonly #isRecording: boolean;
  readonly #subscriptionIds: string[] = [];
  readonly #streamIds = new Map<string, string[]>();
  readonly #consumers = new FailingConsumers();
  #nodeCount = 0;
  #connectionCount = 0;
  #eventCount = 0;
  #storeReceivedCount = 0;
  /** By node. Simulated milliseconds. */
  readonly #renewedAt = new Map<string, number>();
  #lastCoordinations = new Map<string, NodeCoordination>();

  /** @param redis What executes the scripts, when the store is the one of a cluster. */
  constructor(seed: number, isRecording: boolean, redis?: RedisForRuns) {
    this.chance = new Chance(seed);
    this.#isRecording = isRecording;
    this.network = new Network(this.time, this.chance);
    this.logProcess = new SimulatedProcess('log', this.time, exactClock);
    this.invariants = new Invariants({
      nowMilliseconds: () => this.time.monotonic(),
      leaseMilliseconds,
      closeReason: (streamId) => this.#closeReason(streamId),
      storeFailedAtMilliseconds: (name) => this.#lastCoordinations.get(name)?.failedAt ?? Number.NEGATIVE_INFINITY,
      renewedAtMilliseconds: (name) => this.#renewedAt.get(name) ?? Number.NEGATIVE_INFINITY,
      mayLoseCommits: redis !== undefined,
    });
    this.store = redis === undefined ? this.#storeInMemory() : this.#storeOnRedis(redis);
    this.data.onAppended = ({ topic }, records) => {
      if (topic !== deadLetterQueue) return;
      for (const { value } of records) this.#letterAppended(value?.toString() ?? '');
    };
    const log = new SimulatedLog({ data: this.data, clock: this.time });
    this.registry = new Registry(log, silentLogger, undefined, this.time);
  }

  #storeInMemory(): SimulatedStore {
    return new Store({
      data: this.data,
      network: this.network,
      logProcess: this.logProcess,
      newProcess: () => new SimulatedProcess('store', this.time, exactClock),
      now: () => this.time.monotonic(),
      onOperation: (operation) => this.observe(() => this.invariants.operationBegins(operation, this.time.monotonic())),
    });
  }

  #storeOnRedis(redis: RedisForRuns): SimulatedStore {
    return new RedisStore({
      redis,
      time: this.time,
      chance: this.chance,
      network: this.network,
      data: this.data,
      newProcess: () => new SimulatedProcess('store', this.time, exactClock),
      logOf: (process) => this.#logOf(process),
      subscriptions: () => this.#subscriptionIds,
      onOperation: (operation) => this.observe(() => this.invariants.operationBegins(operation, this.store.now())),
      onExecuted: () => this.#checkStoreNow(),
      observe: (check) => this.observe(check),
      note: (text) => this.note(text),
    });
  }

  async start(): Promise<void> {
    await this.registry.start();
    const queue = systemRecord(deadLetterEventType(), undefined, '');
    this.data.createTopic(topicOf(queue));
    await this.registry.put('event-type', deadLetterQueue, queue);
    await this.store.start();
  }

  async stop(): Promise<void> {
    await this.store.settled();
    this.store.stop();
    for (const node of this.nodes) node.process.die();
    await this.registry.stop();
    await settled();
  }

  // The current state.

  async defineEventType(name: string, partitionCount: number): Promise<void> {
    this.data.createTopic({ name, partitionCount, cleanupPolicy: 'delete', retentionMilliseconds: Infinity });
    this.eventTypes.push(name);
    await this.registry.put('event-type', name, { partitionCount } satisfies Pick<EventTypeRecord, 'partitionCount'>);
  }

  partitionCount(eventType: string): number {
    return this.registry.get<EventTypeRecord>('event-type', eventType)?.partitionCount ?? 0;
  }

  async addPartition(eventType: string): Promise<void> {
    const partitionCount = this.partitionCount(eventType) + 1;
    this.data.alterTopic(eventType, { partitionCount });
    await this.registry.put('event-type', eventType, { partitionCount } satisfies Pick<
      EventTypeRecord,
      'partitionCount'
    >);
  }

  async subscribe(
    consumerGroup: string,
    readFrom: 'begin' | 'end',
    isStuck: boolean,
    annotations: Readonly<Record<string, string>>,
  ): Promise<void> {
    const eventTypes = [...this.eventTypes].sort();
    const id = subscriptionId('simulation', eventTypes, consumerGroup);
    const subscription: Subscription = {
      id,
      owning_application: 'simulation',
      event_types: eventTypes,
      consumer_group: consumerGroup,
      read_from: readFrom,
      initial_cursors: [],
      authorization: null,
      annotations,
      labels: {},
      created_at: '',
      updated_at: '',
    };
    await this.registry.put('subscription', id, subscription);
    this.invariants.addSubscription(id);
    this.invariants.unprocessable.policyChanges(id, unprocessableEventPolicy(annotations));
    this.note(() => `${id} has ${JSON.stringify(annotations)}`);
    this.subscriptions.push({ id, isStuck });
    this.#subscriptionIds.push(id);
  }

  /** Changes the annotations of a subscription. */
  async annotate(id: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    const subscription = this.registry.get<Subscription>('subscription', id);
    if (subscription === undefined) return;
    this.note(() => `${id} gets ${JSON.stringify(annotations)}`);
    const changed = this.invariants.unprocessable.policyChanges(id, unprocessableEventPolicy(annotations));
    await this.registry.put('subscription', id, { ...subscription, annotations });
    changed();
  }

  addNode(): SimulatedNode {
    this.#nodeCount += 1;
    const { chance, registry, store } = this;
    const process = new SimulatedProcess(`node ${this.#nodeCount}`, this.time, {
      wallMilliseconds: chance.between(-2_000, 2_000),
      monotonicBase: chance.between(0, 1_000_000),
      rate: 0.99 + 0.02 * chance.next(),
    });
    const coordination = store.connect(process);
    this.#lastCoordinations.set(process.name, coordination);
    const log = this.#logOf(process);
    const node = new SimulatedNode({
      process,
      registry,
      log,
      coordination,
      newStreamId: () => chance.uuid(),
      random: () => chance.next(),
      onRenewed: () => this.#renewedAt.set(process.name, this.time.monotonic()),
      onStreamOpened: (id, streamId, rules) => {
        this.note(() => `${process.name} opens ${streamId}`);
        const streamIds = this.#streamIds.get(id) ?? [];
        this.#streamIds.set(id, streamIds);
        streamIds.push(streamId);
        this.invariants.streamOpened(id, streamId, process.name, rules);
      },
    });
    this.nodes.push(node);
    return node;
  }

  /** The log as a process reaches it. */
  #logOf(process: SimulatedProcess): SimulatedLog {
    return new SimulatedLog({
      data: this.data,
      clock: process.clock,
      readBytesMaximum: () => (this.chance.happens(0.6) ? this.chance.between(1, 60) : Infinity),
      transport: (name, work) =>
        this.network.call(
          process,
          this.logProcess,
          `log ${name}`,
          work,
          (reason) => new LendstreamError(name === 'append' ? 'OUTCOME_UNKNOWN' : 'LOG_UNAVAILABLE', reason),
        ),
    });
  }

  removeNode(node: SimulatedNode): void {
    node.process.die();
    this.nodes = this.nodes.filter((other) => other !== node);
  }

  addClient(subscription: string, manners: Manners, newParameters: () => Record<string, unknown>): SimulatedClient {
    const process = new SimulatedProcess(`client ${this.clients.length + 1}`, this.time, exactClock);
    const client = new SimulatedClient(
      {
        process,
        chance: this.chance,
        subscriptionId: subscription,
        service: this,
        newParameters,
        onReceived: (line) => this.observe(() => this.invariants.received(line)),
        note: (text) => this.note(text),
      },
      manners,
    );
    this.clients.push(client);
    client.run().catch((error: unknown) => this.fail(`A client ended: ${describeError(error)}`));
    return client;
  }

  // The actions.

  /** Appends events to a partition, and deletions with the given probability. */
  publish(
    { eventType, partition }: EventTypePartition,
    count: number,
    deletions: number,
    isTransaction: boolean,
  ): void {
    const values = Array.from({ length: count }, () => {
      if (this.chance.happens(deletions)) return null;
      this.#eventCount += 1;
      return eventText(this.#eventCount, this.#eventCount % eventKinds, this.failing, this.chance);
    });
    const where: TopicPartition = { topic: eventType, partition };
    const records = values.map((value) => ({ key: 'key', value: value === null ? null : Buffer.from(value) }));
    const baseOffset = this.data.append(where, records, this.time.now());
    if (isTransaction) this.data.addHole(where, this.chance.between(1, 3));
    this.note(() => `published ${eventType}:${partition}@${baseOffset} ${values.join(' ')}`);
    this.invariants.published({ eventType, partition }, baseOffset, values);
  }

  /** Lets retention delete the oldest records of a partition, up to some offset. */
  expire({ eventType, partition }: EventTypePartition): void {
    const where = { topic: eventType, partition };
    const { earliest, latest } = this.data.bounds(where);
    this.data.deleteRecords(where, this.chance.between(earliest, latest), Infinity);
    const now = this.data.bounds(where).earliest;
    this.note(() => `retention deletes ${eventType}:${partition} before ${now}`);
    this.invariants.deleted({ eventType, partition }, now);
  }

  anyPartition(): EventTypePartition {
    const eventType = this.chance.pick(this.eventTypes) ?? '';
    return { eventType, partition: this.chance.between(0, this.partitionCount(eventType) - 1) };
  }

  async openStream(
    client: SimulatedProcess,
    subscription: string,
    source: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly streamId: string; readonly connection: Connection }> {
    const node = this.#anyNode();
    this.#connectionCount += 1;
    const connection = new Connection({
      network: this.network,
      node: node.process,
      client,
      name: `connection ${this.#connectionCount}`,
      onWritten: (streamId, text) =>
        this.observe(() => {
          for (const line of linesOf(text)) this.invariants.sent(observedLine(subscription, streamId, line));
        }),
    });
    const streamId = await this.network.call(
      client,
      node.process,
      `stream ${this.#connectionCount}`,
      () => node.openStream(subscription, source, connection),
      (reason) => new Error(reason),
      () => connection.close(),
    );
    return { streamId, connection };
  }

  commit(client: SimulatedProcess, subscription: string, streamId: string, cursors: readonly ApiCursor[]) {
    const node = this.#anyNode();
    return this.network.call(
      client,
      node.process,
      'commits',
      () => node.commit(subscription, streamId, cursors),
      (reason) => new Error(reason),
    );
  }

  /** At last, consumers that would wait for ever have been mended. */
  failsWith(subscription: string, event: unknown): boolean {
    if (this.isQuiet && policyOf(this.registry, subscription) === undefined) return false;
    return this.#consumers.failsWith(subscription, event);
  }

  streamIdsOf(subscription: string): readonly string[] {
    return this.#streamIds.get(subscription) ?? [];
  }

  /** An admin moves some partitions of a subscription to available positions. */
  async resetCursors(subscription: string): Promise<void> {
    const node = this.chance.pick(this.nodes);
    if (node === undefined) return;
    const admin = new SimulatedProcess('admin', this.time, exactClock);
    const { registry, chance } = this;
    const definition = registry.get<Subscription>('subscription', subscription);
    if (definition === undefined) return;
    const items = [...partitionCounts(registry, definition)].flatMap(([eventType, count]) =>
      Array.from({ length: count }, (_, partition) => partition).flatMap((partition) => {
        if (chance.happens(0.5)) return [];
        const { earliest, latest } = this.data.bounds({ topic: eventType, partition });
        const offset = formatOffset(chance.between(earliest - 1, latest - 1));
        return [{ event_type: eventType, partition: String(partition), offset }];
      }),
    );
    const places = items.map(({ event_type, partition, offset }) => `${event_type}:${partition}@${offset}`).join(' ');
    this.note(() => `an admin resets ${places}`);
    try {
      await this.network.call(
        admin,
        node.process,
        'resets',
        () => node.resetCursors(subscription, items),
        (reason) => new Error(reason),
      );
      this.note(() => 'the reset is done');
    } catch (error) {
      this.note(() => `the reset failed: ${describeError(error)}`);
    }
  }

  // The checks.

  /**
   * Executes the next event and checks the invariants.
   * @returns whether there was one until `end`
   */
  async runStep(end: number): Promise<boolean> {
    if (this.violation !== undefined || !(await this.time.step(end))) return false;
    this.step += 1;
    await this.store.settled();
    await this.#checkStore();
    return this.violation === undefined;
  }

  observe(check: () => void): void {
    if (this.violation !== undefined) return;
    try {
      check();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.fail(error.message);
    }
  }

  fail(violation: string): void {
    this.violation ??= violation;
    this.note(() => `VIOLATION ${violation}`);
  }

  note(text: () => string): void {
    if (this.#isRecording) this.history.push(`${this.step} ${this.time.monotonic().toFixed(3)} ${text()}`);
  }

  /** Whether a stream that accepts any partition is open on a living node. */
  async #isServed(subscription: string): Promise<boolean> {
    const living = new Set(this.nodes.filter(({ process }) => process.isRunning).map(({ process }) => process.name));
    const snapshot = await this.store.snapshot(subscription);
    return (
      snapshot?.topology.sessions.some(
        ({ nodeId, requestedPartitions }) => living.has(nodeId) && requestedPartitions.length === 0,
      ) ?? false
    );
  }

  /** Partitions with events that are still to be delivered or committed, by clients that read to the end. */
  unfinished(): string[] {
    return this.subscriptions.flatMap(({ id, isStuck }) => (isStuck ? [] : this.invariants.unfinished(id)));
  }

  async checkOwned(): Promise<void> {
    for (const { id } of this.subscriptions) {
      const isServed = await this.#isServed(id);
      this.observe(() => this.invariants.checkOwned(id, isServed));
      this.observe(() => this.invariants.checkWaiting(id, this.store.now()));
    }
  }

  async #checkStore(): Promise<void> {
    const { store } = this;
    const { receivedCount } = store.process;
    if (receivedCount === this.#storeReceivedCount) return;
    this.#storeReceivedCount = receivedCount;
    await this.#checkStoreNow();
  }

  async #checkStoreNow(): Promise<void> {
    const { store } = this;
    const operations = store.takeOperations();
    for (const { id } of this.subscriptions) {
      const snapshot = await store.snapshot(id);
      if (snapshot === undefined) continue;
      this.observe(() => this.invariants.storeChanged(id, snapshot, operations, store.now()));
      if (this.isCalm) this.observe(() => this.invariants.checkToldAtOnce(id, store.now()));
    }
    if (!this.#isRecording) return;
    for (const { caller, method, isFinished, error, arguments: args } of operations) {
      const outcome = error === undefined ? (isFinished ? 'done' : 'under way') : describeError(error);
      this.note(() => `store ${caller} ${method} ${JSON.stringify(args.slice(1))} ${outcome}`);
    }
  }

  #letterAppended(text: string): void {
    const letter = observedLetter(text);
    const { subscriptionId, eventType, partition, offset } = letter;
    this.note(() => `a dead letter of ${subscriptionId} for ${eventType}:${partition}@${offset}`);
    this.observe(() => this.invariants.letter(letter));
  }

  #closeReason(streamId: string): string | undefined {
    for (const node of this.nodes) {
      const reason = node.closeReason(streamId);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  #anyNode(): SimulatedNode {
    const node = this.chance.pick(this.nodes);
    if (node === undefined) throw new Error('No node runs.');
    return node;
  }
}
