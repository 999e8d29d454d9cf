import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { silentLogger } from '../../src/logger.ts';
import { RedisConnection } from '../../src/redis/connection.ts';
import { eventually } from '../support/eventually.ts';
import { redisClient, startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';

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

  /** A connection with what it reports, and a client beside it that changes Redis. */
  async function connect() {
    server = await startRedisServer();
    const heard: string[] = [];
    const connection = await RedisConnection.open(server.url, silentLogger, {
      serverChanged: () => heard.push('server changed'),
      resubscribed: () => heard.push('resubscribed'),
      message: (channel, text) => heard.push(`${channel}: ${text}`),
    });
    const client = redisClient(server.url);
    client.on('error', () => {});
    return {
      connection,
      client,
      heard,
      close: () => {
        connection.close();
        client.disconnect();
      },
    };
  }

  it('reports what is published in the channels it has subscribed to, until it unsubscribes', async () => {
    const { connection, client, heard, close } = await connect();
    await eventually(() => heard.length === 1);
    expect(heard).to.deep.equal(['resubscribed']);
    await new Promise<void>((resolve) => connection.subscribe('a', resolve));
    await new Promise<void>((resolve) => connection.subscribe('b', resolve));
    await client.publish('a', 'one');
    await client.publish('c', 'two');
    connection.unsubscribe('a');
    await eventually(async () => (await client.publish('a', 'three')) === 0);
    await client.publish('b', 'four');
    await eventually(() => heard.includes('b: four'));
    expect(heard.filter((line) => line !== 'a: three')).to.deep.equal(['resubscribed', 'a: one', 'b: four']);
    close();
  });

  it('has all its channels again after it was lost, however many there are', async () => {
    const { connection, client, heard, close } = await connect();
    const channels = Array.from({ length: 501 }, (_, index) => `channel-${index}`);
    await Promise.all(
      channels.map((channel) => new Promise<void>((resolve) => connection.subscribe(channel, resolve))),
    );
    connection.unsubscribe('channel-7');
    const before = heard.length;
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(() => heard.slice(before).includes('resubscribed'));
    for (const channel of channels) await client.publish(channel, 'again');
    await eventually(() => heard.includes('channel-500: again'));
    const again = heard.filter((line) => line.endsWith(': again'));
    expect(again).to.deep.equal(channels.filter((name) => name !== 'channel-7').map((name) => `${name}: again`));
    close();
  });

  it('reads and sets keys, connects again, and knows the same server from another one', async () => {
    const { connection, client, heard, close } = await connect();
    await client.hset('hash', 'field', 'value');
    expect(await connection.readHashField('hash', 'field')).to.equal('value');
    expect(await connection.readHashField('hash', 'other')).to.equal(null);
    expect(await connection.readHash('hash')).to.deep.equal({ field: 'value' });
    expect(await connection.setIfAbsent('key', 'one', 60_000)).to.equal(true);
    expect(await connection.setIfAbsent('key', 'two', 60_000)).to.equal(false);
    expect(await client.pttl('key')).to.be.within(50_000, 60_000);
    expect(heard).not.to.include('server changed');
    await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(async () => (await connection.readHash('hash').catch(() => undefined)) !== undefined);
    expect(heard, 'the same server').not.to.include('server changed');
    await server?.kill();
    expect(await connection.readHash('hash').catch((error: unknown) => error)).to.be.an('error');
    await server?.restart();
    await eventually(async () => (await connection.readHash('hash').catch(() => undefined)) !== undefined);
    expect(heard).to.include('server changed');
    close();
    const failure: unknown = await connection.readHash('hash').catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
  });
});
