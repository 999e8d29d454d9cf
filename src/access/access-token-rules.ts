/** What tokens of an identity provider have to be like, as the settings say it. */
export interface AccessTokenRules {
  /** The exact `iss`. */
  readonly issuer: string;
  /** What `aud` has to name. */
  readonly audience: string;
  /** Where the provider publishes its public keys. */
  readonly keysUrl: string;
  /** The algorithms of signatures that are accepted. All of them need a public key: a shared secret is none. */
  readonly algorithms: readonly string[];
  /** How far the clocks of provider and service may differ. Seconds. */
  readonly clockSkewSeconds: number;
  /** The claim with roles and permissions: a text with spaces, or a list. */
  readonly scopesClaim: string;
  /** The claim with the application that the holder acts for. */
  readonly applicationClaim: string;
}

/** The algorithms that may be accepted (RFC 7518, 3.1, and RFC 8037): those with a public key. */
export const signatureAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
