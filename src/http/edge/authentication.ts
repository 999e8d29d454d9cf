import { Router, type Request, type Response } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import { LendstreamError } from '../../errors.ts';
import { isBrowserPage } from './browser-pages.ts';
import { textParameter } from './query-parameters.ts';
import { isBelowApi, isMambuStreamingPath, withoutLastSlash } from './request-paths.ts';
import { streamSubjectOf, streamTokenParameter, type StreamTokens } from './browsers/stream-tokens.ts';

/** The probes that check whether the process is alive or ready have no key. */
const probes = new Set(['/health', '/ready']);

/**
 * Lets only requests with one of the API keys through; mount it before every other router. A key is sent as
 * `Authorization: Bearer <key>`, in the header `apikey`, or as the password of `Authorization: Basic` with any user
 * name. With no keys configured every request passes and these headers mean nothing. A refused request gets 401, in the
 * error format of the API that its path belongs to.
 * @param tokens Each opens one stream in place of a key.
 */
export function createAuthentication(apiKeys: readonly string[], tokens?: StreamTokens): Router {
  const router = Router();
  if (apiKeys.length === 0) return router;
  const digests = apiKeys.map(digestOf);
  router.use((request, response, next) => {
    next(isPublicPath(request.path) || isKeyPresented(request, response, digests) ? 'router' : undefined);
  });
  router.use(async (request, response, next) => {
    const subject = request.method === 'GET' ? streamSubjectOf(request.path) : undefined;
    const token = subject === undefined ? undefined : textParameter(request, streamTokenParameter);
    if (tokens !== undefined && subject !== undefined && token !== undefined) {
      if (!(await tokens.redeem(token, subject))) throw unauthorizedToken(response);
      next();
      return;
    }
    // A browser that is offered Basic asks for a name and a password itself. The admin page asks for the key, and uses
    // no path below /api.
    const isBasicOffered = isBelowApi(request.path) && !isMambuStreamingPath(request.path);
    response.set('WWW-Authenticate', isBasicOffered ? `Bearer, ${basicChallenge}` : 'Bearer');
    throw unauthorized(request);
  });
  return router;
}

/** Where the response keeps which key was presented. */
const keyIndexName = 'apiKeyIndex';

/** Which of the keys the request presented; the first while there are none. */
export function presentedKeyIndex(response: Response): number {
  const index: unknown = response.locals[keyIndexName];
  return typeof index === 'number' ? index : 0;
}

function isKeyPresented(request: Request, response: Response, digests: readonly Buffer[]): boolean {
  for (const key of presentedKeys(request)) {
    const index = indexOfKey(key, digests);
    if (index === -1) continue;
    response.locals[keyIndexName] = index;
    return true;
  }
  return false;
}

function unauthorizedToken(response: Response): LendstreamError {
  response.set('WWW-Authenticate', 'Bearer');
  const detail =
    'The stream token has expired, was used already, or is for another stream: POST /stream-tokens creates one.';
  return new LendstreamError('UNAUTHORIZED', detail, { details: { isBasicAuthorizationBroken: false } });
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

/**
 * The index of a key, or -1. Compares digests, which all have one length, with every key: the time taken reveals
 * nothing about a key.
 */
function indexOfKey(key: string, digests: readonly Buffer[]): number {
  const presented = digestOf(key);
  return digests.reduce((match, digest, index) => (timingSafeEqual(presented, digest) ? index : match), -1);
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
