import { Router, type Request } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import { LendstreamError } from '../../errors.ts';
import { isBrowserPage } from './browser-pages.ts';
import { withoutLastSlash } from './request-paths.ts';

/** The probes that check whether the process is alive or ready have no key. */
const probes = new Set(['/health', '/ready']);

/**
 * Lets only requests with one of the API keys through; mount it before every other router. A key is sent as
 * `Authorization: Bearer <key>` or in the header `apikey`. With no keys configured every request passes and both
 * headers mean nothing. A refused request gets 401, in the error format of the API that its path belongs to.
 */
export function createAuthentication(apiKeys: readonly string[]): Router {
  const router = Router();
  if (apiKeys.length === 0) return router;
  const digests = apiKeys.map(digestOf);
  router.use((request, response, next) => {
    if (isPublicPath(request.path) || presentedKeys(request).some((key) => isValidKey(key, digests))) {
      next();
      return;
    }
    response.set('WWW-Authenticate', 'Bearer');
    throw new LendstreamError(
      'UNAUTHORIZED',
      'A valid API key is needed: send "Authorization: Bearer <key>" or "apikey".',
    );
  });
  return router;
}

function isPublicPath(path: string): boolean {
  return probes.has(withoutLastSlash(path)) || isBrowserPage(path);
}

function presentedKeys(request: Request): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];
  return [bearer, request.get('apikey')].filter((key) => key !== undefined);
}

/** Compares digests, which all have one length, with every key: the time taken reveals nothing about a key. */
function isValidKey(key: string, digests: readonly Buffer[]): boolean {
  const presented = digestOf(key);
  return digests.reduce((isMatch, digest) => timingSafeEqual(presented, digest) || isMatch, false);
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
