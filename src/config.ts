import { resolve } from 'node:path';
import { LendstreamError } from './errors.ts';
import type { LogLevel } from './logger.ts';

/** Every setting, its default and its unit. Read once from the environment, checked whole, frozen. */
export interface Config {
  /** HOST: the address to listen on. Any but a loopback address needs API_KEYS. */
  readonly host: string;
  /** PORT: 0 picks a free one. */
  readonly port: number;
  /** DATA_DIR: where the embedded store keeps its files. Absolute after reading. */
  readonly dataFolder: string;
  /** ROLES: `serve` answers HTTP, `work` decides loan commands. */
  readonly roles: { readonly serve: boolean; readonly work: boolean };
  /** LOG_LEVEL */
  readonly logLevel: LogLevel;
  /** LENDING_PARTITIONS: partitions of loan commands, loans and lending events. Fixed at the first start. */
  readonly lendingPartitions: number;
  /** RETENTION_HOURS: how long events of the lending types are held. */
  readonly retentionMilliseconds: number;
  /** API_KEYS: comma-separated keys, any of which a client must present; none means open, on loopback only. */
  readonly apiKeys: readonly string[];
}

const logLevels: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
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
  const roles = text('ROLES', 'serve,work').split(',');
  for (const role of roles) {
    if (role !== 'serve' && role !== 'work') problems.push(`ROLES may name serve and work, but has "${role}"`);
  }
  const apiKeys = text('API_KEYS', '')
    .split(',')
    .filter((key) => key !== '');
  if (!loopbackHosts.has(host) && apiKeys.length === 0) {
    problems.push(`HOST ${host} is reachable from other machines: set API_KEYS, or listen on 127.0.0.1`);
  }
  const config: Config = Object.freeze({
    host,
    port: integer('PORT', 8080, 0, 65_535),
    dataFolder: resolve(text('DATA_DIR', 'data')),
    roles: { serve: roles.includes('serve'), work: roles.includes('work') },
    logLevel,
    lendingPartitions: integer('LENDING_PARTITIONS', 4, 1, 100),
    retentionMilliseconds: integer('RETENTION_HOURS', 96, 1, 100_000) * 3_600_000,
    apiKeys,
  });
  if (problems.length > 0) throw new LendstreamError('CONFIGURATION_INVALID', problems.join('; '));
  return config;
}
