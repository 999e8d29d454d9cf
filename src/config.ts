import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { LendstreamError, describeError } from './errors.ts';
import { signatureAlgorithms, type AccessTokenRules } from './access/access-token-rules.ts';
import type { LogLevel } from './logger.ts';
import { addressRequestsBounds, failedLoginsBounds, type AddressLimits } from './access/limits/failed-logins.ts';
import { keyLimitBounds, type KeyLimits, type LimitBounds } from './access/limits/key-limits.ts';
import {
  deduplicatedIdsMaximumDefault,
  defaultStreamingLimits,
  type StreamingLimits,
} from './broker/definitions/streaming-limits.ts';

/** Every setting, its default and its unit. Read once from the environment, checked whole, frozen. */
export interface Config {
  /** HOST: the address to listen on. Any address but a loopback one needs API_KEYS. */
  readonly host: string;
  /** PORT: 0 picks a free one. */
  readonly port: number;
  /** DATA_DIR: where the embedded store keeps its files. Absolute after reading. */
  readonly dataFolder: string;
  /** ROLES: `serve` answers HTTP, `work` decides loan commands. */
  readonly roles: { readonly serve: boolean; readonly work: boolean };
  /** LOG_LEVEL */
  readonly logLevel: LogLevel;
  /** LOG_FORMAT: `auto` is text for people where standard error is a terminal, and JSON elsewhere. */
  readonly logFormat: LogFormat;
  /** LENDING_PARTITIONS: partitions of loan commands, loans and lending events. Fixed at the first start. */
  readonly lendingPartitions: number;
  /** RETENTION_HOURS: how long events of the lending types are held. */
  readonly retentionMilliseconds: number;
  /** AUDIT_RETENTION_DAYS: how long records of the audit are held. */
  readonly auditRetentionMilliseconds: number;
  /** IDEMPOTENCY_HOURS: how long a command that posted no transaction is recognised by its id or Idempotency-Key. */
  readonly idempotencyMilliseconds: number;
  /** ERASURE_MINUTES: how soon after an erasure of personal data no file of the service has it any more. */
  readonly erasureMilliseconds: number;
  /**
   * END_OF_DAY_SCHEDULE: a cron expression, by which business days are closed in the zone of the organization; null for
   * off. Default: five minutes past midnight on one machine, off on a cluster.
   */
  readonly endOfDaySchedule: string | null;
  /**
   * API_KEYS, and the file that API_KEYS_FILE names: keys that may do everything, for the administrators who create the
   * keys of others.
   */
  readonly apiKeys: readonly string[];
  /** The identity provider whose access tokens are accepted beside keys, see {@link readAccessTokenRules}. */
  readonly accessTokens?: AccessTokenRules;
  /**
   * AUTHENTICATION: whether requests without credentials pass. `open` needs a loopback address. Default: open on one
   * without API_KEYS.
   */
  readonly isOpen: boolean;
  /** The limits of a key that names none itself; each has a setting of its own, see {@link readLimits}. */
  readonly keyLimits: KeyLimits;
  /** FAILED_LOGINS_PER_MINUTE and ADDRESS_REQUESTS_PER_SECOND */
  readonly addressLimits: AddressLimits;
  /** ALLOWED_HOSTS: names of the service in addition to those of the loopback address, such as a proxy's. */
  readonly allowedHosts: readonly string[];
  /** The limits of definitions and streams; each has a setting of its own, see {@link readStreamingLimits}. */
  readonly streaming: StreamingLimits;
  /** DEDUPLICATED_IDS_MAXIMUM: the most ids of one event type that stores repeated events once, within its window. */
  readonly deduplicatedIdsMaximum: number;
  /** METRICS_LAGS_MAXIMUM: the most lags, of a subscription and an event type, that have a series in the metrics. */
  readonly lagSeriesMaximum: number;
  /** CORS_ORIGINS: exact origins, such as `https://app.example`, whose pages may use the service from a browser. */
  readonly corsOrigins: readonly string[];
  /** TLS_CERTIFICATE and TLS_KEY: the service answers over TLS alone; absent for plain HTTP. */
  readonly tls?: ServerTlsConfig;
  /**
   * TRUSTED_PROXIES: addresses, or networks such as `10.0.0.0/8`, of the proxies whose headers about their clients
   * count.
   */
  readonly trustedProxies: readonly string[];
  /** CLIENT_CERTIFICATE_HEADER: in lower case, the header in which such a proxy names the subject of a certificate. */
  readonly clientCertificateHeader?: string;
  /** Where the cluster is; absent on one machine, where the embedded store stands in for Kafka and Redis. */
  readonly cluster?: ClusterConfig;
}

