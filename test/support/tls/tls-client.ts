import { once } from 'node:events';
import { request, type RequestOptions } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Certified } from './certificates.ts';

/** Requests over TLS, each on a connection of its own. */

export interface TlsRequest {
  /** The authority that must have signed the certificate of the service. */
  readonly ca: string;
  /** The client's own certificate. */
  readonly client?: Certified;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
}

export interface TlsResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request and reads its response to the end. */
export async function callOverTls(url: string, options: TlsRequest): Promise<TlsResponse> {
  const response = await openOverTls(url, options);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** Sends a request; the body of the response is left to read. */
export async function openOverTls(
  url: string,
  { ca, client, method = 'GET', headers = {}, body }: TlsRequest,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    ca,
    agent: false,
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(client === undefined ? {} : { cert: client.certificate, key: client.key }),
  };
  const sent = request(url, options);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

/** Opens a connection and waits for its handshake. */
export async function connectOverTls(url: string, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = begin(url, options);
  await once(socket, 'secureConnect');
  return socket.on('error', () => undefined);
}

/** The session that another connection can resume. */
export async function sessionOverTls(url: string, options: ConnectionOptions): Promise<Buffer> {
  const socket = begin(url, options);
  // With TLS 1.3 it arrives with the first bytes that are read.
  socket.resume();
  const [session] = (await once(socket, 'session')) as [Buffer];
  socket.destroy();
  return session;
}

function begin(url: string, options: ConnectionOptions): TLSSocket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), ...options });
}
