import type { Request, Response } from 'express';

/** How long a browser may remember the response to a preflight. Seconds. */
export const preflightSecondsMaximum = 600;

const methods = 'GET, POST, PUT, PATCH, DELETE';

/** The headers of requests that a browser does not allow by itself. */
const requestHeaders = [
  'Authorization',
  'apikey',
  'Content-Type',
  'Content-Encoding',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Prefer',
  'traceparent',
  'tracestate',
  'X-Flow-Id',
  'X-Mambu-StreamId',
  'X-Nakadi-Cursors',
  'X-Nakadi-StreamId',
].join(', ');

/** The headers of responses that a browser does not show to a page by itself. */
const responseHeaders = [
  'Allow',
  'Content-Location',
  'ETag',
  'Idempotent-Replayed',
  'Items-Limit',
  'Items-Next-Cursor',
  'Items-Offset',
  'Items-Total',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'WWW-Authenticate',
  'X-Flow-Id',
  'X-Mambu-StreamId',
  'X-Nakadi-StreamId',
].join(', ');

/** Lets pages of other origins read responses (CORS). Credentials of the browser, such as cookies, stay excluded. */
export interface CrossOriginAccess {
  /** Adds the headers that let the page of the request read the response, if its origin is listed. */
  readonly grant: (request: Request, response: Response) => void;
  /**
   * Responds to the question of a browser whether a page may send a request; before the request has a key, and only if
   * its origin is listed.
   * @returns whether the request was one
   */
  readonly answerPreflight: (request: Request, response: Response) => boolean;
}

/** @param origins Exact origins, as a browser writes them. */
export function createCrossOriginAccess(origins: readonly string[]): CrossOriginAccess {
  const listed = new Set(origins);
  const isListed = ({ headers }: Request): boolean => headers.origin !== undefined && listed.has(headers.origin);
  return {
    grant(request, response) {
      // For every response: a cache must not give one page the response for another.
      response.vary('Origin');
      if (!isListed(request)) return;
      response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? '');
      response.setHeader('Access-Control-Expose-Headers', responseHeaders);
    },
    answerPreflight(request, response) {
      const isPreflight =
        request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
      if (!isPreflight || !isListed(request)) return false;
      response.setHeader('Access-Control-Allow-Methods', methods);
      response.setHeader('Access-Control-Allow-Headers', requestHeaders);
      response.setHeader('Access-Control-Max-Age', String(preflightSecondsMaximum));
      response.removeHeader('Access-Control-Expose-Headers');
      response.status(204).end();
      return true;
    },
  };
}
