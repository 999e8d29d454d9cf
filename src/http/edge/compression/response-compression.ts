import compression from 'compression';
import { Router, type RequestHandler } from 'express';
import { compressWithZstd, prefersZstd } from './zstd-responses.ts';

/** Smaller responses are never compressed: compressing them takes longer than it saves. Bytes. */
export const compressedBytesMinimum = 4_096;

const compressWithOthers = compression({ threshold: compressedBytesMinimum });

/** Compresses the response of a route that is mounted before the router below. */
export const compress: RequestHandler = (request, response, next) => {
  if (!prefersZstd(request)) {
    compressWithOthers(request, response, next);
    return;
  }
  compressWithZstd(request, response, compressedBytesMinimum);
  next();
};

/**
 * Compresses the responses to GET with the encoding that the client prefers. Mount it after the routers of
 * streams, which compress by batch, and of publishing and commits, whose responses are small and must stay cheap.
 */
export function createCompressionRouter(): Router {
  const router = Router();
  router.use((request, response, next) => {
    if (request.method === 'GET') compress(request, response, next);
    else next();
  });
  return router;
}
