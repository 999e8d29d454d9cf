import compression from 'compression';
import { Router } from 'express';

/** Answers below this are sent as they are, whoever asks: compressing them takes longer than it saves. Bytes. */
export const compressedBytesMinimum = 4_096;

/**
 * Compresses what GET answers, with gzip or what else a client asks for. To stand behind the routers of streams, which
 * compress by batch, and of publishing and commits, whose answers are small and must cost as little as they do.
 */
export function createCompressionRouter(): Router {
  const compress = compression({ threshold: compressedBytesMinimum });
  const router = Router();
  router.use((request, response, next) => {
    if (request.method === 'GET') compress(request, response, next);
    else next();
  });
  return router;
}
