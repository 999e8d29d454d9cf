import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { ApiKeys } from '../../access/api-keys.ts';
import { environmentPrincipal, type Principal } from '../../access/principal.ts';
import type { Clock } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { StreamSubject } from './stream-subject.ts';
import { userTokenPrefix, type ReadToken, type UserStreamTokens } from './user-stream-tokens.ts';

/** How long a token may be used. Milliseconds. */
export const streamTokenMilliseconds = 60_000;

/** The query parameter that has the token. */
export const streamTokenParameter = 'stream_token';

export interface StreamTokensOptions {
  /** Those of the settings. */
  readonly environmentKeys: readonly string[];
  /** Those of the registry. */
  readonly keys: Pick<ApiKeys, 'currentPrincipal' | 'tokenSecretOf'>;
  readonly clock: Clock;
  /** Claims a name: true for exactly one of all callers on all processes, for some time. */
  readonly claim: (name: string, milliseconds: number) => Promise<boolean>;
  /** Gives a claim of this process up. */
  readonly releaseClaim: (name: string) => Promise<void>;
  /** Those of holders of access tokens; absent without an identity provider. */
  readonly users?: UserStreamTokens | undefined;
}

/** A token that no other request can use. */
export interface RedeemedToken {
  readonly holder: Principal;
  /** Lets another request use it, because no stream was opened. */
  giveBack(): Promise<void>;
}

/**
 * Tokens for browsers, whose `EventSource` sends no headers. A holder of a key gets one, and a page puts it into the
 * URL of a stream: of one subscription or event type, once, and within {@link streamTokenMilliseconds}.
 *
 * A token is its end, a random text, and a code that only holders of the same API key can compute. So every process
 * knows it that has the key; a key that is taken away takes its tokens with it; and what an attacker sends costs no
 * request to the coordination store. That store only makes sure that a token is used once.
 */
export class StreamTokens {
  readonly #options: StreamTokensOptions;
  /** Derived when the first token is made or presented: many processes never see one. */
  #secrets: Promise<readonly Buffer[]> | undefined;

  constructor(options: StreamTokensOptions) {
    this.#options = options;
  }

  /**
   * A new token, which opens the stream as its holder.
   * @param holder While the service is open, the token means nothing.
   * @throws UNPROCESSABLE for a holder with a certificate, LOG_UNAVAILABLE
   */
  async issue(
    holder: Principal,
    subject: StreamSubject,
  ): Promise<{ readonly token: string; readonly expiresAt: number }> {
    const expiresAt = this.#options.clock.now() + streamTokenMilliseconds;
    const { credential } = holder;
    if (credential.kind === 'access-token' && this.#options.users !== undefined) {
      return this.#options.users.issue(holder, credential.expiresAt, subject, expiresAt);
    }
    const text = `${expiresAt.toString(36)}.${randomBytes(randomBytesCount).toString('base64url')}`;
    const code = codeOf(await this.#secretOfHolder(holder), text, subject).toString('base64url');
    const name = credential.kind === 'api-key' ? `.${holder.name}` : '';
    return { token: `${text}.${code}${name}`, expiresAt };
  }

  async #secretOfHolder({ credential, name }: Principal): Promise<Buffer> {
    const { keys } = this.#options;
    if (credential.kind === 'none') return randomBytes(codeBytes);
    const secret =
      credential.kind === 'environment-key'
        ? (await this.#environmentSecrets())[credential.index]
        : credential.kind === 'api-key' && keys.tokenSecretOf(name);
    if (secret instanceof Buffer) return secret;
    throw new LendstreamError(
      'UNPROCESSABLE',
      'Stream tokens are for holders of an API key or an access token, not of a certificate.',
    );
  }

  /** Uses a token up that opens a stream of the subject; undefined for any other. It never opens another one. */
  async redeem(token: string, subject: StreamSubject): Promise<RedeemedToken | undefined> {
    const { clock, claim, releaseClaim, users } = this.#options;
    const read = token.startsWith(userTokenPrefix)
      ? await users?.read(token, subject)
      : await this.#read(token, subject);
    if (read === undefined) return undefined;
    const left = read.endsAt - clock.now();
    // A process whose clock is behind sees a later end; behind this one, a claim might end before its token.
    if (left <= 0 || left > claimMilliseconds) return undefined;
    const name = `stream-token/${read.code}`;
    if (!(await claim(name, claimMilliseconds))) return undefined;
    return { holder: read.holder, giveBack: () => releaseClaim(name) };
  }

  async #read(token: string, subject: StreamSubject): Promise<ReadToken | undefined> {
    const [, text = '', end = '', code = '', name] = tokenForm.exec(token) ?? [];
    const presented = Buffer.from(code, 'base64url');
    if (presented.length !== codeBytes) return undefined;
    const isOf = (secret: Buffer): boolean => timingSafeEqual(presented, codeOf(secret, text, subject));
    const holder = name === undefined ? await this.#environmentHolder(isOf) : this.#keyHolder(name, isOf);
    return holder === undefined ? undefined : { holder, code, endsAt: Number.parseInt(end, 36) };
  }

  async #environmentHolder(isOf: (secret: Buffer) => boolean): Promise<Principal | undefined> {
    const index = (await this.#environmentSecrets()).reduce((match, secret, at) => (isOf(secret) ? at : match), -1);
    return index < 0 ? undefined : environmentPrincipal(index);
  }

  #keyHolder(name: string, isOf: (secret: Buffer) => boolean): Principal | undefined {
    const { keys } = this.#options;
    const secret = keys.tokenSecretOf(name);
    return secret !== undefined && isOf(secret) ? keys.currentPrincipal(name) : undefined;
  }

  /** Derives each secret once, however many requests ask at the same time. */
  #environmentSecrets(): Promise<readonly Buffer[]> {
    this.#secrets ??= Promise.all(this.#options.environmentKeys.map(secretOf));
    return this.#secrets;
  }
}

/** How long a used token is known as used: as long as a process whose clock is behind takes it. Milliseconds. */
const claimMilliseconds = 2 * streamTokenMilliseconds;
const randomBytesCount = 12;
const codeBytes = 32;
const tokenForm = /^(([0-9a-z]{1,11})\.[\w-]{16})\.([\w-]{43})(?:\.([a-z0-9._-]+))?$/;

/**
 * Tokens stand in URLs, which proxies write down, and a key of the settings may be a word. Deriving the secret takes
 * time on purpose: keys cannot be tried quickly by means of a token that was found.
 */
function secretOf(key: string): Promise<Buffer> {
  return promisify<string, string, number, Buffer>(scrypt)(key, 'lendstream stream tokens', codeBytes);
}

function codeOf(secret: Buffer, text: string, subject: StreamSubject): Buffer {
  return createHmac('sha256', secret).update(`${text} ${subject}`).digest();
}
