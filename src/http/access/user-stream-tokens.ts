import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { restrictedPrincipal, type Principal } from '../../access/principal.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { isLendstreamError } from '../../errors.ts';
import type { StreamSubject } from './stream-subject.ts';

/** How stream tokens of users begin, by which they differ from those of keys. */
export const userTokenPrefix = 'user.';

/** What a stream token of a user says. Times are milliseconds since the epoch. */
type Contents = readonly [
  endsAt: number,
  accessEndsAt: number,
  name: string,
  application: string | null,
  scopes: readonly string[],
];

/** A token that opens a stream, before it is known whether it was used. */
export interface ReadToken {
  readonly holder: Principal;
  /** No other token has it. */
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

const secretBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
const secretName = 'users';

/**
 * Stream tokens of users, whom no process knows but by their access tokens. So a token has everything in it that its
 * holder may do, encrypted (AES-256-GCM) by a secret that all processes share: it can be neither read nor changed where
 * URLs are written down. The secret lies in the registry, as the digests of keys do, from the first token on.
 */
export class UserStreamTokens {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /**
   * A new token, which ends with the access token of its holder at the latest.
   * @param endsAt Milliseconds since the epoch, as is what is returned.
   * @throws LOG_UNAVAILABLE when the secret can neither be read nor stored
   */
  async issue(
    { name, application, scopes }: Principal,
    accessEndsAt: number,
    subject: StreamSubject,
    endsAt: number,
  ): Promise<{ readonly token: string; readonly expiresAt: number }> {
    const expiresAt = Math.min(endsAt, accessEndsAt);
    const contents: Contents = [expiresAt, accessEndsAt, name, application, scopes];
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', await this.#secret(), iv).setAAD(Buffer.from(subject));
    const encrypted = [cipher.update(JSON.stringify(contents)), cipher.final()];
    const token = Buffer.concat([iv, cipher.getAuthTag(), ...encrypted]).toString('base64url');
    return { token: `${userTokenPrefix}${token}`, expiresAt };
  }

  /** What a token of this subject says, also one that has ended; undefined for any other. */
  async read(token: string, subject: StreamSubject): Promise<ReadToken | undefined> {
    const bytes = Buffer.from(token.slice(userTokenPrefix.length), 'base64url');
    const secret = await this.#registry.find<string>('stream-token-secret', secretName);
    if (secret === undefined || bytes.length <= ivBytes + tagBytes) return undefined;
    const code = bytes.subarray(0, ivBytes + tagBytes);
    const contents = decrypted(Buffer.from(secret, 'base64url'), bytes, subject);
    if (contents === undefined) return undefined;
    const [endsAt, expiresAt, name, application, scopes] = contents;
    const holder = restrictedPrincipal(name, application, scopes, { kind: 'access-token', expiresAt });
    return { holder, code: code.toString('base64url'), endsAt };
  }

  async #secret(): Promise<Buffer> {
    const known = await this.#registry.find<string>('stream-token-secret', secretName);
    return Buffer.from(known ?? (await this.#newSecret()), 'base64url');
  }

  /** The secret of this process, or the one that another process stored at the same time. */
  async #newSecret(): Promise<string> {
    const own = randomBytes(secretBytes).toString('base64url');
    try {
      await this.#registry.revise('stream-token-secret', secretName).put(own);
    } catch (error) {
      if (!isLendstreamError(error, 'CONFLICT')) throw error;
    }
    return this.#registry.get<string>('stream-token-secret', secretName) ?? own;
  }
}

function decrypted(secret: Buffer, bytes: Buffer, subject: StreamSubject): Contents | undefined {
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(subject)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
    return JSON.parse(text.toString()) as Contents;
  } catch {
    return undefined;
  }
}
