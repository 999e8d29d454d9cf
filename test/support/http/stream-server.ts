import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transform } from 'node:stream';
import type { CommitResult, Coordination } from '../../../src/ports/coordination.ts';
import { parseOffset } from '../../../src/broker/cursors/cursor-text.ts';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { EventTypes } from '../../../src/broker/event-types/event-types.ts';
import { DeadLetterQueue, deadLetterEventType } from '../../../src/broker/dead-letters/dead-letter-queue.ts';
import { Publisher } from '../../../src/broker/publishing/publisher.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { subscriptionId } from '../../../src/broker/definitions/subscription-id.ts';
import { systemClock, type Clock } from '../../../src/clock.ts';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { createCursorsRouter } from '../../../src/http/streaming/cursors.ts';
import { createEventTypeEventsRouter } from '../../../src/http/streaming/event-type-events.ts';
import { createSubscriptionEventsRouter } from '../../../src/http/streaming/subscription-events.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { openCoordinationUnderTest, openLogUnderTest } from '../backend-under-test.ts';
import { recordingLogger } from '../values/recording-logger.ts';
import { eventually } from '../eventually.ts';
import type { Batch, Cursor } from './client.ts';
import { streamDecoder } from './stream-encodings.ts';

/** How many lines of the log the report of a wait in vain has. */
const reportedLines = 30;

/** The routes of streams over the backend under test, on a free port: what a consumer uses, without the rest. */
export type StreamServer = Awaited<ReturnType<typeof startStreamServer>>;

export interface StreamRequest {
  readonly method?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Reads nothing before {@link StreamClient.read}. */
  readonly paused?: boolean;
}

/**
 * @param changed Wraps the coordination that the streams use.
 * @param streamClock The time of the streams alone: a quick one, where nothing depends on that of the coordination.
 */
