/** What a consumer may ask of its stream beyond Nakadi's API. docs/consuming.md explains each option. */
export interface Cursor {
  readonly event_type: string;
  readonly partition: string;
  readonly offset: string;
  readonly cursor_token: string;
}

export interface Batch {
  readonly cursor: Cursor;
  readonly events?: readonly Record<string, unknown>[];
  readonly info?: { readonly debug?: string; readonly code?: string };
}

export interface Stream {
  readonly streamId: string;
  readonly batches: AsyncIterable<Batch>;
  /** Closes the connection, which ends the stream. */
  close(): void;
}

/**
 * Opens a stream.
 * @param subscription The URL of the subscription.
 * @param parameters For example `{ strict_commits: true, wait_for_slot: 30, filter: [filterFor(['to'], 'DE')] }`.
 */
export async function openStream(subscription: string, parameters: Record<string, unknown>): Promise<Stream> {
  const controller = new AbortController();
  const { body, headers } = await post(`${subscription}/events`, parameters, {}, controller.signal);
  if (body === null) throw new Error('The stream has no body');
  return {
    streamId: headers.get('X-Nakadi-StreamId') ?? '',
    batches: batchesOf(body),
    close: () => controller.abort(),
  };
}

/** Commits a cursor. With `strict_commits`, the service refuses one that the stream was not sent. */
export async function commit(subscription: string, { streamId }: Stream, cursor: Cursor): Promise<void> {
  await post(`${subscription}/cursors`, { items: [cursor] }, { 'X-Nakadi-StreamId': streamId });
}

/**
 * A filter: only events that have this value at this place.
 * @param path The names of members and the indexes of elements that lead there.
 */
export function filterFor(path: readonly string[], value: string | number | boolean | null): string {
  const escapes: Readonly<Record<string, string>> = { '~': '~0', '/': '~1', '=': '~2' };
  const names = path.map((name) => name.replace(/[~/=]/g, (character) => escapes[character] ?? character));
  return `/${names.join('/')}=${JSON.stringify(value)}`;
}

/**
 * Processes and commits the batches of a stream until it ends. Those without events are committed too when their cursor
 * has moved: with a filter, it is behind events that were passed over.
 */
export async function consume(
  subscription: string,
  stream: Stream,
  process: (events: readonly Record<string, unknown>[]) => Promise<void>,
): Promise<void> {
  const committed = new Map<string, string>();
  for await (const { cursor, events = [] } of stream.batches) {
    const partition = `${cursor.event_type}/${cursor.partition}`;
    if (committed.get(partition) === cursor.offset) continue;
    if (events.length > 0) await process(events);
    await commit(subscription, stream, cursor);
    committed.set(partition, cursor.offset);
  }
}

/**
 * Waits for work that takes longer than the commit timeout, on a stream with `commit_heartbeat`: until it is done, what
 * is committed already is committed again and again.
 */
export async function withHeartbeats<Result>(
  subscription: string,
  stream: Stream,
  milliseconds: number,
  work: Promise<Result>,
): Promise<Result> {
  const response = await fetch(`${subscription}/cursors`);
  const { items } = (await response.json()) as { readonly items: readonly Cursor[] };
  const beat = (): void => {
    for (const cursor of items) commit(subscription, stream, cursor).catch((error: unknown) => console.error(error));
  };
  const timer = setInterval(beat, milliseconds);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/**
 * The positions before the events of a time.
 * @param url Of the service.
 */
export async function cursorsAt(url: string, eventType: string, time: string): Promise<Omit<Cursor, 'cursor_token'>[]> {
  const response = await post(`${url}/event-types/${eventType}/cursors-at`, { time });
  const cursors = (await response.json()) as { readonly partition: string; readonly offset: string }[];
  return cursors.map((cursor) => ({ event_type: eventType, ...cursor }));
}

/** Moves a subscription to a time, which ends its streams. Their next ones begin there. */
export async function resetTo(
  subscription: string,
  eventType: string,
  time: string,
  partitionCount: number,
): Promise<void> {
  const items = Array.from({ length: partitionCount }, (_, partition) => {
    return { event_type: eventType, partition: String(partition), offset: `TIME:${time}` };
  });
  await request('PATCH', `${subscription}/cursors`, { items });
}

async function* batchesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<Batch> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Batch;
  }
}

function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return request('POST', url, body, headers, signal);
}

async function request(
  method: string,
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const response = await fetch(url, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response;
}
