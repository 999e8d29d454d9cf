import compression from 'compression';
import { Router, type Express, type RequestHandler, type Response } from 'express';
import { compressWithZstd, prefersZstd } from './zstd-responses.ts';

/** Smaller responses are never compressed: compressing them takes longer than it saves. Bytes. */
export const compressedBytesMinimum = 4_096;

const compressWithOthers = compression({ threshold: compressedBytesMinimum });

/** Responses that are compressed if they turn out to be long enough. */
const prepared = new WeakSet<Response>();

/** Compresses the response of a route that is mounted before the router below. */
export const compress: RequestHandler = (request, response, next) => {
  prepared.add(response);
  if (!prefersZstd(request)) {
    compressWithOthers(request, response, next);
    return;
  }
  compressWithZstd(request, response, compressedBytesMinimum);
  next();
};

/**
 * Compresses the responses to GET with the encoding that the client prefers, also those that are sent in pieces. Mount
 * it after the routers of streams, which compress by batch.
 */
export function createCompressionRouter(): Router {
  const router = Router();
  router.use((request, response, next) => {
    if (request.method === 'GET') compress(request, response, next);
    else next();
  });
  return router;
}

/**
 * Compresses every other response as well that is sent in one piece and is long enough. Only then anything is prepared:
 * the responses of publishing and commits are mostly small, and must stay cheap.
 */
export function compressLongResponses(application: Express): void {
  const send = application.response.send as Send;
  const sendCompressed: Send = function (this: Response, body) {
    if (isLong(body) && this.req.method !== 'HEAD' && !prepared.has(this)) compress(this.req, this, () => {});
    return send.call(this, body);
  };
  application.response.send = sendCompressed as typeof application.response.send;
}

type Send = (this: Response, body?: unknown) => Response;

function isLong(body: unknown): boolean {
  if (typeof body !== 'string') return Buffer.isBuffer(body) && body.length >= compressedBytesMinimum;
  // A character has three bytes at most, or two take four.
  if (body.length * 3 < compressedBytesMinimum) return false;
  return body.length >= compressedBytesMinimum || Buffer.byteLength(body) >= compressedBytesMinimum;
}