/** Paths of PEM files; they are read again when they change. */
export interface ServerTlsConfig {
  /** TLS_CERTIFICATE: the certificate, and after it those of intermediate authorities. */
  readonly certificate: string;
  /** TLS_KEY: its key. */
  readonly key: string;
  /** TLS_CLIENT_CA: authorities of the clients' certificates; without it none are asked for. */
  readonly clientCa?: string;
  /** TLS_CLIENT_CERTIFICATES: `required`, or `optional` where some clients have none. */
  readonly isClientCertificateRequired: boolean;
}

/** Kafka and Redis. KAFKA_BROKERS and REDIS_URL are given together or not at all. */
export interface ClusterConfig {
  /** KAFKA_BROKERS: comma-separated `host:port` of some of the brokers; the others are found through them. */
  readonly kafkaBrokers: readonly string[];
  /** KAFKA_CLIENT_ID: what the brokers' logs and quotas call this service. */
  readonly kafkaClientId: string;
  /**
   * KAFKA_TLS=true, with KAFKA_TLS_CA, KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY naming PEM files where they are needed.
   */
  readonly kafkaTls?: TlsConfig;
  /** KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD */
  readonly kafkaSasl?: SaslConfig;
  /** KAFKA_REPLICATION_FACTOR of topics this service creates; -1 leaves it to the brokers. */
  readonly kafkaReplicationFactor: number;
  /** KAFKA_MIN_INSYNC_REPLICAS of topics this service creates; 0 leaves it to the brokers. */
  readonly kafkaMinimumInSyncReplicas: number;
  /** REDIS_URL: `redis://` or `rediss://`; several, comma-separated, are the nodes of a Redis Cluster. */
  readonly redisUrl: string;
  /** REDIS_TLS_CA, REDIS_TLS_CERTIFICATE and REDIS_TLS_KEY naming PEM files, where `rediss://` needs them. */
  readonly redisTls?: TlsConfig;
}

/** PEM texts. */
export interface TlsConfig {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
}

export interface SaslConfig {
  readonly mechanism: SaslMechanism;
  readonly username: string;
  readonly password: string;
}

export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';

const saslMechanisms: readonly SaslMechanism[] = ['plain', 'scram-sha-256', 'scram-sha-512'];

export type LogFormat = (typeof logFormats)[number];

const logFormats = ['auto', 'json', 'text'] as const;

const logLevels: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** The shortest key that is accepted, so that none can be guessed. Characters. */
export const apiKeyCharactersMinimum = 16;

/** The longest key: a longer header is refused before any code reads it. Characters. */
export const apiKeyCharactersMaximum = 1024;