export async function startStreamServer(
  changed: (coordination: Coordination) => Coordination = (same) => same,
  streamClock: Clock = systemClock,
) {
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-streams-'));
  const { logger, lines } = recordingLogger(reportedLines);
  const log = await openLogUnderTest(dataFolder, logger);
  const registry = new Registry(log, logger);
  await registry.start();
  const coordination = await openCoordinationUnderTest(dataFolder, log, systemClock, logger);
  const leaseMilliseconds = 3_600_000;
  const lease = new NodeLease({ coordination, nodeId: randomUUID(), leaseMilliseconds, clock: systemClock, logger });
  await lease.start();
  const metrics = createMetrics();
  const eventTypes = new EventTypes({ registry, coordination, log, clock: systemClock, logger });
  await eventTypes.registerSystemEventTypes([deadLetterEventType()]);
  const publisher = new Publisher({ eventTypes, log, clock: systemClock, metrics, logger });
  const deadLetters = new DeadLetterQueue({ publisher, clock: systemClock });
  const streams = createSubscriptionEventsRouter({
    deadLetters,
    failingStreams: new Set(),
    registry,
    log,
    coordination: changed(coordination),
    clock: streamClock,
    logger,
    metrics,
    lease,
  });
  const eventTypeStreams = createEventTypeEventsRouter({ registry, eventTypes, log, clock: streamClock, logger });
  const endedStreamReason = (streamId: string): string | undefined => streams.endedStreamReason(streamId);
  const cursors = { registry, log, coordination, clock: systemClock, metrics, endedStreamReason };
  const routers = [streams.router, eventTypeStreams.router, createCursorsRouter(cursors)];
  const server = createApplicationServer(createApplication(routers, logger));
  const responses = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    responses.add(response);
    response.on('close', () => responses.delete(response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port = (server.address() as AddressInfo).port;
  const clients = new Set<StreamClient>();

  /** What the server knows of a subscription, for the report of a wait that was in vain. */
  async function reportOn(id: string): Promise<string> {
    const { generation, sessions, partitions } = await coordination.topology(id);
    const committed = await coordination.committedOffsets(id);
    const bounds = await log.bounds(partitions.map(({ eventType, partition }) => ({ topic: eventType, partition })));
    const streamIds = sessions.map(({ streamId }) => streamId);
    return JSON.stringify({ generation, streamIds, partitions, committed, bounds, log: lines }, null, 1);
  }

  return {
    log,
    registry,
    eventTypes,
    coordination,
    metrics,
    deadLetters,
    streams,
    eventTypeStreams,
    server,
    port,

    async defineEventType(partitionCount: number, compacted = false): Promise<string> {
      const name = `payments-${randomUUID()}`;
      await log.createTopic({
        name,
        partitionCount,
        cleanupPolicy: compacted ? 'compact' : 'delete',
        retentionMilliseconds: 3_600_000,
      });
      await registry.put('event-type', name, { eventType: { name }, partitionCount, schemas: [], system: false });
      return name;
    },

    async subscribe(eventTypes: readonly string[], changes: Partial<Subscription> = {}): Promise<string> {
      const id = subscriptionId('tests', eventTypes, randomUUID());
      const subscription: Subscription = {
        owning_application: 'tests',
        event_types: eventTypes,
        consumer_group: 'default',
        read_from: 'begin',
        initial_cursors: [],
        authorization: null,
        annotations: {},
        labels: {},
        id,
        created_at: '2025-01-01T00:00:00.000Z',
        updated_at: '2025-01-01T00:00:00.000Z',
        ...changes,
      };
      await registry.put('subscription', id, subscription);
      return id;
    },

    /** Appends one event for each number, `{"number":n}`, as one batch. */
    async publish(topic: string, partition: number, numbers: readonly number[]): Promise<void> {
      const records = numbers.map((number): LogRecord => ({ key: null, value: Buffer.from(`{"number":${number}}`) }));
      await this.append(topic, partition, records);
    },

    async append(topic: string, partition: number, records: readonly LogRecord[]): Promise<void> {
      const [result] = await log.append([{ topic, partition, records }]);
      if (result?.outcome !== 'appended') throw new Error(`Not appended: ${JSON.stringify(result)}`);
    },

    async open(id: string, options: StreamRequest = {}): Promise<StreamClient> {
      const client = await this.openPath(`/subscriptions/${id}/events`, options);
      client.report = () => reportOn(id);
      return client;
    },

    /** Opens a stream of an event type without a subscription. */
    async openEventType(name: string, options: StreamRequest = {}): Promise<StreamClient> {
      return this.openPath(`/event-types/${name}/events`, options);
    },

    async openPath(path: string, options: StreamRequest): Promise<StreamClient> {
      const client = await StreamClient.open(port, path, options);
      clients.add(client);
      return client;
    },

    /** Streams without a subscription. */
    openEventTypeStreams(): number {
      let open = 0;
      for (const { req } of responses) if (req.url?.startsWith('/event-types/') === true) open += 1;
      return open;
    },

    /** Bytes of responses that their connections have not accepted yet. */
    unsentBytes(): number {
      let bytes = 0;
      for (const { writableLength } of responses) bytes += writableLength;
      return bytes;
    },

    commit(id: string, streamId: string, cursors: readonly Cursor[]): Promise<CommitResult> {
      const positions = cursors.map(({ event_type: eventType, partition, offset }) => ({
        eventType,
        partition: Number(partition),
        offset: parseOffset(offset),
      }));
      return coordination.commit(id, streamId, positions);
    },

    /** Ends all connections, so that the next test finds none of the streams that this one has left open. */
    async disconnectAll(): Promise<void> {
      for (const client of clients) client.destroy();
      clients.clear();
      server.closeAllConnections();
      await eventually(() => responses.size === 0 && streams.openStreams.size === 0);
    },

    async stop(): Promise<void> {
      for (const client of clients) client.destroy();
      await Promise.all([eventTypeStreams.closeAll(), streams.closeAll()]);
      server.closeAllConnections();
      server.close();
      lease.stop();
      await coordination.close();
      await registry.stop();
      await log.close();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

/** One open stream as a client sees it: lines as they arrive, and when the server ended it. */
export class StreamClient {
  readonly batches: Batch[] = [];
  readonly response: IncomingMessage;
  /** What else to say of a wait that was in vain. */
  report: () => Promise<string> = () => Promise.resolve('');
  /** Why the connection ended without an orderly end, if so. */
  error: Error | undefined;
  /** Resolves when the response has ended in any way. */
  readonly ended: Promise<void>;
  readonly #numbers: number[] = [];
  #rest = '';
  #isOver = false;
  #plain: Transform | undefined;
  readonly #watchers = new Set<() => void>();

  constructor(response: IncomingMessage) {
    this.response = response;
    this.ended = new Promise((resolve) => {
      const finish = (): void => {
        this.#isOver = true;
        for (const watcher of this.#watchers) watcher();
        resolve();
      };
      // Compressed data is still being read when the response has arrived completely.
      response.on('close', () => {
        if (this.#plain === undefined || !response.complete || this.#plain.readableEnded) finish();
        else this.#plain.on('close', finish);
      });
    });
    response.on('error', (error) => (this.error = error));
  }

  static async open(port: number, path: string, options: StreamRequest): Promise<StreamClient> {
    const { method, query, body, headers, paused = false } = options;
    const sent = request({
      host: '127.0.0.1',
      port,
      path: `${path}${query ?? ''}`,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: headers ?? {},
      agent: false,
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    sent.on('error', () => {});
    const client = new StreamClient(response);
    if (response.statusCode === 200 && !paused) client.read();
    return client;
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  get streamId(): string {
    const { headers } = this.response;
    return String(headers['x-nakadi-streamid'] ?? headers['x-mambu-streamid']);
  }

  /** Every number of `{"number":n}` events, in the order of arrival. */
  get numbers(): readonly number[] {
    return this.#numbers;
  }

  get lastInfo(): Batch['info'] {
    return this.batches.at(-1)?.info;
  }

  /** The last cursor with events, per partition. */
  get cursors(): Cursor[] {
    const last = new Map<string, Cursor>();
    for (const { cursor, events } of this.batches) {
      if (events !== undefined) last.set(`${cursor.event_type}:${cursor.partition}`, cursor);
    }
    return [...last.values()];
  }

  /** The partitions of the received lines. */
  get partitions(): string[] {
    return [...new Set(this.batches.map(({ cursor }) => cursor.partition))].sort();
  }

  read(): void {
    const { response } = this;
    const encoding = response.headers['content-encoding'];
    if (encoding !== undefined) this.#plain = response.pipe(streamDecoder(encoding));
    const text = this.#plain ?? response;
    text.on('data', (bytes: Buffer) => this.receive(bytes.toString()));
    text.on('error', (error) => (this.error = error));
  }

  receive(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const batch = JSON.parse(line) as Batch;
      this.batches.push(batch);
      for (const { number } of batch.events ?? []) this.#numbers.push(Number(number));
    }
    for (const watcher of this.#watchers) watcher();
  }

  async problem(): Promise<{ status: number; detail: string; contentType: string }> {
    const chunks: Buffer[] = [];
    for await (const part of this.response) chunks.push(part as Buffer);
    const { status, detail } = JSON.parse(Buffer.concat(chunks).toString()) as { status: number; detail: string };
    return { status, detail, contentType: String(this.response.headers['content-type']) };
  }

  until(condition: () => boolean, milliseconds = 8_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (error?: Error): void => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        if (error === undefined) resolve();
        else reject(error);
      };
      const received = (): string => JSON.stringify(this.batches).slice(-1500);
      const giveUp = async (): Promise<void> => {
        const late = Math.round(performance.now() - dueAt);
        const report = await this.report().catch(String);
        const ofStream = `stream ${this.streamId} received ${received()}`;
        finish(new Error(`Waited in vain, noticed ${late} ms late: ${ofStream}\n${report}`));
      };
      const dueAt = performance.now() + milliseconds;
      const timer = setTimeout(() => void giveUp(), milliseconds);
      const check = (): void => {
        if (condition()) finish();
        else if (this.#isOver) finish(new Error(`The stream has ended: ${received()}`));
      };
      this.#watchers.add(check);
      check();
    });
  }

  destroy(): void {
    this.response.destroy();
  }
}
