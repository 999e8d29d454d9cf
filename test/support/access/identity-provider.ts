import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

/** How a token is signed, where it is not as usual. */
export interface Signing {
  readonly kid?: string;
  readonly key?: KeyPair['privateKey'] | Uint8Array;
  readonly algorithm?: string;
}

export const issuer = 'https://login.example';

export const audience = 'lendstream';

/** An identity provider: it signs tokens, and shows its public keys at an address. */
export class IdentityProvider {
  /** How often its keys were asked for. */
  requests = 0;
  /** Whether it does not send its keys. */
  isFailing = false;
  readonly #server: Server;
  /** The pairs whose public keys it shows, by id. */
  readonly #pairs = new Map<string, KeyPair>();

  private constructor() {
    this.#server = createServer((_request, response) => {
      this.requests += 1;
      void this.#shownKeys().then((keys) => {
        response.statusCode = this.isFailing ? 500 : 200;
        response.end(JSON.stringify({ keys }));
      });
    });
  }

  /** One with a key that is named `first`. */
  static async start(): Promise<IdentityProvider> {
    const provider = new IdentityProvider();
    await new Promise<void>((resolve) => {
      provider.#server.listen(0, '127.0.0.1', resolve);
    });
    await provider.addKey('first');
    return provider;
  }

  get keysUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys`;
  }

  async addKey(kid: string): Promise<void> {
    this.#pairs.set(kid, await generateKeyPair('ES256', { extractable: true }));
  }

  async publicKey(kid: string): Promise<object> {
    return exportJWK(this.#pairOf(kid).publicKey);
  }

  /** A token. An undefined claim is left out. @param expiresAt Seconds since the epoch. */
  tokenOf(expiresAt: number, claims: Record<string, unknown> = {}, signing: Signing = {}): Promise<string> {
    const { kid = 'first', key = this.#pairOf(kid).privateKey, algorithm = 'ES256' } = signing;
    const payload: JWTPayload = { iss: issuer, aud: audience, exp: expiresAt, sub: 'alice', ...claims };
    return new SignJWT(payload).setProtectedHeader({ alg: algorithm, kid }).sign(key);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #pairOf(kid: string): KeyPair {
    const pair = this.#pairs.get(kid);
    if (pair === undefined) throw new Error(`The provider has no key ${kid}`);
    return pair;
  }

  #shownKeys(): Promise<object[]> {
    return Promise.all([...this.#pairs.keys()].map(async (kid) => ({ ...(await this.publicKey(kid)), kid })));
  }
}
