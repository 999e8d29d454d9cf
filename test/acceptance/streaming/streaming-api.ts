import { randomUUID } from 'node:crypto';
import { clusterUnderTest } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type Batch, type Cursor, type HttpResponse } from '../../support/http/client.ts';
import { StreamClient, type StreamRequest } from '../../support/http/stream-server.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

/** The streaming API of the whole service on the backend under test, as client programs see it: by HTTP alone. */
export interface StreamingApi {
  readonly url: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<HttpResponse>;
  /** Creates an event type with a name of its own; business events that name their partition unless changed. */
  createEventType(partitionCount?: number, changes?: Record<string, unknown>): Promise<string>;
  /** Publishes one event `{"number":n}` for each number, and expects them to be accepted. */
  publish(eventType: string, numbers: readonly number[], partition?: number): Promise<void>;
  /** Creates a subscription, from the first event unless changed, and returns its id. */
  subscribe(eventTypes: readonly string[], changes?: Record<string, unknown>): Promise<string>;
  /** Opens a stream. A first stream has its partitions when this returns; its headers come before. */
  open(subscriptionId: string, query?: string, options?: StreamRequest): Promise<StreamClient>;
  /** Opens a stream of an event type without a subscription. */
  openEventType(eventType: string, query?: string, options?: StreamRequest): Promise<StreamClient>;
  /** Opens a stream over another API. @param path Without its query. */
  openAt(path: string, query?: string, options?: StreamRequest): Promise<StreamClient>;
  commit(subscriptionId: string, stream: StreamClient, ...cursors: readonly Cursor[]): Promise<HttpResponse>;
  /** The committed cursors, by `event type:partition`. */
  committed(subscriptionId: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export const anyToken = '4ae5011e-eb01-11e5-8b4a-1c6f65464fc6';

/** An offset as the API writes it. */
export function offset(number: number): string {
  return number < 0 ? '001-0001--1' : `001-0001-${String(number).padStart(18, '0')}`;
}

export function cursor(eventType: string, number: number | string, partition = 0): Cursor {
  const text = typeof number === 'number' ? offset(number) : number;
  return { event_type: eventType, partition: String(partition), offset: text, cursor_token: anyToken };
}

/** The definition of an event type whose events have a number, and name their partition in their metadata. */
export function eventTypeOf(name: string, partitionCount: number, changes: Record<string, unknown> = {}) {
  const [read_parallelism, write_parallelism] = [partitionCount, partitionCount];
  return {
    name,
    owning_application: 'acceptance',
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    partition_strategy: 'user_defined',
    schema: { type: 'json_schema', schema: '{"type":"object","properties":{"number":{"type":"integer"}}}' },
    default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism, write_parallelism },
    ...changes,
  };
}

export function eventOf(number: number, partition = 0): Record<string, unknown> {
  const metadata = { eid: randomUUID(), occurred_at: '2026-03-15T23:47:15Z', partition: String(partition) };
  return { metadata, number };
}

/** A name that no other test has, as suites share the cluster. */
export function newName(prefix = 'orders'): string {
  return `${prefix}-${randomUUID()}`;
}

/** The batches with events. */
export function withEvents(batches: readonly Batch[]): Batch[] {
  return batches.filter(({ events }) => events !== undefined);
}

/** The numbers of the events of each batch that has some. */
export function numbersOf(batches: readonly Batch[]): number[][] {
  return withEvents(batches).map(({ events = [] }) => events.map(({ number }) => Number(number)));
}

/** @param cluster The Kafka and Redis of the process. By default those of the test run. */
export async function startStreamingApi(
  cluster: Record<string, string> = clusterUnderTest() ?? {},
): Promise<StreamingApi> {
  const folder = await temporaryFolder();
  // No test of this API needs the lending worker.
  const service = await startServiceHere(folder, { ROLES: 'serve', ...cluster });
  const api = streamingApiOf(service);
  return {
    ...api,
    async stop() {
      await api.stop();
      await removeFolder(folder);
    },
  };
}

function streamingApiOf(service: ServiceHere): StreamingApi {
  const { url } = service;
  const port = Number(new URL(url).port);
  const streams: StreamClient[] = [];
  const openPath = async (path: string, options: StreamRequest): Promise<StreamClient> => {
    const stream = await StreamClient.open(port, path, options);
    streams.push(stream);
    return stream;
  };
  const expected = async (status: number, ...request: Parameters<StreamingApi['call']>): Promise<HttpResponse> => {
    const response = await api.call(...request);
    if (response.status !== status) throw new Error(`${request[0]} ${request[1]}: ${response.status} ${response.text}`);
    return response;
  };
  /** Whether any stream of a subscription has a partition. */
  const isAssigned = async (id: string): Promise<boolean> => {
    const { body } = await expected(200, 'GET', `/subscriptions/${id}/streams`);
    return (body['items'] as { partitions: unknown[] }[]).some(({ partitions }) => partitions.length > 0);
  };
  const api: StreamingApi = {
    url,
    call: (method, path, body, headers) => call(`${url}${path}`, method, body, headers),
    async createEventType(partitionCount = 1, changes = {}) {
      const name = newName();
      await expected(201, 'POST', '/event-types', eventTypeOf(name, partitionCount, changes));
      return name;
    },
    async publish(eventType, numbers, partition = 0) {
      const events = numbers.map((number) => eventOf(number, partition));
      await expected(200, 'POST', `/event-types/${eventType}/events`, events);
    },
    async subscribe(eventTypes, changes = {}) {
      const defaults = { owning_application: newName('app'), event_types: eventTypes, read_from: 'begin' };
      const { body } = await expected(201, 'POST', '/subscriptions', { ...defaults, ...changes });
      return String(body['id']);
    },
    async open(id, query = '', options = {}) {
      const stream = await openPath(`/subscriptions/${id}/events`, { query, ...options });
      if (stream.status === 200) await eventually(async () => stream.response.complete || (await isAssigned(id)));
      return stream;
    },
    openEventType: (name, query = '', options = {}) => openPath(`/event-types/${name}/events`, { query, ...options }),
    openAt: (path, query = '', options = {}) => openPath(path, { query, ...options }),
    commit: (id, { streamId }, ...items) =>
      api.call('POST', `/subscriptions/${id}/cursors`, { items }, { 'X-Nakadi-StreamId': streamId }),
    async committed(id) {
      const { body } = await expected(200, 'GET', `/subscriptions/${id}/cursors`);
      const items = body['items'] as Cursor[];
      return Object.fromEntries(items.map((item) => [`${item.event_type}:${item.partition}`, item.offset]));
    },
    async stop() {
      for (const stream of streams) stream.destroy();
      await service.stop();
    },
  };
  return api;
}
