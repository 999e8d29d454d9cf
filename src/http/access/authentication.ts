import type { Request, RequestHandler, Response } from 'express';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKeys } from '../../access/api-keys.ts';
import type { FailedLogins } from '../../access/limits/failed-logins.ts';
import { environmentPrincipal, type Principal } from '../../access/principal.ts';
import type { AccessTokens } from '../../access/access-tokens.ts';
import { LendstreamError } from '../../errors.ts';
import { textParameter } from '../edge/query-parameters.ts';
import { isBelowApi, isMambuStreamingPath } from '../edge/request-paths.ts';
import { verifiedClient } from '../edge/tls/client-certificates.ts';
import { ConnectionCredentials } from './connection-credentials.ts';
import { becauseOf } from './refusal-reasons.ts';
import { setPrincipal } from './principal-of-request.ts';
import { isPublicPath } from './public-paths.ts';
import { streamSubjectOf } from './stream-subject.ts';
import { streamTokenParameter, type StreamTokens } from './stream-tokens.ts';
import { setStreamToken } from './unopened-streams.ts';

export interface AuthenticationOptions {
  /** Whether requests without credentials pass: then unknown credentials mean nothing. */
  readonly isOpen: boolean;
  /** The keys of the settings, which may do everything. */
  readonly environmentKeys: readonly string[];
  /** The keys of the registry. */
  readonly keys?: Pick<ApiKeys, 'principalOf' | 'principalOfCertificate' | 'isCurrent'>;
  /** Those of an identity provider; absent without one. */
  readonly accessTokens?: AccessTokens | undefined;
  /** Each opens one stream in place of a key. */
  readonly tokens?: StreamTokens;
  /** Slows down and refuses addresses that fail; absent where none is. */
  readonly failedLogins?: FailedLogins;
}

/**
 * Says who sends each request, and lets only those through that it knows; mount it before every other router. A key is
 * sent as `Authorization: Bearer <key>`, in the header `apikey`, or as the password of `Authorization: Basic` with any
 * user name. A refused request gets 401, in the error format of the API that its path belongs to.
 */
export function createAuthentication(options: AuthenticationOptions): RequestHandler {
  const { isOpen, environmentKeys, keys, failedLogins } = options;
  const digests = environmentKeys.map(digestOf);
  const connections = keys === undefined ? undefined : new ConnectionCredentials(keys);
  // One function and no router: every request passes here.
  return (request, response, next) => {
    if (isPublicPath(request.path)) return next();
    const known = connections?.principalOf(request);
    if (known !== undefined) {
      setPrincipal(response, known);
      return next();
    }
    // Only keys of the settings can be guessed; working out the address of a client is dear.
    const isBlocked = digests.length > 0 && failedLogins?.isBlocked(request.ip ?? '') === true;
    const principal = presentedPrincipal(request, isBlocked ? [] : digests, keys);
    if (principal !== undefined) {
      setPrincipal(response, principal);
      // A key of the settings is looked at each time, also one that is in the registry as well.
      if (!isBlocked) connections?.remember(request, principal);
      return next();
    }
    return isOpen ? next() : authenticateLater(options, request, response, next);
  };
}

/** Lets holders of access tokens and of stream tokens through. @throws UNAUTHORIZED, TOO_MANY_REQUESTS */
async function authenticateLater(
  { accessTokens, tokens, failedLogins }: AuthenticationOptions,
  request: Request,
  response: Response,
  next: () => void,
): Promise<void> {
  const user = await userOf(request, accessTokens);
  if (user !== undefined) {
    setPrincipal(response, user);
    next();
    return;
  }
  const address = request.ip ?? '';
  failedLogins?.countRequest(address);
  const subject = request.method === 'GET' ? streamSubjectOf(request.path) : undefined;
  const token = subject === undefined ? undefined : textParameter(request, streamTokenParameter);
  if (tokens !== undefined && subject !== undefined && token !== undefined) {
    const redeemed = await tokens.redeem(token, subject);
    if (redeemed === undefined) {
      await failedLogins?.countFailure(address);
      throw unauthorizedToken(response);
    }
    setPrincipal(response, redeemed.holder);
    setStreamToken(response, redeemed);
    next();
    return;
  }
  // A page asks without a key first, to learn whether it needs one.
  if (presentedKeys(request).length > 0) await failedLogins?.countFailure(address);
  // A browser that is offered Basic asks for a name and a password itself. The admin page asks for the key, and uses
  // no path below /api.
  const isBasicOffered = isBelowApi(request.path) && !isMambuStreamingPath(request.path);
  // RFC 6750, 3: a token that was presented is not valid.
  const bearer = bearerOf(request) === undefined ? 'Bearer' : 'Bearer error="invalid_token"';
  response.set('WWW-Authenticate', isBasicOffered ? `${bearer}, ${basicChallenge}` : bearer);
  throw unauthorized(request);
}

function presentedPrincipal(
  request: Request,
  digests: readonly Buffer[],
  keys: AuthenticationOptions['keys'],
): Principal | undefined {
  for (const key of presentedKeys(request)) {
    const index = indexOfKey(key, digests);
    const principal = index === -1 ? keys?.principalOf(key) : environmentPrincipal(index);
    if (principal !== undefined) return principal;
  }
  const client = verifiedClient(request);
  return client === undefined ? undefined : keys?.principalOfCertificate(client.name, client.expiresAt);
}

async function userOf(request: Request, accessTokens: AccessTokens | undefined): Promise<Principal | undefined> {
  const token = bearerOf(request);
  if (accessTokens === undefined || token === undefined || !accessTokens.looksLikeToken(token)) return undefined;
  return accessTokens.principalOf(token);
}

function unauthorizedToken(response: Response): LendstreamError {
  response.set('WWW-Authenticate', 'Bearer');
  const detail =
    'The stream token has expired, was used already, or is for another stream: POST /stream-tokens creates one.';
  return new LendstreamError('UNAUTHORIZED', detail, {
    details: { isBasicAuthorizationBroken: false, ...becauseOf('stream_token') },
  });
}

const basicChallenge = 'Basic realm="Lendstream", charset="UTF-8"';

function unauthorized(request: Request): LendstreamError {
  const detail =
    'A valid API key is needed: send "Authorization: Bearer <key>", "apikey", or the key as the password of "Basic".';
  const isAnonymous = !isBasic(request) && presentedKeys(request).length === 0;
  const isBroken = isBasic(request) && basicPassword(request) === undefined;
  return new LendstreamError('UNAUTHORIZED', detail, {
    details: {
      isBasicAuthorizationBroken: isBroken,
      ...becauseOf(isAnonymous ? 'no_credentials' : 'invalid_credentials'),
    },
  });
}

function presentedKeys(request: Request): string[] {
  const { authorization, apikey } = request.headers;
  if (authorization === undefined && apikey === undefined) return [];
  return [bearerOf(request), request.get('apikey'), basicPassword(request)].filter((key) => key !== undefined);
}

function bearerOf(request: Request): string | undefined {
  return /^bearer +(\S+) *$/i.exec(request.get('authorization') ?? '')?.[1];
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
  if (digests.length === 0) return -1;
  const presented = digestOf(key);
  return digests.reduce((match, digest, index) => (timingSafeEqual(presented, digest) ? index : match), -1);
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
