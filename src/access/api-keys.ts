import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { DefinitionIndex } from '../broker/definitions/definition-views.ts';
import type { Registry } from '../broker/definitions/registry.ts';
import { toTimestamp, type Clock } from '../clock.ts';
import { LendstreamError } from '../errors.ts';
import { includesPermission, permissionsOf } from './permissions.ts';
import { restrictedPrincipal, type Principal } from './principal.ts';
import { readApiKey } from './requested-api-key.ts';
import { keyLimitNames, type KeyLimits, type OwnLimits } from './limits/key-limits.ts';

/** A key as it is stored: without its secret, of which only a digest is kept. */
export interface ApiKeyRecord {
  readonly name: string;
  readonly owning_application: string;
  readonly scopes: readonly string[];
  /**
   * The SHA-256 of the key, in hexadecimal digits; null for a holder with a certificate. A key has 256 random bits, so
   * that no digest can be reversed.
   */
  readonly digest: string | null;
  /** The subject of the certificate by which its holder is known in place of a key; null for a key. */
  readonly certificate_subject: string | null;
  readonly created_at: string;
  /** The name of the principal that created it. */
  readonly created_by: string;
  readonly expires_at: string | null;
  /** Absent in keys that name no limits. */
  readonly limits?: OwnLimits;
}

/** A key as the API shows it. */
export type ShownApiKey = Omit<ApiKeyRecord, 'digest' | 'limits'> & {
  readonly limits: OwnLimits;
  readonly last_used_at: string | null;
};

/** The most keys: every process keeps them in memory. */
export const apiKeysMaximum = 1_000;

/** The first characters of every key, by which people and scanners of secrets know it. */
export const apiKeyPrefix = 'lendstream_';

const secretBytes = 32;

/** How exactly the last use of a key is known. Each process stores it at most once in this time. Milliseconds. */
export const lastUseMilliseconds = 3_600_000;

const byDigest: DefinitionIndex<ApiKeyRecord> = {
  kind: 'api-key',
  keysOf: ({ digest }) => (digest === null ? [] : [digest]),
};

const bySubject: DefinitionIndex<ApiKeyRecord> = {
  kind: 'api-key',
  keysOf: ({ certificate_subject: subject }) => (subject === null ? [] : [subject]),
};

export interface ApiKeysOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  /** The limits of a principal, with those of the settings. No key gives more than its creator has. */
  readonly limitsOf: (principal: Principal) => KeyLimits;
  /** Called when the last use of a key could not be stored. */
  readonly onError: (error: unknown) => void;
}

/**
 * The API keys of all processes. They are definitions in the registry, so every process knows a new or revoked key as
 * soon as it has read the record. A key itself is shown once, to its creator.
 */
export class ApiKeys {
  readonly #options: ApiKeysOptions;
  /** Made once for each state of a key. */
  readonly #principals = new WeakMap<ApiKeyRecord, Principal>();
  /** When this process stored the use of a key last, before the record has come back. */
  readonly #storedUses = new Map<string, number>();

  constructor(options: ApiKeysOptions) {
    this.#options = options;
  }

  /**
   * Creates a key.
   * @param body The JSON of the request.
   * @param creator Cannot give what it does not have.
   * @returns the key, which cannot be shown again; null for a holder with a certificate
   * @throws MALFORMED_REQUEST, FieldViolations, PERMISSION_MISSING, CONFLICT when the name is in use, UNPROCESSABLE
   *   when there are {@link apiKeysMaximum}
   */
  async create(
    body: Readonly<Record<string, unknown>>,
    creator: Principal,
  ): Promise<{ readonly key: string | null; readonly shown: ShownApiKey }> {
    const { registry, clock } = this.#options;
    const requested = readApiKey(body, clock.now());
    refuseMoreThanOwn(creator, requested.scopes, requested.owning_application);
    this.#refuseHigherLimits(creator, requested.limits);
    await registry.catchUp();
    const { name } = requested;
    const revision = registry.revise('api-key', name);
    if (registry.get('api-key', name) !== undefined) {
      throw new LendstreamError('CONFLICT', `An API key named "${name}" exists: revoke it, or choose another name.`);
    }
    const { certificate_subject: subject } = requested;
    if (subject !== null && registry.hasBy(bySubject, subject)) {
      throw new LendstreamError('CONFLICT', `Another API key is for the certificate of ${subject}.`);
    }
    if (registry.count('api-key') >= apiKeysMaximum) {
      const detail = `There are at most ${apiKeysMaximum} API keys: revoke those that are not needed.`;
      throw new LendstreamError('UNPROCESSABLE', detail);
    }
    const key = subject === null ? `${apiKeyPrefix}${randomBytes(secretBytes).toString('base64url')}` : null;
    const record: ApiKeyRecord = {
      ...requested,
      digest: key === null ? null : digestOf(key),
      created_at: toTimestamp(clock.now()),
      created_by: creator.name,
    };
    await revision.put(record);
    return { key, shown: this.#shown(record) };
  }

  /** @throws PERMISSION_MISSING for a limit that is higher than that of the creator */
  #refuseHigherLimits(creator: Principal, limits: OwnLimits): void {
    if (creator.isUnrestricted) return;
    const { limitsOf } = this.#options;
    const own = limitsOf(creator);
    const requested = { ...limitsOf({ ...creator, limits: {} }), ...limits };
    const higher = keyLimitNames.find((name) => requested[name] > own[name]);
    if (higher === undefined) return;
    const detail = `A key cannot give a higher limit than its own: "limits" must have ${higher} of at most ${own[higher]}.`;
    throw new LendstreamError('PERMISSION_MISSING', detail);
  }