const loopbackHosts = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * Reads the settings.
 * @throws CONFIGURATION_INVALID naming every setting that is wrong, not only the first
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const text = (name: string, fallback: string): string => {
    const value = environment[name];
    return value === undefined || value === '' ? fallback : value;
  };
  const integer = (name: string, fallback: number, minimum: number, maximum: number): number => {
    const value = text(name, String(fallback));
    const number = Number(value);
    if (Number.isInteger(number) && number >= minimum && number <= maximum) return number;
    problems.push(`${name} must be a whole number from ${minimum} to ${maximum}, but is "${value}"`);
    return fallback;
  };

  const host = text('HOST', '127.0.0.1');
  const logLevel = text('LOG_LEVEL', 'info') as LogLevel;
  if (!logLevels.includes(logLevel))
    problems.push(`LOG_LEVEL must be one of ${logLevels.join(', ')}, but is "${logLevel}"`);
  const logFormat = text('LOG_FORMAT', 'auto') as LogFormat;
  if (!logFormats.includes(logFormat))
    problems.push(`LOG_FORMAT must be one of ${logFormats.join(', ')}, but is "${logFormat}"`);
  const roles = text('ROLES', 'serve,work').split(',');
  for (const role of roles) {
    if (role !== 'serve' && role !== 'work') problems.push(`ROLES may name serve and work, but has "${role}"`);
  }
  const apiKeys = readApiKeys({ text, integer, problems });
  const allowedHosts = listOf(text('ALLOWED_HOSTS', ''));
  for (const allowed of allowedHosts) {
    if (!/^(\[[\d.:a-f]+\]|[\w.-]+)(:\d{1,5})?$/i.test(allowed)) {
      problems.push(`ALLOWED_HOSTS may name hosts, each with or without a port, but has "${allowed}"`);
    }
  }
  const corsOrigins = listOf(text('CORS_ORIGINS', ''));
  for (const origin of corsOrigins) {
    if (!isOrigin(origin)) {
      problems.push(`CORS_ORIGINS may name exact origins, such as https://app.example, but has "${origin}"`);
    }
  }
  const accessTokens = readAccessTokenRules({ text, integer, problems });
  const isOpen = readIsOpen({ text, integer, problems }, host, apiKeys.length > 0 || accessTokens !== undefined);
  const cluster = readCluster({ text, integer, problems });
  const tls = readServerTls({ text, integer, problems });
  const proxies = readProxies({ text, integer, problems });
  const schedule = text('END_OF_DAY_SCHEDULE', cluster === undefined ? '5 0 * * *' : 'off');
  const config: Config = Object.freeze({
    host,
    port: integer('PORT', 8080, 0, 65_535),
    dataFolder: resolve(text('DATA_DIR', 'data')),
    roles: { serve: roles.includes('serve'), work: roles.includes('work') },
    logLevel,
    logFormat,
    lendingPartitions: integer('LENDING_PARTITIONS', 4, 1, 100),
    retentionMilliseconds: integer('RETENTION_HOURS', 96, 1, 100_000) * 3_600_000,
    auditRetentionMilliseconds: integer('AUDIT_RETENTION_DAYS', 3_653, 1, 36_525) * 24 * 3_600_000,
    idempotencyMilliseconds: integer('IDEMPOTENCY_HOURS', 24, 1, 8_760) * 3_600_000,
    erasureMilliseconds: integer('ERASURE_MINUTES', 1_440, 5, 525_600) * 60_000,
    endOfDaySchedule: schedule === 'off' ? null : schedule,
    apiKeys,
    isOpen,
    ...(accessTokens === undefined ? {} : { accessTokens }),
    ...readLimits({ text, integer, problems }, isOpen),
    allowedHosts,
    streaming: readStreamingLimits({ text, integer, problems }),
    deduplicatedIdsMaximum: integer('DEDUPLICATED_IDS_MAXIMUM', deduplicatedIdsMaximumDefault, 1, 10_000_000),
    lagSeriesMaximum: integer('METRICS_LAGS_MAXIMUM', 10_000, 0, 100_000),
    corsOrigins,
    ...proxies,
    ...(tls === undefined ? {} : { tls }),
    ...(cluster === undefined ? {} : { cluster }),
  });
  if (problems.length > 0) throw new LendstreamError('CONFIGURATION_INVALID', problems.join('; '));
  return config;
}

interface SettingsReader {
  readonly text: (name: string, fallback: string) => string;
  readonly integer: (name: string, fallback: number, minimum: number, maximum: number) => number;
  readonly problems: string[];
}

const hourMilliseconds = 3_600_000;

/**
 * EVENT_TYPE_PARTITIONS_MAXIMUM, SUBSCRIPTION_PARTITIONS_MAXIMUM, EVENT_RETENTION_HOURS_MAXIMUM,
 * COMMIT_TIMEOUT_SECONDS_MAXIMUM, FLUSH_SECONDS_MINIMUM and FLUSH_SECONDS_MAXIMUM. What was defined under a higher
 * limit stays as it is.
 */
function readStreamingLimits({ integer, problems }: SettingsReader): StreamingLimits {
  const limits = defaultStreamingLimits;
  const read: StreamingLimits = {
    partitionsPerEventType: integer('EVENT_TYPE_PARTITIONS_MAXIMUM', limits.partitionsPerEventType, 1, 1_000),
    partitionsPerSubscription: integer('SUBSCRIPTION_PARTITIONS_MAXIMUM', limits.partitionsPerSubscription, 1, 1_000),
    retentionMilliseconds:
      integer('EVENT_RETENTION_HOURS_MAXIMUM', limits.retentionMilliseconds / hourMilliseconds, 3, 100_000) *
      hourMilliseconds,
    commitTimeoutSeconds: integer('COMMIT_TIMEOUT_SECONDS_MAXIMUM', limits.commitTimeoutSeconds, 1, 3_600),
    flushSecondsMinimum: integer('FLUSH_SECONDS_MINIMUM', limits.flushSecondsMinimum, 1, 3_600),
    flushSecondsMaximum: integer('FLUSH_SECONDS_MAXIMUM', limits.flushSecondsMaximum, 1, limits.flushSecondsMaximum),
  };
  if (read.flushSecondsMinimum > read.flushSecondsMaximum) {
    problems.push('FLUSH_SECONDS_MINIMUM must not be more than FLUSH_SECONDS_MAXIMUM');
  }
  return Object.freeze(read);
}

