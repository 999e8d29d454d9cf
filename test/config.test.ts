import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiKeyCharactersMaximum, apiKeyCharactersMinimum, readConfig } from '../src/config.ts';

const problemsOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'none';
};

describe('the settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lendstream-test-'));

  after(() => rmSync(folder, { recursive: true }));

  it('name no cluster by default', () => {
    expect(readConfig({}).cluster).to.equal(undefined);
  });

  it('limit streams as the origin of the API does by default, and up to the highest values', () => {
    expect(readConfig({}).streaming).to.deep.equal({
      partitionsPerEventType: 8,
      partitionsPerSubscription: 100,
      retentionMilliseconds: 345_600_000,
      commitTimeoutSeconds: 60,
      flushSecondsMinimum: 1,
      flushSecondsMaximum: 2_147_483_647,
    });
    expect(readConfig({}).deduplicatedIdsMaximum).to.equal(1_000_000);
    expect(readConfig({ DEDUPLICATED_IDS_MAXIMUM: '10000000' }).deduplicatedIdsMaximum).to.equal(10_000_000);
    const highest = {
      EVENT_TYPE_PARTITIONS_MAXIMUM: '1000',
      SUBSCRIPTION_PARTITIONS_MAXIMUM: '1000',
      EVENT_RETENTION_HOURS_MAXIMUM: '100000',
      COMMIT_TIMEOUT_SECONDS_MAXIMUM: '3600',
      FLUSH_SECONDS_MINIMUM: '3600',
      FLUSH_SECONDS_MAXIMUM: '3600',
    };
    expect(readConfig(highest).streaming).to.deep.equal({
      partitionsPerEventType: 1_000,
      partitionsPerSubscription: 1_000,
      retentionMilliseconds: 360_000_000_000,
      commitTimeoutSeconds: 3_600,
      flushSecondsMinimum: 3_600,
      flushSecondsMaximum: 3_600,
    });
  });

  const oauth = {
    OAUTH_ISSUER: 'https://login.example',
    OAUTH_AUDIENCE: 'lendstream',
    OAUTH_JWKS_URL: 'https://login.example/keys',
  };

  it('name an identity provider, whose tokens then are needed', () => {
    const config = readConfig({ ...oauth, HOST: '0.0.0.0' });
    expect(config.isOpen).to.equal(false);
    expect(config.accessTokens).to.deep.equal({
      issuer: 'https://login.example',
      audience: 'lendstream',
      keysUrl: 'https://login.example/keys',
      algorithms: ['RS256', 'ES256'],
      clockSkewSeconds: 30,
      scopesClaim: 'scope',
      applicationClaim: 'client_id',
    });
  });

  const accessFaults: [title: string, environment: Record<string, string>, problem: RegExp | string][] = [
    ['a part of an identity provider', { OAUTH_ISSUER: 'x' }, /need OAUTH_AUDIENCE and OAUTH_JWKS_URL as well/],
    ['keys that others can change', { ...oauth, OAUTH_JWKS_URL: 'http://login.example/keys' }, /begin with https/],
    ['keys on a loopback address', { ...oauth, OAUTH_JWKS_URL: 'http://[::1]:9/keys' }, 'none'],
    ['an algorithm with a shared secret', { ...oauth, OAUTH_ALGORITHMS: 'RS256,HS256' }, /has "HS256"/],
    ['no algorithm at all', { ...oauth, OAUTH_ALGORITHMS: 'none' }, /has "none"/],
    ['clocks that differ by more than five minutes', { ...oauth, OAUTH_CLOCK_SKEW_SECONDS: '301' }, /from 0 to 300/],
    ['an open service elsewhere', { AUTHENTICATION: 'open', HOST: '0.0.0.0' }, /cannot be open there/],
    ['an open service with keys', { AUTHENTICATION: 'open', API_KEYS: 'k'.repeat(16) }, /cannot be open/],
    ['an open service with an identity provider', { ...oauth, AUTHENTICATION: 'open' }, /cannot be open/],
    ['another kind of authentication', { AUTHENTICATION: 'maybe' }, /must be open or required/],
    ['authentication on a loopback address', { AUTHENTICATION: 'required' }, 'none'],
    ['authentication elsewhere, by keys that exist', { AUTHENTICATION: 'required', HOST: '0.0.0.0' }, 'none'],
  ];
  for (const [title, environment, problem] of accessFaults) {
    it(`${problem === 'none' ? 'allow' : 'refuse'} ${title}`, () => {
      if (typeof problem === 'string') expect(problemsOf(environment)).to.equal(problem);
      else expect(problemsOf(environment)).to.match(problem);
    });
  }

  it('limit keys and addresses by default, an open service not, and 0 is no limit', () => {
    const closed = readConfig({ API_KEYS: 'a-key-of-sixteen-characters' });
    expect(closed.keyLimits).to.deep.equal({
      requests_per_second: 2_000,
      commits_per_second: 1_000,
      body_bytes_in_flight: 67_108_864,
      open_streams: 1_000,
      subscriptions: 1_000,
      event_types: 1_000,
    });
    expect(closed.addressLimits).to.deep.equal({ failedLoginsPerMinute: 30, requestsPerSecond: 100 });
    const unlimited = [Infinity, Infinity, Infinity, Infinity, Infinity, Infinity];
    expect(Object.values(readConfig({}).keyLimits)).to.deep.equal(unlimited);
    expect(readConfig({ KEY_REQUESTS_PER_SECOND: '5' }).keyLimits.requests_per_second).to.equal(5);
    const none = readConfig({ API_KEYS: 'a-key-of-sixteen-characters', FAILED_LOGINS_PER_MINUTE: '0' });
    expect(none.addressLimits.failedLoginsPerMinute).to.equal(Infinity);
    expect(problemsOf({ KEY_BODY_BYTES_IN_FLIGHT: '16777215' })).to.match(/from 16777216 to 1073741824/);
    expect(problemsOf({ KEY_OPEN_STREAMS: '1000001' })).to.match(/from 1 to 1000000/);
  });

  it('name a cluster by its brokers and its Redis', () => {
    const { cluster } = readConfig({ KAFKA_BROKERS: 'one:9092, [::1]:9093', REDIS_URL: 'redis://one:6379' });
    expect(cluster).to.deep.equal({
      kafkaBrokers: ['one:9092', '[::1]:9093'],
      kafkaClientId: 'lendstream',
      kafkaReplicationFactor: -1,
      kafkaMinimumInSyncReplicas: 0,
      redisUrl: 'redis://one:6379',
    });
  });

  it('name the files of TLS, absolute, and need certificates of clients unless they are optional', () => {
    expect(readConfig({}).tls).to.equal(undefined);
    const files = { TLS_CERTIFICATE: '/tls/tls.crt', TLS_KEY: 'tls.key' };
    const tls = {
      certificate: '/tls/tls.crt',
      key: join(process.cwd(), 'tls.key'),
      isClientCertificateRequired: false,
    };
    expect(readConfig(files).tls).to.deep.equal(tls);
    const clients = { ...files, TLS_CLIENT_CA: '/tls/ca.crt' };
    const both = { ...tls, clientCa: '/tls/ca.crt' };
    expect(readConfig(clients).tls).to.deep.equal({ ...both, isClientCertificateRequired: true });
    expect(readConfig({ ...clients, TLS_CLIENT_CERTIFICATES: 'optional' }).tls).to.deep.equal(both);
  });

  it('name proxies by addresses and networks, up to all bits, and their header', () => {
    expect(readConfig({})).to.deep.include({ trustedProxies: [] }).and.not.to.have.property('clientCertificateHeader');
    const named = {
      TRUSTED_PROXIES: '10.0.0.0/32, ::1,2001:db8::/128,0.0.0.0/0',
      CLIENT_CERTIFICATE_HEADER: 'X-Subject',
    };
    expect(readConfig(named)).to.deep.include({
      trustedProxies: ['10.0.0.0/32', '::1', '2001:db8::/128', '0.0.0.0/0'],
      clientCertificateHeader: 'x-subject',
    });
  });

  const cluster = { KAFKA_BROKERS: 'one:9092', REDIS_URL: 'redis://one:6379' };
  const wrong: [string, Record<string, string>, RegExp][] = [
    ['brokers without Redis', { KAFKA_BROKERS: 'one:9092' }, /REDIS_URL is not/],
    ['Redis without brokers', { REDIS_URL: 'redis://one' }, /KAFKA_BROKERS is not/],
    ['a broker without a port', { ...cluster, KAFKA_BROKERS: 'one' }, /host:port, but has "one"/],
    ['a protocol other than that of Redis', { ...cluster, REDIS_URL: 'http://one' }, /redis:\/\/ or rediss:/],
    ['an unknown mechanism', { ...cluster, KAFKA_SASL_MECHANISM: 'magic' }, /must be one of plain/],
    ['a mechanism without a password', { ...cluster, KAFKA_SASL_MECHANISM: 'plain' }, /KAFKA_SASL_PASSWORD/],
    ['a missing certificate', { ...cluster, KAFKA_TLS: 'true', KAFKA_TLS_CA: '/none' }, /KAFKA_TLS_CA names/],
    ['TLS that is neither on nor off', { ...cluster, KAFKA_TLS: 'maybe' }, /true or false, but is "maybe"/],
    [
      'more partitions than a topic may have',
      { EVENT_TYPE_PARTITIONS_MAXIMUM: '1001' },
      /from 1 to 1000, but is "1001"/,
    ],
    ['no partition for a subscription', { SUBSCRIPTION_PARTITIONS_MAXIMUM: '0' }, /from 1 to 1000, but is "0"/],
    ['a retention below that of any event type', { EVENT_RETENTION_HOURS_MAXIMUM: '2' }, /from 3 to 100000/],
    ['no id to compare with', { DEDUPLICATED_IDS_MAXIMUM: '0' }, /from 1 to 10000000/],
    ['more ids than fit into memory', { DEDUPLICATED_IDS_MAXIMUM: '10000001' }, /from 1 to 10000000/],
    ['a commit timeout of more than an hour', { COMMIT_TIMEOUT_SECONDS_MAXIMUM: '3601' }, /from 1 to 3600/],
    [
      'flush bounds that exclude each other',
      { FLUSH_SECONDS_MINIMUM: '9', FLUSH_SECONDS_MAXIMUM: '8' },
      /not be more than/,
    ],
    ['an authority for a Redis without TLS', { ...cluster, REDIS_TLS_CA: 'package.json' }, /REDIS_TLS_\* are for/],
    ['a missing authority of Redis', { ...cluster, REDIS_TLS_CA: '/none' }, /REDIS_TLS_CA names/],
    [
      'a certificate for Redis without its key',
      { ...cluster, REDIS_URL: 'rediss://one', REDIS_TLS_CERTIFICATE: 'package.json' },
      /together or not at all/,
    ],
    ['a certificate without a key', { TLS_CERTIFICATE: 'tls.crt' }, /TLS_KEY is not/],
    ['a key without a certificate', { TLS_KEY: 'tls.key' }, /TLS_CERTIFICATE is not/],
    [
      'authorities of clients without TLS',
      { TLS_CLIENT_CA: 'ca.crt' },
      /TLS_CLIENT_CA needs TLS_CERTIFICATE and TLS_KEY/,
    ],
    [
      'certificates that are maybe needed',
      { TLS_CLIENT_CERTIFICATES: 'maybe' },
      /required or optional, but is "maybe"/,
    ],
    ['a proxy by its name', { TRUSTED_PROXIES: 'proxy.example' }, /but has "proxy.example"/],
    ['a network of too many bits', { TRUSTED_PROXIES: '10.0.0.0/33' }, /but has "10.0.0.0\/33"/],
    ['a network of IPv6 of too many bits', { TRUSTED_PROXIES: '::1, 2001:db8::/129' }, /but has "2001:db8::\/129"/],
    ['a network without bits', { TRUSTED_PROXIES: '10.0.0.0/' }, /but has "10.0.0.0\/"/],
    ['a header of anybody', { CLIENT_CERTIFICATE_HEADER: 'X-Subject' }, /needs TRUSTED_PROXIES/],
    [
      'a header that is none',
      { CLIENT_CERTIFICATE_HEADER: 'X Subject', TRUSTED_PROXIES: '::1' },
      /must be the name of a header, but is "x subject"/,
    ],
    ['an address reachable by other machines, without keys', { HOST: '0.0.0.0' }, /set API_KEYS/],
  ];
  for (const [title, environment, problem] of wrong) {
    it(`refuse ${title}`, () => {
      expect(problemsOf(environment)).to.match(problem);
    });
  }

  const key = 'k'.repeat(apiKeyCharactersMinimum);
  const file = join(folder, 'keys');

  const usable: [title: string, environment: Record<string, string>, content: string, keys: string[]][] = [
    ['of the minimum length', { API_KEYS: key }, '', [key]],
    [
      'of the maximum length',
      { API_KEYS: 'k'.repeat(apiKeyCharactersMaximum) },
      '',
      ['k'.repeat(apiKeyCharactersMaximum)],
    ],
    [
      'with all visible characters',
      { API_KEYS: '!"#$%&()*+-./:;<=>?@[]^_`{|}~' },
      '',
      ['!"#$%&()*+-./:;<=>?@[]^_`{|}~'],
    ],
    ['in a list with a comma at the end', { API_KEYS: `${key}1,${key}2,` }, '', [`${key}1`, `${key}2`]],
    ['on separate lines of a file', { API_KEYS_FILE: file }, `${key}1\n\r\n${key}2\r\n`, [`${key}1`, `${key}2`]],
    [
      'from both places',
      { API_KEYS: `${key}1`, API_KEYS_FILE: file },
      `${key}2,${key}3`,
      [`${key}1`, `${key}2`, `${key}3`],
    ],
  ];
  for (const [title, environment, content, keys] of usable) {
    it(`take keys ${title}`, () => {
      writeFileSync(file, content);
      expect(readConfig(environment).apiKeys).to.deep.equal(keys);
    });
  }

  const unusable: [title: string, keys: string, problem: RegExp][] = [
    ['one character too short', key.slice(1), /key 1 is shorter than 16 characters/],
    ['one character too long', 'k'.repeat(apiKeyCharactersMaximum + 1), /key 1 is longer than 1024 characters/],
    ['that are one space', ' ', /key 1 must be visible ASCII/],
    ['with a space before them', `${key},  ${key}`, /key 2 must be visible ASCII/],
    ['with a space after them', `${key} `, /key 1 must be visible ASCII/],
    ['with a tab', `${key}\t${key}`, /key 1 must be visible ASCII/],
    ['with a control character', `${key}\u0001`, /key 1 must be visible ASCII/],
    ['with characters beyond ASCII', `${key}é`, /key 1 must be visible ASCII/],
    ['that are only commas', ',,', /has no key/],
  ];
  for (const [title, keys, problem] of unusable) {
    it(`refuse keys ${title}, from both places, without showing them`, () => {
      writeFileSync(file, keys);
      for (const environment of [{ API_KEYS: keys }, { API_KEYS_FILE: file }]) {
        const told = problemsOf(environment);
        expect(told)
          .to.match(problem)
          .and.to.match(/^API_KEYS/);
        if (keys.includes(key)) expect(told).not.to.include(key);
      }
    });
  }

  it('refuse a key file that is empty or missing, even where no keys are needed', () => {
    writeFileSync(file, '\n');
    expect(problemsOf({ API_KEYS_FILE: file })).to.equal('API_KEYS_FILE has no key');
    expect(problemsOf({ API_KEYS_FILE: join(folder, 'none') })).to.match(/^API_KEYS_FILE names a file that cannot/);
  });

  it('accept the host names by which a proxy is reached', () => {
    const hosts = ['streams.example', 'other_name:8443', '[fd00::1]:80', '10.0.0.1'];
    expect(readConfig({ ALLOWED_HOSTS: hosts.join(', ') }).allowedHosts).to.deep.equal(hosts);
    expect(readConfig({}).allowedHosts).to.deep.equal([]);
    for (const wrong of ['*', 'http://streams.example', 'streams.example/', 'a b', 'a:b', '*.example']) {
      expect(problemsOf({ ALLOWED_HOSTS: wrong }), wrong).to.match(/^ALLOWED_HOSTS may name hosts/);
    }
  });

  it('accept exact origins whose pages may use the service, and no pattern', () => {
    const origins = ['https://app.example', 'http://localhost:3000', 'http://[::1]:8081'];
    expect(readConfig({ CORS_ORIGINS: origins.join(', ') }).corsOrigins).to.deep.equal(origins);
    expect(readConfig({}).corsOrigins).to.deep.equal([]);
    for (const wrong of [
      '*',
      'null',
      'app.example',
      'https://*.example',
      'https://app.example/',
      'https://app.example:443',
      'https://App.example',
      'https://user@app.example',
      'file://app.example',
    ]) {
      expect(problemsOf({ CORS_ORIGINS: wrong }), wrong).to.match(/^CORS_ORIGINS may name exact origins/);
    }
  });

  for (const host of ['127.0.0.1', '::1', 'localhost', '']) {
    it(`need no keys to listen on ${JSON.stringify(host)}`, () => {
      expect(problemsOf({ HOST: host })).to.equal('none');
    });
  }

  for (const host of ['0.0.0.0', '::', '127.0.0.2', '10.0.0.1', 'streams.example']) {
    it(`need a key to listen on ${host}`, () => {
      expect(problemsOf({ HOST: host })).to.match(/set API_KEYS/);
      expect(problemsOf({ HOST: host, API_KEYS: ',' })).to.match(/set API_KEYS/);
      expect(problemsOf({ HOST: host, API_KEYS: key })).to.equal('none');
    });
  }

  const bounds: [name: string, least: number, most: number][] = [
    ['PORT', 0, 65_535],
    ['LENDING_PARTITIONS', 1, 100],
    ['RETENTION_HOURS', 1, 100_000],
  ];
  for (const [name, least, most] of bounds) {
    it(`take ${name} from ${least} to ${most}`, () => {
      for (const number of [least, most]) expect(problemsOf({ [name]: String(number) })).to.equal('none');
      for (const text of [least - 1, most + 1, least + 0.5]) {
        expect(problemsOf({ [name]: String(text) })).to.include(`${name} must be a whole number`);
      }
    });
  }

  it('report all invalid settings together', () => {
    expect(problemsOf({ PORT: 'x', LENDING_PARTITIONS: '0', KAFKA_BROKERS: 'one' }).split('; ')).to.have.length(4);
  });

  it('read the password and keep the mechanism small', () => {
    const sasl = { KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'a', KAFKA_SASL_PASSWORD: 'b' };
    expect(readConfig({ ...cluster, ...sasl }).cluster?.kafkaSasl).to.deep.equal({
      mechanism: 'scram-sha-512',
      username: 'a',
      password: 'b',
    });
  });
});
