import compression from 'compression';
import { Router, type Request, type RequestHandler } from 'express';

/** Smaller responses are never compressed: compressing them takes longer than it saves. Bytes. */
export const compressedBytesMinimum = 4_096;

/** Compresses the response of a route that is mounted before the router below. */
export const compress: RequestHandler = compression({ threshold: compressedBytesMinimum });

/**
 * Compresses the responses to GET with gzip or another encoding that the client accepts. Mount it after the routers of
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

/** Whether a client can read a compressed stream. */
export function acceptsGzip(request: Request): boolean {
  return request.acceptsEncodings('gzip', 'x-gzip') !== false;
}
