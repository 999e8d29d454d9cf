import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { SeenResponse } from './response-contract.ts';
import { decompressed } from './decompressed.ts';

/**
 * Sees every response of this process, to compare it with the description. root-hooks.ts enables this in every process
 * of a test run.
 */

/** A response as its server sent it. */
export interface WatchedResponse extends SeenResponse {
  /** Whether its process is the service itself, so that the response has to be described. */
  readonly isOfService: boolean;
}

/** How much of a stream is read: a wrong format shows at once, and tests send many thousands of events. Bytes. */
const streamBytesMaximum = 64 * 1024;

const isService = process.argv[1]?.endsWith('main.js') === true;

const unwatchedServers = new WeakSet<Server>();

/** Excludes a server whose routes only replace those of the service. */
export function leaveUnwatched(server: Server): void {
  unwatchedServers.add(server);
}

const isWatched = Symbol.for('lendstream.answersAreWatched');

interface RequestStart {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}

/** @param onResponse is called with each response of this process, before it is sent */
export function watchResponses(onResponse: (response: WatchedResponse) => void): void {
  const process = globalThis as { [isWatched]?: boolean };
  if (process[isWatched] === true) return;
  process[isWatched] = true;
  subscribe('http.server.request.start', (message) => {
    const { request, response, server } = message as RequestStart;
    if (!unwatchedServers.has(server)) watch(request, response, onResponse);
  });
}

function watch(
  request: IncomingMessage,
  response: ServerResponse,
  onResponse: (response: WatchedResponse) => void,
): void {
  // The path as requested, because routers change it.
  const url = request.url ?? '';
  const chunks: Buffer[] = [];
  let size = 0;
  // The headers as sent, because a long response may release them.
  let sentHeaders: OutgoingHttpHeaders | undefined;
  const headers = (): OutgoingHttpHeaders => sentHeaders ?? response.getHeaders();
  const collect = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    if (size > streamBytesMaximum && isStream(headers())) return;
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : Buffer.from(chunk);
    size += bytes.length;
    chunks.push(bytes);
  };
  const writeHead = response.writeHead.bind(response);
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  response.writeHead = (...parameters: unknown[]): ServerResponse => {
    Reflect.apply(writeHead, response, parameters);
    sentHeaders = { ...response.getHeaders() };
    return response;
  };
  response.write = (...parameters: unknown[]): boolean => {
    collect(parameters[0], parameters[1]);
    return Reflect.apply(write, response, parameters) as boolean;
  };
  response.end = (...parameters: unknown[]): ServerResponse => {
    collect(parameters[0], parameters[1]);
    // Tests have their own servers, with routes that are not those of the service.
    if (isService || headers()['x-flow-id'] !== undefined) {
      const { method = '' } = request;
      onResponse(watched(method, url, response.statusCode, headers(), Buffer.concat(chunks)));
    }
    return Reflect.apply(end, response, parameters) as ServerResponse;
  };
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
}

function isStream(headers: OutgoingHttpHeaders): boolean {
  return String(headers['content-type']).startsWith('application/x-json-stream');
}

function watched(
  method: string,
  url: string,
  status: number,
  given: OutgoingHttpHeaders,
  sent: Buffer,
): WatchedResponse {
  const headers = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === undefined ? value : String(value)]),
  );
  return { method, url, status, headers, body: bodyOf(sent, headers['content-encoding']), isOfService: isService };
}

/** The watcher must not affect the service, not even when a body is not what its headers promise. */
function bodyOf(sent: Buffer, encoding: string | undefined): string {
  try {
    return decompressed(sent, encoding).toString();
  } catch (error) {
    return `It cannot be decompressed: ${String(error)}`;
  }
}