/** Settings of limits: 0 for none. A service that is open has none by default, as only its own machine reaches it. */
function readLimits({ text, integer }: SettingsReader, isOpen: boolean): Pick<Config, 'keyLimits' | 'addressLimits'> {
  const limit = (name: string, { fallback, minimum, maximum }: LimitBounds): number =>
    text(name, isOpen ? '0' : String(fallback)) === '0' ? Infinity : integer(name, fallback, minimum, maximum);
  const bounds = keyLimitBounds;
  return {
    keyLimits: Object.freeze({
      requests_per_second: limit('KEY_REQUESTS_PER_SECOND', bounds.requests_per_second),
      commits_per_second: limit('KEY_COMMITS_PER_SECOND', bounds.commits_per_second),
      body_bytes_in_flight: limit('KEY_BODY_BYTES_IN_FLIGHT', bounds.body_bytes_in_flight),
      open_streams: limit('KEY_OPEN_STREAMS', bounds.open_streams),
      subscriptions: limit('KEY_SUBSCRIPTIONS', bounds.subscriptions),
      event_types: limit('KEY_EVENT_TYPES', bounds.event_types),
    }),
    addressLimits: Object.freeze({
      failedLoginsPerMinute: limit('FAILED_LOGINS_PER_MINUTE', failedLoginsBounds),
      requestsPerSecond: limit('ADDRESS_REQUESTS_PER_SECOND', addressRequestsBounds),
    }),
  };
}

/** The values of a setting that has several, without the white space around them. */
function listOf(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** Whether a text is an origin as a browser writes it: no path, no default port, lower case. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/**
 * OAUTH_ISSUER, OAUTH_AUDIENCE and OAUTH_JWKS_URL, which are given together or not at all; OAUTH_ALGORITHMS,
 * OAUTH_CLOCK_SKEW_SECONDS, OAUTH_SCOPES_CLAIM and OAUTH_APPLICATION_CLAIM.
 */
function readAccessTokenRules({ text, integer, problems }: SettingsReader): AccessTokenRules | undefined {
  const issuer = text('OAUTH_ISSUER', '');
  const audience = text('OAUTH_AUDIENCE', '');
  const keysUrl = text('OAUTH_JWKS_URL', '');
  const needed = { OAUTH_ISSUER: issuer, OAUTH_AUDIENCE: audience, OAUTH_JWKS_URL: keysUrl };
  const algorithms = listOf(text('OAUTH_ALGORITHMS', 'RS256,ES256'));
  const clockSkewSeconds = integer('OAUTH_CLOCK_SKEW_SECONDS', 30, 0, 300);
  const missing = Object.entries(needed).flatMap(([name, value]) => (value === '' ? [name] : []));
  if (missing.length === Object.keys(needed).length) return undefined;
  if (missing.length > 0) problems.push(`Access tokens need ${missing.join(' and ')} as well`);
  if (keysUrl !== '' && !isProtectedUrl(keysUrl)) {
    problems.push(`OAUTH_JWKS_URL must begin with https://, or name a loopback address, but is "${keysUrl}"`);
  }
  const known: readonly string[] = signatureAlgorithms;
  for (const algorithm of algorithms) {
    if (known.includes(algorithm)) continue;
    problems.push(`OAUTH_ALGORITHMS may name ${signatureAlgorithms.join(', ')}, but has "${algorithm}"`);
  }
  return {
    issuer,
    audience,
    keysUrl,
    algorithms,
    clockSkewSeconds,
    scopesClaim: text('OAUTH_SCOPES_CLAIM', 'scope'),
    applicationClaim: text('OAUTH_APPLICATION_CLAIM', 'client_id'),
  };
}

/** Whether what an address sends cannot be changed on the way: keys that others can change protect nothing. */
function isProtectedUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && loopbackHosts.has(hostname.replaceAll(/[[\]]/g, '')));
}

