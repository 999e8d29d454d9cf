import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** PEM texts, where `fetch` has no place for them. */
export interface TlsTexts {
  /** The authorities that may have signed the certificate of the service, in place of those of Node.js. */
  readonly ca?: string | undefined;
  /** The certificate of this client, and its key. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Statuses of responses that have no body, not even an empty one. */
const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

/** `fetch` for addresses of https, as far as the client uses it, with own certificates. */
export function createTlsFetch({ ca, certificate, key }: TlsTexts): Fetch {
  const agent = new Agent({ keepAlive: true, ca, cert: certificate, key });
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const options = { agent, method, headers: Object.fromEntries(new Headers(headers)), signal: signal ?? undefined };
      const sent = request(url, options, (response) => resolve(responseOf(response)));
      sent.on('error', (error) => reject(signal?.aborted === true ? abortReason(signal) : error));
      sent.end(body ?? undefined);
    });
}

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', headersDistinct } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  if (!bodilessStatuses.has(status)) {
    return new Response(Readable.toWeb(incoming) as ReadableStream, { status, statusText, headers });
  }
  incoming.resume();
  return new Response(null, { status, statusText, headers });
}

function abortReason({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
