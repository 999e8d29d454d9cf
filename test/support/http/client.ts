/** A small client of the HTTP API for tests, which returns parsed responses. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The text of the body, also parsed when it is JSON. */
  readonly text: string;
  readonly body: Record<string, unknown>;
}

export async function call(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  const json = type.includes('json') && !type.includes('ndjson');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: json && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

export interface Cursor {
  readonly partition: string;
  readonly offset: string;
  readonly event_type: string;
  readonly cursor_token: string;
}

export interface Batch {
  readonly cursor: Cursor;
  readonly events?: readonly Record<string, unknown>[];
  readonly info?: { readonly debug?: string; readonly code?: string };
}

/** One open subscription stream: its batches as they arrive. */
export interface OpenStream {
  readonly streamId: string;
  /** Every batch received so far. */
  readonly batches: readonly Batch[];
  /** Resolves when the condition is true for the received batches, or fails after the timeout. */
  until(condition: (batches: readonly Batch[]) => boolean, milliseconds?: number): Promise<void>;
  commit(cursors: readonly Cursor[]): Promise<HttpResponse>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  /** Closes the connection on the client side. */
  close(): void;
}

/**
 * Opens a stream; fails with the text of the response when the service refuses.
 * @param subscriptions Where the API that it is opened over has its subscriptions.
 * @param headers What that API needs.
 */
export async function openStream(
  serviceUrl: string,
  subscriptionId: string,
  query = '',
  subscriptions = '/subscriptions',
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const connection = new AbortController();
  const response = await fetch(`${serviceUrl}${subscriptions}/${subscriptionId}/events${query}`, {
    signal: connection.signal,
    headers,
  });
  if (response.status !== 200 || response.body === null) {
    throw new Error(`The stream was refused: ${response.status} ${await response.text()}`);
  }
  const streamId = response.headers.get('x-nakadi-streamid') ?? response.headers.get('x-mambu-streamid') ?? '';
  const batches: Batch[] = [];
  const watchers = new Set<() => void>();
  const body = response.body;
  const reading = (async () => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      batches.push(...lines.map((line) => JSON.parse(line) as Batch));
      for (const watcher of watchers) watcher();
    }
  })();
  const ended = reading.catch((error: unknown) => {
    if (!connection.signal.aborted && (error as Error).message !== 'terminated') throw error;
  });
  return {
    streamId,
    batches,
    ended,
    close: () => connection.abort(),
    until: (condition, milliseconds = 10_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(check);
          reject(new Error(`What was waited for did not come; received: ${JSON.stringify(batches).slice(0, 2000)}`));
        }, milliseconds);
        const check = (): void => {
          if (!condition(batches)) return;
          clearTimeout(timer);
          watchers.delete(check);
          resolve();
        };
        watchers.add(check);
        check();
      }),
    commit: (cursors) =>
      call(
        `${serviceUrl}${subscriptions}/${subscriptionId}/cursors`,
        'POST',
        { items: cursors },
        { ...headers, 'X-Nakadi-StreamId': streamId, 'X-Mambu-StreamId': streamId },
      ),
  };
}

/** Every event received, in order of arrival. */
export function eventsOf(batches: readonly Batch[]): Record<string, unknown>[] {
  return batches.flatMap(({ events }) => events ?? []);
}

/** The last cursor of each partition with events: committing them commits everything received. */
export function lastCursors(batches: readonly Batch[]): Cursor[] {
  const last = new Map<string, Cursor>();
  for (const { cursor, events } of batches) {
    if (events !== undefined) last.set(`${cursor.event_type}:${cursor.partition}`, cursor);
  }
  return [...last.values()];
}