/** AUTHENTICATION: `open` or `required`. */
function readIsOpen({ text, problems }: SettingsReader, host: string, hasKeys: boolean): boolean {
  const isLoopback = loopbackHosts.has(host);
  const authentication = text('AUTHENTICATION', isLoopback && !hasKeys ? 'open' : 'required');
  if (authentication !== 'open' && authentication !== 'required') {
    problems.push(`AUTHENTICATION must be open or required, but is "${authentication}"`);
  }
  if (authentication === 'open') {
    if (!isLoopback)
      problems.push(`HOST ${host} is reachable from other machines: AUTHENTICATION cannot be open there`);
    if (hasKeys) problems.push('API_KEYS or OAUTH_ISSUER is set, so AUTHENTICATION cannot be open');
  } else if (!hasKeys && text('AUTHENTICATION', '') === '') {
    problems.push(`HOST ${host} is reachable from other machines: set API_KEYS, or listen on 127.0.0.1`);
  }
  return authentication === 'open';
}

/** The keys of both settings. Problems never show a key, only its position. */
function readApiKeys(settings: SettingsReader): string[] {
  const { text, problems } = settings;
  const path = text('API_KEYS_FILE', '');
  const sources: [name: string, keys: string[]][] = [];
  const inlineKeys = text('API_KEYS', '');
  if (inlineKeys !== '') sources.push(['API_KEYS', inlineKeys.split(',')]);
  const lines = path === '' ? undefined : readSettingsFile('API_KEYS_FILE', path, problems);
  if (lines !== undefined) sources.push(['API_KEYS_FILE', lines.split(/,|\r?\n/)]);
  for (const [name, keys] of sources) {
    if (keys.every((key) => key === '')) problems.push(`${name} has no key`);
    for (const [index, key] of keys.entries()) {
      const problem = key === '' ? undefined : keyFault(key);
      if (problem !== undefined) problems.push(`${name}: key ${index + 1} ${problem}`);
    }
  }
  return sources.flatMap(([, keys]) => keys.filter((key) => key !== ''));
}

/** Why a key cannot be sent in a header, or could be guessed; undefined for a good one. */
function keyFault(key: string): string | undefined {
  if (!/^[!-~]+$/.test(key)) return 'must be visible ASCII characters without white space';
  if (key.length < apiKeyCharactersMinimum) return `is shorter than ${apiKeyCharactersMinimum} characters`;
  return key.length > apiKeyCharactersMaximum ? `is longer than ${apiKeyCharactersMaximum} characters` : undefined;
}

function readSettingsFile(name: string, path: string, problems: string[]): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    problems.push(`${name} names a file that cannot be read: ${describeError(error)}`);
    return undefined;
  }
}

function readServerTls({ text, problems }: SettingsReader): ServerTlsConfig | undefined {
  const certificate = text('TLS_CERTIFICATE', '');
  const key = text('TLS_KEY', '');
  const clientCa = text('TLS_CLIENT_CA', '');
  const clientCertificates = text('TLS_CLIENT_CERTIFICATES', 'required');
  if (clientCertificates !== 'required' && clientCertificates !== 'optional') {
    problems.push(`TLS_CLIENT_CERTIFICATES must be required or optional, but is "${clientCertificates}"`);
  }
  if (certificate === '' && key === '') {
    if (clientCa !== '') problems.push('TLS_CLIENT_CA needs TLS_CERTIFICATE and TLS_KEY');
    return undefined;
  }
  if (key === '') problems.push('TLS_CERTIFICATE is set, but TLS_KEY is not: TLS needs both');
  if (certificate === '') problems.push('TLS_KEY is set, but TLS_CERTIFICATE is not: TLS needs both');
  return {
    certificate: resolve(certificate),
    key: resolve(key),
    ...(clientCa === '' ? {} : { clientCa: resolve(clientCa) }),
    isClientCertificateRequired: clientCa !== '' && clientCertificates === 'required',
  };
}

function readProxies({ text, problems }: SettingsReader): Pick<Config, 'trustedProxies' | 'clientCertificateHeader'> {
  const trustedProxies = listOf(text('TRUSTED_PROXIES', ''));
  for (const proxy of trustedProxies) {
    if (!isNetwork(proxy)) {
      problems.push(`TRUSTED_PROXIES may name addresses and networks, such as 10.0.0.0/8, but has "${proxy}"`);
    }
  }
  const header = text('CLIENT_CERTIFICATE_HEADER', '').toLowerCase();
  if (header === '') return { trustedProxies };
  if (!/^[!#$%&'*+.^_`|~\da-z-]{1,255}$/.test(header)) {
    problems.push(`CLIENT_CERTIFICATE_HEADER must be the name of a header, but is "${header}"`);
  }
  if (trustedProxies.length === 0) problems.push('CLIENT_CERTIFICATE_HEADER needs TRUSTED_PROXIES, who may send it');
  return { trustedProxies, clientCertificateHeader: header };
}

/** Whether a text is an IP address, alone or with the number of bits of its network. */
function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(bits ?? 0) <= (family === 4 ? 32 : 128);
}

