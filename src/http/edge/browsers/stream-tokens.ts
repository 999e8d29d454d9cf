import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock } from '../../../clock.ts';

/** How long a token may be used. Milliseconds. */
export const streamTokenMilliseconds = 60_000;

/** The query parameter that has the token. */
export const streamTokenParameter = 'stream_token';

/** What a token opens: `subscriptions/<id>` or `event-types/<name>`. */
export type StreamSubject = `${StreamKind}/${string}`;

export type StreamKind = 'subscriptions' | 'event-types';

export interface StreamTokensOptions {
  readonly apiKeys: readonly string[];
  readonly clock: Clock;
  /** Claims a name: true for exactly one of all callers on all processes, for some time. */
  readonly claim: (name: string, milliseconds: number) => Promise<boolean>;
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
  readonly #apiKeys: readonly string[];
  readonly #clock: Clock;
  readonly #claim: StreamTokensOptions['claim'];
  /** Derived when the first token is made or presented: many processes never see one. */
  #secrets: Promise<readonly Buffer[]> | undefined;

  constructor({ apiKeys, clock, claim }: StreamTokensOptions) {
    this.#apiKeys = apiKeys;
    this.#clock = clock;
    this.#claim = claim;
  }

  /**
   * A new token.
   * @param keyIndex Of the key that its holder presented. While there are no keys, the token means nothing.
   */
  async issue(
    keyIndex: number,
    subject: StreamSubject,
  ): Promise<{ readonly token: string; readonly expiresAt: number }> {
    const secret = (await this.#derivedSecrets())[keyIndex] ?? randomBytes(codeBytes);
    const expiresAt = this.#clock.now() + streamTokenMilliseconds;
    const text = `${expiresAt.toString(36)}.${randomBytes(randomBytesCount).toString('base64url')}`;
    return { token: `${text}.${codeOf(secret, text, subject).toString('base64url')}`, expiresAt };
  }

  /** Whether the token opens a stream of the subject. It never does again. */
  async redeem(token: string, subject: StreamSubject): Promise<boolean> {
    const [, text = '', end = '', code = ''] = tokenForm.exec(token) ?? [];
    const presented = Buffer.from(code, 'base64url');
    if (presented.length !== codeBytes) return false;
    const left = Number.parseInt(end, 36) - this.#clock.now();
    // A process whose clock is behind sees a later end.
    if (left <= 0 || left > 2 * streamTokenMilliseconds) return false;
    const isKnown = (await this.#derivedSecrets()).reduce(
      (isMatch, secret) => timingSafeEqual(presented, codeOf(secret, text, subject)) || isMatch,
      false,
    );
    return isKnown && this.#claim(`stream-token/${code}`, 2 * streamTokenMilliseconds);
  }

  /** Derives each secret once, however many requests ask at the same time. */
  #derivedSecrets(): Promise<readonly Buffer[]> {
    this.#secrets ??= Promise.all(this.#apiKeys.map(secretOf));
    return this.#secrets;
  }
}

const randomBytesCount = 12;
const codeBytes = 32;
const tokenForm = /^(([0-9a-z]{1,11})\.[\w-]{16})\.([\w-]{43})$/;

/**
 * Tokens stand in URLs, which proxies write down. Deriving the secret takes time on purpose: who finds a token must
 * not be able to try keys quickly.
 */
function secretOf(key: string): Promise<Buffer> {
  return promisify<string, string, number, Buffer>(scrypt)(key, 'lendstream stream tokens', codeBytes);
}

function codeOf(secret: Buffer, text: string, subject: StreamSubject): Buffer {
  return createHmac('sha256', secret).update(`${text} ${subject}`).digest();
}

const streamPath = /^\/(subscriptions|event-types)\/([^/]+)\/events\/?$/;

/** What the path of a stream names; undefined for any other path. */
export function streamSubjectOf(path: string): StreamSubject | undefined {
  const [, kind, name = ''] = streamPath.exec(path) ?? [];
  if (kind !== 'subscriptions' && kind !== 'event-types') return undefined;
  try {
    return `${kind}/${decodeURIComponent(name)}`;
  } catch {
    return undefined;
  }
}
