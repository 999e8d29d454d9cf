import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LendstreamError, type ErrorCode } from '../../errors.ts';
import { problemText } from './streaming-errors.ts';

/** How long a client may take to send a whole request; the response may take any time. Milliseconds. */
export const requestMillisecondsMaximum = 120_000;

/** How long a client may take to send the headers. Milliseconds. */
export const headersMillisecondsMaximum = 10_000;

/**
 * How long a connection may stay open without a request. Longer than the 60 s for which load balancers usually keep
 * theirs: the side that keeps it shorter never sends a request on a connection that is just being closed. Milliseconds.
 */
export const idleConnectionMilliseconds = 75_000;

/** How often connections are checked for requests that take too long. Milliseconds. */
export const requestCheckMilliseconds = 5_000;

/** How long a client may take for the handshake of TLS. Milliseconds. */
export const handshakeMillisecondsMaximum = 10_000;

/** Responds with a problem to input that never becomes a request: no HTTP, too long or too slow. */
export function respondToClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: RespondingSocket) => {
    if (isTlsError(error)) {
      if (plainHttpErrors.has(error.code ?? '')) respondInPlainHttp(socket);
      socket.destroy();
      return;
    }
    // In the middle of a response, or with no client left to read one, nothing can be sent.
    if (!socket.writable || error.code === 'ECONNRESET' || socket._httpMessage?.headersSent === true) {
      socket.destroy();
      return;
    }
    socket.end(responseText(problemOf(error)), () => socket.destroy());
  });
}

/** Node keeps the current response and the connection below TLS here, and offers them nowhere else. */
interface RespondingSocket extends Socket {
  readonly _httpMessage?: { readonly headersSent?: boolean } | null;
  readonly _parent?: Socket | null;
}

function isTlsError({ code = '' }: NodeJS.ErrnoException): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');
}

/** How OpenSSL sees the first bytes of a request without TLS, depending on its method. */
const plainHttpErrors = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_HTTPS_PROXY_REQUEST',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

/** Tells a client that speaks plain HTTP to a port with TLS what is wrong. */
function respondInPlainHttp({ _parent: connection }: RespondingSocket): void {
  if (connection?.writable !== true) return;
  const detail = 'This port speaks HTTP over TLS: use an address that begins with https://.';
  connection.end(responseText(new LendstreamError('MALFORMED_REQUEST', detail)));
}

function problemOf(error: NodeJS.ErrnoException): LendstreamError {
  const [code, detail] = problems[error.code ?? ''] ?? [
    'MALFORMED_REQUEST',
    `Not a valid HTTP request: ${error.message}`,
  ];
  return new LendstreamError(code, detail);
}

const problems: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers of the request are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request took too long to arrive.'],
};

function responseText(problem: LendstreamError): string {
  const body = problemText(problem);
  return [
    `HTTP/1.1 ${problem.status} ${problem.title}`,
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