function readCluster(settings: SettingsReader): ClusterConfig | undefined {
  const { text, integer, problems } = settings;
  const kafkaBrokers = listOf(text('KAFKA_BROKERS', ''));
  const redisUrl = text('REDIS_URL', '');
  if (kafkaBrokers.length === 0 && redisUrl === '') return undefined;
  if (kafkaBrokers.length === 0) problems.push('REDIS_URL is set, but KAFKA_BROKERS is not: a cluster needs both');
  if (redisUrl === '') problems.push('KAFKA_BROKERS is set, but REDIS_URL is not: a cluster needs both');
  for (const broker of kafkaBrokers) {
    if (!/^(\[[^\]]+\]|[^:]+):\d{1,5}$/.test(broker)) {
      problems.push(`KAFKA_BROKERS must name host:port, but has "${broker}"`);
    }
  }
  for (const url of redisUrl === '' ? [] : redisUrl.split(',')) {
    if (!/^rediss?:\/\/./.test(url)) problems.push('REDIS_URL must begin with redis:// or rediss://');
  }
  const kafkaTls = readTls(settings);
  const redisTls = readRedisTls(settings, redisUrl);
  const kafkaSasl = readSasl(settings);
  return {
    kafkaBrokers,
    kafkaClientId: text('KAFKA_CLIENT_ID', 'lendstream'),
    ...(kafkaTls === undefined ? {} : { kafkaTls }),
    ...(kafkaSasl === undefined ? {} : { kafkaSasl }),
    kafkaReplicationFactor: integer('KAFKA_REPLICATION_FACTOR', -1, -1, 100),
    kafkaMinimumInSyncReplicas: integer('KAFKA_MIN_INSYNC_REPLICAS', 0, 0, 100),
    redisUrl,
    ...(redisTls === undefined ? {} : { redisTls }),
  };
}

function readRedisTls({ text, problems }: SettingsReader, redisUrl: string): TlsConfig | undefined {
  const file = (name: string): string | undefined => {
    const path = text(name, '');
    return path === '' ? undefined : readSettingsFile(name, path, problems);
  };
  const ca = file('REDIS_TLS_CA');
  const certificate = file('REDIS_TLS_CERTIFICATE');
  const key = file('REDIS_TLS_KEY');
  if (ca === undefined && certificate === undefined && key === undefined) return undefined;
  if (!redisUrl.startsWith('rediss://')) problems.push('REDIS_TLS_* are for a REDIS_URL that begins with rediss://');
  if ((certificate === undefined) !== (key === undefined)) {
    problems.push('REDIS_TLS_CERTIFICATE and REDIS_TLS_KEY are given together or not at all');
  }
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  };
}

function readTls({ text, problems }: SettingsReader): TlsConfig | undefined {
  const wanted = text('KAFKA_TLS', 'false');
  if (wanted !== 'true' && wanted !== 'false') problems.push(`KAFKA_TLS must be true or false, but is "${wanted}"`);
  if (wanted !== 'true') return undefined;
  const file = (name: string): string | undefined => {
    const path = text(name, '');
    return path === '' ? undefined : readSettingsFile(name, path, problems);
  };
  const ca = file('KAFKA_TLS_CA');
  const certificate = file('KAFKA_TLS_CERTIFICATE');
  const key = file('KAFKA_TLS_KEY');
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  };
}

function readSasl({ text, problems }: SettingsReader): SaslConfig | undefined {
  const mechanism = text('KAFKA_SASL_MECHANISM', '').toLowerCase();
  if (mechanism === '') return undefined;
  const supported = saslMechanisms.find((candidate) => candidate === mechanism);
  if (supported === undefined) {
    problems.push(`KAFKA_SASL_MECHANISM must be one of ${saslMechanisms.join(', ')}, but is "${mechanism}"`);
    return undefined;
  }
  const username = text('KAFKA_SASL_USERNAME', '');
  const password = text('KAFKA_SASL_PASSWORD', '');
  if (username === '' || password === '') {
    problems.push('KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD');
  }
  return { mechanism: supported, username, password };
}
