import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { systemClock, type Clock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { RedisConnection, reconnectDelay } from '../../src/redis/connection.ts';
import { eventually } from '../support/eventually.ts';
import { redisClient, startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock, settled } from '../support/simulated-clock.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

const nobody = { serverChanged: () => {}, resubscribed: () => {}, message: () => {} };

describe('the connection to Redis', () => {
  let server: RedisServer | undefined;
  let proxy: TcpProxy | undefined;

  afterEach(async () => {
    await proxy?.close();
    await server?.stop();
    [proxy, server] = [undefined, undefined];
  });

  const warnings = async (...settings: string[]): Promise<string[]> => {
    server = await startRedisServer(...settings);
    const messages: string[] = [];
    const logger = checkedLogger({ warn: (_: object, message: string) => messages.push(message) });
    (await RedisConnection.open({ redisUrl: server.url }, logger, nobody, systemClock)).close();
    return messages;
  };

  it('logs a warning about a Redis that evicts keys, and only then', async () => {
    expect(await warnings('--maxmemory-policy', 'allkeys-lru')).to.have.length(1);
    await server?.stop();
    expect(await warnings()).to.deep.equal([]);
  });

  it('is given up after ten seconds without a Redis, in an error that shows no secrets', async () => {
    const clock = new SimulatedClock();
    let failure: unknown;
    const url = 'redis://user:secret@127.0.0.1:1';
    const opening = RedisConnection.open({ redisUrl: url }, silentLogger, nobody, clock).catch(
      (error: unknown) => (failure = error),
    );
    await clock.turn(9_999);
    expect(failure).to.equal(undefined);
    await clock.turn(1);
    await opening;
    expect(clock.nextDeadline(), 'it leaves no timer').to.equal(Infinity);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(String(failure)).to.include('127.0.0.1:1').and.not.include('secret');
  });

  it('gives up an attempt to connect after two seconds of silence', async () => {
    server = await startRedisServer();
    const silences: (number | undefined)[] = [];
    const onSocket = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      // Before the client sees that it is connected, and waits for replies from then on.
      socket.once('connect', () => silences.push(socket.timeout));
    };
    subscribe('net.client.socket', onSocket);
    try {
      const opening = RedisConnection.open({ redisUrl: server.url }, silentLogger, nobody, systemClock);
      await eventually(() => silences.length === 2);
      (await opening).close();
    } finally {
      unsubscribe('net.client.socket', onSocket);
    }
    expect(silences).to.deep.equal([2_000, 2_000]);
  });

  it('is made again after pauses that grow by 50 up to 500 milliseconds', () => {
    expect([1, 2, 9, 10, 11, 1_000].map(reconnectDelay)).to.deep.equal([50, 100, 450, 500, 500, 500]);
  });

  /** A connection through a proxy, with what it reports and logs, and a client beside it that changes Redis. */
  async function connect(clock: Clock = systemClock) {
    server = await startRedisServer();
    proxy = await openTcpProxy({ host: '127.0.0.1', port: server.port });
    const heard: string[] = [];
    const logged: string[] = [];
    const log = (_: object, message: string): void => void logged.push(message);
    const connection = await RedisConnection.open(
      { redisUrl: `redis://127.0.0.1:${proxy.port}` },
      checkedLogger({ info: log, warn: log }),
      {
        serverChanged: () => heard.push('server changed'),
        resubscribed: () => heard.push('resubscribed'),
        message: (channel, text) => heard.push(`${channel}: ${text}`),
      },
      clock,
    );
    await eventually(() => heard.includes('resubscribed'));
    const client = redisClient(server.url);
    client.on('error', () => {});
    return {
      connection,
      proxy,
      client,
      heard,
      logged,
      close: () => {
        connection.close();
        client.disconnect();
      },
    };
  }

  it('reports what is published in the channels it has subscribed to, until it unsubscribes', async () => {
    const { connection, client, heard, close } = await connect();
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

  it('has no channel again that was given up while it was lost', async () => {
    const { connection, proxy: between, client, heard, close } = await connect();
    for (const channel of ['a', 'b']) await new Promise<void>((resolve) => connection.subscribe(channel, resolve));
    const before = heard.length;
    between.setMode({ kind: 'cut' });
    await eventually(() => between.connections.open === 0);
    connection.unsubscribe('a');
    between.setMode({ kind: 'pass' });
    await eventually(() => heard.slice(before).includes('resubscribed'));
    expect(await client.call('PUBSUB', 'CHANNELS')).to.deep.equal(['b']);
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

  it('is checked with a ping every five seconds where it waits for messages, until it is closed', async () => {
    const clock = new SimulatedClock();
    const { connection, client, heard, close } = await connect(clock);
    await new Promise<void>((resolve) => connection.subscribe('a', resolve));
    const pings = async (): Promise<number> =>
      Number(/cmdstat_ping:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0);
    const before = await pings();
    await clock.turn(4_999);
    // A ping would have been sent on the same connection, before this message.
    await client.publish('a', 'one');
    await eventually(() => heard.includes('a: one'));
    expect(await pings()).to.equal(before);
    await clock.turn(1);
    await eventually(async () => (await pings()) > before);
    close();
    expect(clock.nextDeadline()).to.equal(Infinity);
  });

  it('logs an outage once, and its end', async () => {
    const { connection, proxy: between, logged, close } = await connect();
    between.setMode({ kind: 'cut' });
    const { made } = between.connections;
    await eventually(() => between.connections.made >= made + 6);
    expect(logged).to.deep.equal(['Redis does not respond']);
    between.setMode({ kind: 'pass' });
    await eventually(async () => (await connection.readHash('hash').catch(() => undefined)) !== undefined);
    expect(logged).to.deep.equal(['Redis does not respond', 'Redis responds again']);
    close();
  });

  it('is not made again once it is closed, and logs nothing about what was still under way', async () => {
    const { connection, proxy: between, client, logged } = await connect();
    between.setMode({ kind: 'pause' });
    connection.subscribe('a', () => {});
    const reading: unknown = connection.readHash('hash').catch((error: unknown) => error);
    await settled();
    connection.close();
    between.setMode({ kind: 'cut' });
    expect(await reading).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    await eventually(() => between.connections.open === 0);
    await settled();
    expect(logged).to.deep.equal([]);
    client.disconnect();
  });

  it('lets no call through to a server that does not say who it is, and tries again', async () => {
    const { connection, client, logged, close } = await connect();
    const failing = async (): Promise<unknown> => connection.readHash('hash').catch((error: unknown) => error);
    const { warn } = console;
    // Only ioredis writes there, that it may not ask for the same.
    Object.assign(console, { warn: () => {} });
    try {
      await client.acl('SETUSER', 'default', '-info');
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await eventually(() => logged.length > 0);
      expect(logged).to.deep.equal(['Redis does not respond']);
      expect(await failing()).to.have.property('code', 'COORDINATION_UNAVAILABLE');
      await client.acl('SETUSER', 'default', '+info');
      await eventually(async () => !((await failing()) instanceof Error));
    } finally {
      Object.assign(console, { warn });
    }
    close();
  });

  it('is given up at once when the server may not be asked who it is', async () => {
    server = await startRedisServer();
    const client = redisClient(server.url);
    await client.acl('SETUSER', 'default', '-info');
    const { warn } = console;
    // Only ioredis writes there, that it may not ask for the same.
    Object.assign(console, { warn: () => {} });
    try {
      const opening = RedisConnection.open({ redisUrl: server.url }, silentLogger, nobody, new SimulatedClock());
      const failure: unknown = await opening.catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
      expect(String(failure)).to.include('refuses the user of the service');
    } finally {
      Object.assign(console, { warn });
      client.disconnect();
    }
  });

  const script = (text: string) => ({ text, sha: createHash('sha1').update(text).digest('hex') });

  it('reports that the server is another one before it reads the values of a call', async () => {
    const { connection, proxy: between, heard, close } = await connect();
    const echo = script('return ARGV');
    expect(await connection.run(echo, [], () => ['first', 1])).to.deep.equal(['first', '1']);
    await server?.kill();
    await server?.restart();
    // Long enough for a call to be made between the connection and the response to who it is.
    between.setMode({ kind: 'delay', milliseconds: 50, direction: 'to client' });
    const valuesNow = (): string[] => [heard.includes('server changed') ? 'reported' : 'not reported'];
    let reply: unknown[] = [];
    await eventually(async () => {
      reply = await connection.run(echo, [], valuesNow).catch(() => []);
      return reply.length > 0;
    });
    expect(reply).to.deep.equal(['reported']);
    close();
  });

  it('tells a server that cannot serve now from one that refuses a call', async () => {
    const { connection, close } = await connect();
    const answer = (text: string): Promise<unknown> =>
      connection.run(script(`return redis.error_reply('${text}')`), [], () => []).catch((error: unknown) => error);
    for (const text of ['LOADING it', 'OOM at the moment', 'NOREPLICAS in sight']) {
      expect(await answer(text), text).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    }
    expect(await answer('ERR a wrong call'))
      .to.be.an('error')
      .with.property('message')
      .that.includes('ERR a wrong call');
    expect(await answer('ERR a wrong call')).not.to.have.property('code');
    close();
  });
});
