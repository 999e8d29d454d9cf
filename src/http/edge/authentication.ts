import { Router, type Request } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import { LendstreamError } from '../../errors.ts';

/** The pages that a browser shows. A browser has no key until the admin page has asked for one. */
const pages = new Set(['/', '/admin', '/docs', '/openapi.json']);

/** The probes that check whether the process is alive or ready have no key. */
const probes = new Set(['/health', '/ready']);

/** The files of the pages. They contain nothing that is not published with the source. */
const pageFolders = ['/admin/', '/docs/'];

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

/** Whether a path is one of the pages or their files, none of which holds data. */
export function isBrowserPage(path: string): boolean {
  return pages.has(withoutLastSlash(path)) || pageFolders.some((folder) => path.startsWith(folder));
}

/** The path without a slash at its end, which the routers ignore as well. */
function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
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
