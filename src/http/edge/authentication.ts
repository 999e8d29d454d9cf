import { Router, type Request } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import { LendstreamError } from '../../errors.ts';
import { isBrowserPage } from './browser-pages.ts';
import { isBelowApi, withoutLastSlash } from './request-paths.ts';

/** The probes that check whether the process is alive or ready have no key. */
const probes = new Set(['/health', '/ready']);

/**
 * Lets only requests with one of the API keys through; mount it before every other router. A key is sent as
 * `Authorization: Bearer <key>`, in the header `apikey`, or as the password of `Authorization: Basic` with any user
 * name. With no keys configured every request passes and these headers mean nothing. A refused request gets 401, in the
 * error format of the API that its path belongs to.
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
    // A browser that is offered Basic asks for a name and a password itself. The admin page asks for the key, and uses
    // no path below /api.
    response.set('WWW-Authenticate', isBelowApi(request.path) ? `Bearer, ${basicChallenge}` : 'Bearer');
    throw unauthorized(request);
  });
  return router;
}

const basicChallenge = 'Basic realm="Lendstream", charset="UTF-8"';

function unauthorized(request: Request): LendstreamError {
  const detail =
    'A valid API key is needed: send "Authorization: Bearer <key>", "apikey", or the key as the password of "Basic".';
  const isBroken = isBasic(request) && basicPassword(request) === undefined;
  return new LendstreamError('UNAUTHORIZED', detail, { details: { isBasicAuthorizationBroken: isBroken } });
}

function isPublicPath(path: string): boolean {
  return probes.has(withoutLastSlash(path)) || isBrowserPage(path);
}

function presentedKeys(request: Request): string[] {
  const bearer = /^bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];
  return [bearer, request.get('apikey'), basicPassword(request)].filter((key) => key !== undefined);
}

function isBasic(request: Request): boolean {
  return /^basic(?: |$)/i.test(request.get('authorization') ?? '');
}

/** The password of `Authorization: Basic`; undefined without the header, or when it is not a name and a password. */
function basicPassword(request: Request): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(request.get('authorization') ?? '')?.[1];
  if (encoded === undefined) return undefined;
  // A name has no colon (RFC 7617, 2); a key may have some.
  return /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1];
}

/** Compares digests, which all have one length, with every key: the time taken reveals nothing about a key. */
function isValidKey(key: string, digests: readonly Buffer[]): boolean {
  const presented = digestOf(key);
  return digests.reduce((isMatch, digest) => timingSafeEqual(presented, digest) || isMatch, false);
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
