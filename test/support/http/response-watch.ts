import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type * as AnswerContract from './response-contract.ts';
import type * as ApiDescription from './api-description.ts';
import { decompressed } from './decompressed.ts';

/**
 * Compares every response of this process with the description. Differences are written to a file, and the test that
 * caused them fails. root-hooks.ts enables this in every process of a test run.
 */

/** The file to which differences are appended, one per line. */
export const faultsFileVariable = 'ANSWER_FAULTS_FILE';

/** How much of a stream is read: a wrong format shows at once, and tests send many thousands of events. Bytes. */
const streamBytesMaximum = 64 * 1024;

/** Whether this process is the service itself, so that every response has to be described. */
const isService = process.argv[1]?.endsWith('main.js') === true;

const unwatchedServers = new WeakSet<Server>();

/** Excludes a server whose routes only replace those of the service. */
export function leaveUnwatched(server: Server): void {
  unwatchedServers.add(server);
}

const watched = Symbol.for('lendstream.answersAreWatched');

interface RequestStart {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}

export function watchResponses(): void {
  const process = globalThis as { [watched]?: boolean };
  if (process[watched] === true) return;
  process[watched] = true;
  subscribe('http.server.request.start', (message) => {
    const { request, response, server } = message as RequestStart;
    if (!unwatchedServers.has(server)) watch(request, response);
  });
}

function watch(request: IncomingMessage, response: ServerResponse): void {
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
    const sentResponse = { status: response.statusCode, headers: headers(), sent: Buffer.concat(chunks) };
    report({ method: request.method ?? '', url }, sentResponse);
    return Reflect.apply(end, response, parameters) as ServerResponse;
  };
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8';
}

function isStream(headers: OutgoingHttpHeaders): boolean {
  return String(headers['content-type']).startsWith('application/x-json-stream');
}

interface SeenRequest {
  readonly method: string;
  readonly url: string;
}

interface SentResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** The body, or the part of it that was read. */
  readonly sent: Buffer;
}

/** The watcher must not affect the service, not even when it fails. */
function report(request: SeenRequest, sentResponse: SentResponse): void {
  const file = process.env[faultsFileVariable];
  if (file === undefined) return;
  let faults: string[];
  try {
    faults = check(request, sentResponse);
  } catch (error) {
    faults = [`${request.method} ${request.url}: ${error instanceof Error ? error.stack : String(error)}`];
  }
  for (const fault of faults) appendFileSync(file, `${fault.replaceAll('\n', ' ')}\n`);
}

function check({ method, url }: SeenRequest, { status, headers: given, sent }: SentResponse): string[] {
  // Tests have their own servers, with routes that are not those of the service.
  const isOurs = given['x-flow-id'] !== undefined;
  if (!isService && !isOurs) return [];
  const { responseFaults, isDescribed } = contract();
  // An application of a few routers does not know the methods of the others.
  if (!isService && status === 405) return [];
  if (!isService && !isDescribed(url)) return [];
  const headers = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === undefined ? value : String(value)]),
  );
  const body = decompressed(sent, headers['content-encoding']).toString();
  return responseFaults({ method, url, status, headers, body });
}

interface Contract {
  readonly responseFaults: (typeof AnswerContract)['responseFaults'];
  readonly isDescribed: (url: string) => boolean;
}

let loaded: Contract | undefined;

/** Loaded with the first response, because most processes of a test run never send one. */
function contract(): Contract {
  if (loaded === undefined) {
    const require = createRequire(import.meta.url);
    const { responseFaults } = require('./response-contract.js') as typeof AnswerContract;
    const { findPath } = require('./api-description.js') as typeof ApiDescription;
    loaded = { responseFaults, isDescribed: (url) => findPath(url.split('?', 1)[0] ?? '') !== undefined };
  }
  return loaded;
}
