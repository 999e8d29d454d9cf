import { Router, type Request } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import { LendstreamError } from '../errors.ts';
import { sendProblem } from './problem.ts';

/** What asks whether the process is alive or ready has no key, nor has a browser before the admin page can ask for one. */
const openPaths = new Set(['/', '/health', '/ready', '/admin', '/docs', '/openapi.json']);

/** The files of the pages. They tell nothing that is not published with the source. */
const openFolders = ['/admin/', '/docs/'];

/**
 * Lets only requests with one of the API keys through, to be put before every other router. A key comes as
 * `Authorization: Bearer <key>` or in the header `apikey`. With no keys configured everything passes and both headers
 * mean nothing. What is refused gets 401 as a problem, whatever the resource.
 */
export function createAuthentication(apiKeys: readonly string[]): Router {
  const router = Router();
  if (apiKeys.length === 0) return router;
  const digests = apiKeys.map(digestOf);
  router.use((request, response, next) => {
    if (isOpen(request.path) || presentedKeys(request).some((key) => isKnown(key, digests))) {
      next();
      return;
    }
    response.set('WWW-Authenticate', 'Bearer');
    sendProblem(
      response,
      new LendstreamError('UNAUTHORIZED', 'A valid API key is needed: send "Authorization: Bearer <key>" or "apikey".'),
    );
  });
  return router;
}

function isOpen(path: string): boolean {
  return openPaths.has(path) || openFolders.some((folder) => path.startsWith(folder));
}

function presentedKeys(request: Request): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];
  return [bearer, request.get('apikey')].filter((key) => key !== undefined);
}

/** Compares digests, which have one length, against every key there is: the time taken tells nothing of a key. */
function isKnown(key: string, digests: readonly Buffer[]): boolean {
  const presented = digestOf(key);
  return digests.reduce((known, digest) => timingSafeEqual(presented, digest) || known, false);
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
