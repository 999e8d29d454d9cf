import { Agent, request as requestOverHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as TlsAgent, request as requestOverTls } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import { decompressed } from './decompressed.ts';

/** A small client of the HTTP API for tests, which returns parsed responses. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The text of the body, also parsed when it is JSON. */
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** Connections that wait for the next request; they keep no process from ending. */
const agent = new Agent({ keepAlive: true });
const tlsAgent = new TlsAgent({ keepAlive: true });

/** As fetch accepts them: compressed responses are those that most clients get. */
const compressions = { 'Accept-Encoding': 'gzip, deflate' };

/** Sends a request and waits for its response. Not by fetch, which takes a millisecond of processor time more. */
export async function call(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const ofContent =
    content === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(content)) };
  const { response } = await send(url, method, { ...compressions, ...ofContent, ...headers }, content);
  const text = await textOf(response);
  const type = response.headers['content-type'] ?? '';
  const json = type.includes('json') && !type.includes('ndjson');
  return {
    status: response.statusCode ?? 0,
    headers: headersOf(response),
    text,
    body: json && text !== '' ? (JSON.parse(text) as Record<string, unknown>) : {},
  };
}

interface Exchange {
  readonly request: ClientRequest;
  /** Its body is still to be read. */
  readonly response: IncomingMessage;
}

function send(url: string, method: string, headers: Record<string, string>, content?: string): Promise<Exchange> {
  const isTls = url.startsWith('https:');
  const requestOver = isTls ? requestOverTls : requestOverHttp;
  return new Promise((resolve, reject) => {
    const request = requestOver(url, { method, headers, agent: isTls ? tlsAgent : agent }, (response) => {
      resolve({ request, response });
    });
    request.on('error', reject);
    request.end(content);
  });
}

function textOf(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', reject);
    response.on('end', () => {
      resolve(decompressed(Buffer.concat(chunks), response.headers['content-encoding']).toString());
    });
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] as string, rawHeaders[index + 1] as string);
  }
  return headers;
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
  const url = `${serviceUrl}${subscriptions}/${subscriptionId}/events${query}`;
  const { request, response } = await send(url, 'GET', { ...compressions, ...headers });
  if (response.statusCode !== 200) {
    throw new Error(`The stream was refused: ${response.statusCode} ${await textOf(response)}`);
  }
  const streamId = String(response.headers['x-nakadi-streamid'] ?? response.headers['x-mambu-streamid'] ?? '');
  const batches: Batch[] = [];
  const watchers = new Set<() => void>();
  const body = streamOf(response);
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
    if (!isConnectionLost(error)) throw error;
  });
  return {
    streamId,
    batches,
    ended,
    close: () => request.destroy(),
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

/** The bytes of a stream, as they were before compression, each as soon as it is there. */
function streamOf(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  const flush = constants.Z_SYNC_FLUSH;
  // Its reader learns of a failure.
  return pipeline(response, createGunzip({ flush, finishFlush: flush }), () => {});
}

/** Whether either side has closed the connection before the end of a response. */
function isConnectionLost(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
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
