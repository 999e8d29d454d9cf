import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { silentLogger } from '../../src/logger.ts';
import { RedisConnection } from '../../src/redis/connection.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';

const nobody = { serverChanged: () => {}, resubscribed: () => {}, message: () => {} };

describe('the connection to Redis', () => {
  let server: RedisServer | undefined;

  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  const warnings = async (...settings: string[]): Promise<string[]> => {
    server = await startRedisServer(...settings);
    const messages: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => messages.push(message) };
    (await RedisConnection.open(server.url, logger, nobody)).close();
    return messages;
  };

  it('logs a warning about a Redis that evicts keys, and only then', async () => {
    expect(await warnings('--maxmemory-policy', 'allkeys-lru')).to.have.length(1);
    await server?.stop();
    expect(await warnings()).to.deep.equal([]);
  });

  it('shows no secrets when Redis does not respond', async function () {
    this.timeout(20_000);
    const failure: unknown = await RedisConnection.open('redis://user:secret@127.0.0.1:1', silentLogger, nobody).catch(
      (error: unknown) => error,
    );
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(String(failure)).to.include('127.0.0.1:1').and.not.include('secret');
  });
});
