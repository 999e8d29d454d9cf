import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../src/config.ts';

const problemsOf = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'none';
};

describe('the settings', () => {
  it('name no cluster by default', () => {
    expect(readConfig({}).cluster).to.equal(undefined);
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

  const cluster = { KAFKA_BROKERS: 'one:9092', REDIS_URL: 'redis://one:6379' };
  const wrong: [string, Record<string, string>, RegExp][] = [
    ['brokers without Redis', { KAFKA_BROKERS: 'one:9092' }, /REDIS_URL is not/],
    ['Redis without brokers', { REDIS_URL: 'redis://one' }, /KAFKA_BROKERS is not/],
    ['a broker without a port', { ...cluster, KAFKA_BROKERS: 'one' }, /host:port, but has "one"/],
    ['another protocol than that of Redis', { ...cluster, REDIS_URL: 'http://one' }, /redis:\/\/ or rediss:/],
    ['a mechanism nobody knows', { ...cluster, KAFKA_SASL_MECHANISM: 'magic' }, /must be one of plain/],
    ['a mechanism without a password', { ...cluster, KAFKA_SASL_MECHANISM: 'plain' }, /KAFKA_SASL_PASSWORD/],
    ['a certificate that is not there', { ...cluster, KAFKA_TLS: 'true', KAFKA_TLS_CA: '/none' }, /KAFKA_TLS_CA names/],
    ['TLS that is neither on nor off', { ...cluster, KAFKA_TLS: 'maybe' }, /true or false, but is "maybe"/],
    ['an address that others can reach, without keys', { HOST: '0.0.0.0' }, /set API_KEYS/],
  ];
  for (const [title, environment, problem] of wrong) {
    it(`refuse ${title}`, () => {
      expect(problemsOf(environment)).to.match(problem);
    });
  }

  it('tell everything that is wrong at once', () => {
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
