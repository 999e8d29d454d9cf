import { createHash } from 'node:crypto';
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type RemoteJWKSet } from 'jose';
import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { AccessTokenRules } from './access-token-rules.ts';
import { isPermission, isRole } from './permissions.ts';
import { restrictedPrincipal, userName, type Principal } from './principal.ts';

/** The longest token that is looked at. Characters. */
export const accessTokenCharactersMaximum = 8_192;

/** The most verified tokens that are remembered, until they expire. */
const verifiedMaximum = 1_000;

/** How long the provider may take to send its keys. Milliseconds. */
const keysMilliseconds = 5_000;

/** How long its keys are used before they are asked for again. Milliseconds. */
export const keysAgeMilliseconds = 600_000;

/** How soon after they were asked for an unknown key makes them be asked for again. Milliseconds. */
const keysCooldownMilliseconds = 30_000;

/** Three parts in base64url: nothing else is taken for a token. */
const tokenForm = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Verifies the access tokens of an identity provider (OAuth 2 bearer tokens, RFC 6750, as JWT, RFC 9068). The public
 * keys are fetched when they are first needed, and again when they are old or a token names an unknown one.
 */
export class AccessTokens {
  readonly #rules: AccessTokenRules;
  readonly #clock: Clock;
  readonly #keys: RemoteJWKSet;
  /** Principals of tokens that were verified, by a digest of the token. */
  readonly #verified = new BoundedMap<string, Principal>(verifiedMaximum);

  constructor(rules: AccessTokenRules, clock: Clock) {
    this.#rules = rules;
    this.#clock = clock;
    this.#keys = createRemoteJWKSet(new URL(rules.keysUrl), {
      timeoutDuration: keysMilliseconds,
      cooldownDuration: keysCooldownMilliseconds,
      cacheMaxAge: keysAgeMilliseconds,
    });
  }

  /** Whether a credential has the form of a token, and not that of a key. */
  looksLikeToken(credential: string): boolean {
    return credential.length <= accessTokenCharactersMaximum && tokenForm.test(credential);
  }

  /**
   * The principal of a token; undefined for one that is not valid.
   * @throws IDENTITY_PROVIDER_UNAVAILABLE when the provider does not send its keys
   */
  async principalOf(token: string): Promise<Principal | undefined> {
    const digest = createHash('sha256').update(token).digest('base64url');
    const known = this.#verified.get(digest);
    if (known !== undefined) return isCurrent(known, this.#clock.now()) ? known : undefined;
    const principal = await this.#verify(token);
    if (principal !== undefined) this.#verified.set(digest, principal);
    return principal;
  }

  async #verify(token: string): Promise<Principal | undefined> {
    const { issuer, audience, algorithms, clockSkewSeconds } = this.#rules;
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        issuer,
        audience,
        algorithms: [...algorithms],
        clockTolerance: clockSkewSeconds,
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ['exp', 'sub'],
      });
      return this.#principalOfClaims(payload);
    } catch (error) {
      if (!isProviderFault(error)) return undefined;
      const detail = `The identity provider did not send its keys: ${describeError(error)}`;
      throw new LendstreamError('IDENTITY_PROVIDER_UNAVAILABLE', detail, { cause: error });
    }
  }

  #principalOfClaims(payload: JWTPayload): Principal | undefined {
    const { scopesClaim, applicationClaim, clockSkewSeconds } = this.#rules;
    const { sub = '', exp = 0 } = payload;
    if (!subjectForm.test(sub)) return undefined;
    const application = payload[applicationClaim];
    const scopes = scopesIn(payload[scopesClaim]).filter((scope) => isRole(scope) || isPermission(scope));
    const expiresAt = (exp + clockSkewSeconds) * 1_000;
    return restrictedPrincipal(userName(sub), typeof application === 'string' ? application : null, scopes, {
      kind: 'access-token',
      expiresAt,
    });
  }
}

/** The form of a subject: it stands in `published_by`, in the audit and in logs. */
const subjectForm = /^[!-~]{1,255}$/;

function scopesIn(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((scope) => scope !== '');
  return Array.isArray(claim) ? claim.filter((scope) => typeof scope === 'string') : [];
}

function isCurrent({ credential }: Principal, now: number): boolean {
  return credential.kind === 'access-token' && credential.expiresAt > now;
}

/** Everything but what the token itself has wrong. */
function isProviderFault(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (!(error instanceof errors.JOSEError)) return true;
  return error.code === 'ERR_JOSE_GENERIC';
}
