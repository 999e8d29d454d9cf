/**
 * How much one principal may use, and how often one address may fail to prove who it is.
 * In: principals, addresses and the time. Out: a refusal with the time after which it makes sense to try again.
 * Start with the limits below. `usage.ts` counts what one principal uses, `failed-logins.ts` what one address does.
 */

/** The limits of one principal, as definitions of keys write them. Each holds for one process, the last two for all. */
export interface KeyLimits {
  readonly requests_per_second: number;
  readonly commits_per_second: number;
  /** Bytes of the bodies of all of its requests in progress. */
  readonly body_bytes_in_flight: number;
  readonly open_streams: number;
  /** Subscriptions of its application. */
  readonly subscriptions: number;
  /** Event types of its application. */
  readonly event_types: number;
}

export type KeyLimitName = keyof KeyLimits;

/** What a limit may be, and what it is for a key that names none. */
export interface LimitBounds {
  readonly fallback: number;
  readonly minimum: number;
  readonly maximum: number;
}

const mebibyte = 1024 * 1024;

export const keyLimitBounds: Readonly<Record<KeyLimitName, LimitBounds>> = {
  requests_per_second: { fallback: 2_000, minimum: 1, maximum: 1_000_000 },
  commits_per_second: { fallback: 1_000, minimum: 1, maximum: 1_000_000 },
  body_bytes_in_flight: {
    fallback: 64 * mebibyte,
    // Two bodies of the largest size: one that is received while the other is stored.
    minimum: 16 * mebibyte,
    maximum: 1024 * mebibyte,
  },
  open_streams: { fallback: 1_000, minimum: 1, maximum: 1_000_000 },
  subscriptions: { fallback: 1_000, minimum: 1, maximum: 1_000_000 },
  event_types: { fallback: 1_000, minimum: 1, maximum: 1_000_000 },
};

export const keyLimitNames = Object.keys(keyLimitBounds) as KeyLimitName[];

/** The limits that a key names itself; the settings have the others. */
export type OwnLimits = Partial<KeyLimits>;

/** No limit at all. */
export const withoutLimits: KeyLimits = limitsOf(() => Infinity);

/** Limits with a value for each name. @param valueOf Infinite for no limit. */
export function limitsOf(valueOf: (name: KeyLimitName) => number): KeyLimits {
  return Object.freeze(Object.fromEntries(keyLimitNames.map((name) => [name, valueOf(name)]))) as unknown as KeyLimits;
}