  /** All keys, by name. */
  async list(): Promise<ShownApiKey[]> {
    const { registry } = this.#options;
    await registry.catchUp();
    return registry
      .list<ApiKeyRecord>('api-key')
      .sort((left, right) => (left.name < right.name ? -1 : 1))
      .map((record) => this.#shown(record));
  }

  /** @throws NOT_FOUND */
  async get(name: string): Promise<ShownApiKey> {
    return this.#shown(existing(name, await this.#options.registry.find<ApiKeyRecord>('api-key', name)));
  }

  /** Revokes a key: no process lets it in any more, and its streams end. @throws NOT_FOUND */
  async revoke(name: string): Promise<void> {
    const { registry } = this.#options;
    await registry.catchUp();
    existing(name, registry.get<ApiKeyRecord>('api-key', name));
    await registry.revise('api-key', name).remove();
    if (registry.get('api-key-use', name) !== undefined) await registry.remove('api-key-use', name);
  }

  /** The principal of a presented key; undefined for an unknown one, and for one that has expired. */
  principalOf(key: string): Principal | undefined {
    if (!key.startsWith(apiKeyPrefix)) return undefined;
    return this.#used(this.#options.registry.listBy(byDigest, digestOf(key))[0]);
  }

  /**
   * The principal of a verified certificate, by its subject; undefined without a key that has not expired.
   * @param expiresAt When the certificate expires, where that is known. Milliseconds since the epoch.
   */
  principalOfCertificate(subject: string, expiresAt?: number): Principal | undefined {
    const principal = this.#used(this.#options.registry.listBy(bySubject, subject)[0]);
    if (principal === undefined || expiresAt === undefined) return principal;
    return { ...principal, credential: { kind: 'certificate', expiresAt } };
  }

  /** The principal of a key as it is now, by the key's name; undefined when it was revoked or has expired. */
  currentPrincipal(name: string): Principal | undefined {
    const record = this.#options.registry.get<ApiKeyRecord>('api-key', name);
    return record === undefined ? undefined : this.#principalOfRecord(record);
  }

  /** Whether the key of a principal is as it was, so that its holder may go on; counts as a use of the key. */
  isCurrent(principal: Principal): boolean {
    if (this.currentPrincipal(principal.name) !== principal) return false;
    this.#noteUse(principal.name);
    return true;
  }

  /** A secret that only holders of a key and the service can know, for tokens in its place. */
  tokenSecretOf(name: string): Buffer | undefined {
    const record = this.#options.registry.get<ApiKeyRecord>('api-key', name);
    const digest = record?.digest ?? null;
    return digest === null ? undefined : createHmac('sha256', digest).update('stream tokens').digest();
  }

  /** When a key expires, in milliseconds since the epoch; undefined when it does not, or is unknown. */
  expiryOf(name: string): number | undefined {
    const expiry = this.#options.registry.get<ApiKeyRecord>('api-key', name)?.expires_at ?? null;
    return expiry === null ? undefined : Date.parse(expiry);
  }

  #used(record: ApiKeyRecord | undefined): Principal | undefined {
    const principal = record === undefined ? undefined : this.#principalOfRecord(record);
    if (principal !== undefined) this.#noteUse(principal.name);
    return principal;
  }

  #principalOfRecord(record: ApiKeyRecord): Principal | undefined {
    if (record.expires_at !== null && Date.parse(record.expires_at) <= this.#options.clock.now()) return undefined;
    const { name, owning_application: application, scopes } = record;
    const known = this.#principals.get(record);
    const principal = known ?? restrictedPrincipal(name, application, scopes, credentialOf(record), record.limits);
    if (known === undefined) this.#principals.set(record, principal);
    return principal;
  }

  /** What was used within {@link lastUseMilliseconds} is not stored again, so a busy key costs one record an hour. */
  #noteUse(name: string): void {
    const { registry, clock, onError } = this.#options;
    const now = clock.now();
    const stored = registry.get<number>('api-key-use', name) ?? 0;
    const own = this.#storedUses.get(name) ?? 0;
    if (now - Math.max(stored, own) < lastUseMilliseconds) return;
    this.#storedUses.set(name, now);
    registry.put('api-key-use', name, now).catch(onError);
  }

  #shown({ digest: _secret, limits = {}, ...record }: ApiKeyRecord): ShownApiKey {
    const usedAt = this.#options.registry.get<number>('api-key-use', record.name);
    // An earlier key of this name may have been used last.
    const isOwnUse = usedAt !== undefined && usedAt >= Date.parse(record.created_at);
    return { ...record, limits, last_used_at: isOwnUse ? toTimestamp(usedAt) : null };
  }
}

function credentialOf({ digest }: ApiKeyRecord): Principal['credential'] {
  return { kind: digest === null ? 'certificate' : 'api-key' };
}

/** @throws PERMISSION_MISSING for a right that the creator itself lacks */
function refuseMoreThanOwn(creator: Principal, scopes: readonly string[], application: string): void {
  if (creator.isUnrestricted) return;
  const missing = [...permissionsOf(scopes)].filter(
    (permission) => !includesPermission(creator.permissions, permission),
  );
  if (missing.length > 0) {
    throw new LendstreamError('PERMISSION_MISSING', `A key cannot give what it lacks: ${missing.join(', ')}.`);
  }
  if (!creator.permissions.has('any-application') && creator.application !== application) {
    throw new LendstreamError('PERMISSION_MISSING', 'Keys of another application need the permission any-application.');
  }
}

function existing(name: string, record: ApiKeyRecord | undefined): ApiKeyRecord {
  if (record === undefined) throw new LendstreamError('NOT_FOUND', `API key "${name}" does not exist.`);
  return record;
}

function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
