import { expect } from 'chai';
import { Router } from 'express';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { once } from 'node:events';
import { Agent, request, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { LendstreamError } from '../../../../src/errors.ts';
import { createApplication, createApplicationServer } from '../../../../src/http/edge/application.ts';
import {
  discardedBytesMaximum,
  discardedBytesOfTooLarge,
  discardingMillisecondsMaximum,
} from '../../../../src/http/edge/bodies/discarded-bodies.ts';
import { readBody } from '../../../../src/http/edge/request-body.ts';
import { silentLogger } from '../../../../src/logger.ts';
import { eventually } from '../../../support/eventually.ts';
import { SimulatedClock } from '../../../support/simulated-clock.ts';

/** What is sent at once by those that send without end. Bytes. */
const partBytes = 65_536;

/** What lies in the buffers of both sides when a connection is cut. Bytes. */
const buffersMaximum = 24 * 1024 * 1024;

describe('the rest of a refused body', function () {
  this.timeout(30_000);
  let clock: SimulatedClock;
  let server: Server;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    clock = new SimulatedClock();
    const router = Router();
    router.post('/small', async (incoming, response) => {
      await readBody(incoming, 1_000);
      response.end();
    });
    router.post('/forbidden', () => {
      throw new LendstreamError('PERMISSION_MISSING', 'Not for you.');
    });
    server = createApplicationServer(createApplication([router], silentLogger, { clock }));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  const port = (): number => (server.address() as AddressInfo).port;

  interface Client {
    readonly socket: Socket;
    readonly received: () => string;
    /** Whether the server has ended its side. */
    readonly isEnded: () => boolean;
  }

  function open(): Client {
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    let received = '';
    let isEnded = false;
    socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1'))).on('error', () => {});
    socket.on('end', () => (isEnded = true));
    return { socket, received: () => received, isEnded: () => isEnded };
  }

  const head = (path: string, ...lines: readonly string[]): string =>
    [`POST ${path} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n');

  /** Sends chunks without end, and without reading, until the connection is cut. @returns How many bytes were sent. */
  async function sendWithoutEnd({ socket }: Client): Promise<number> {
    const part = Buffer.concat([
      Buffer.from(`${partBytes.toString(16)}\r\n`),
      Buffer.alloc(partBytes),
      Buffer.from('\r\n'),
    ]);
    const isClosed = once(socket, 'close');
    let sent = 0;
    while (!socket.destroyed && sent < 2 * (discardedBytesOfTooLarge + buffersMaximum)) {
      sent += partBytes;
      if (!socket.write(part)) await Promise.race([once(socket, 'drain'), isClosed]).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return sent;
  }

  for (const [path, status, bytesMaximum] of [
    ['/small', 413, discardedBytesOfTooLarge],
    ['/forbidden', 403, discardedBytesMaximum],
    ['/nowhere', 404, discardedBytesMaximum],
  ] as const) {
    it(`is read up to a limit after the response of ${status}, from a client that sends without end`, async () => {
      const client = open();
      client.socket.write(head(path, 'Transfer-Encoding: chunked'));
      expect(await sendWithoutEnd(client)).to.be.within(bytesMaximum, bytesMaximum + buffersMaximum);
      expect(client.received()).to.match(new RegExp(`^HTTP/1.1 ${status} `));
    });
  }

  it('of many requests that arrive together leaves nothing on their connection, which is closed when the last one asks', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', warn);
    const client = open();
    const requests = 20;
    // Refused as soon as the headers are there, before the parser has come to their end.
    const each = ['GET /small HTTP/1.1', 'Host: localhost', 'X-Flow-Id: two words'];
    const [earlier, last] = [each, [...each, 'Connection: close']].map((lines) => `${lines.join('\r\n')}\r\n\r\n`);
    client.socket.write(`${earlier?.repeat(requests - 1)}${last}`);
    await eventually(() => client.isEnded());
    expect(client.received().split('HTTP/1.1 400 ').length - 1).to.equal(requests);
    // The client keeps its side open.
    const connections = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    await eventually(async () => (await connections()) === 0);
    process.off('warning', warn);
    expect(warnings).to.deep.equal([]);
    expect(clock.nextDeadline()).to.equal(Infinity);
  });

  for (const connection of ['keep-alive', 'close']) {
    it(`is read for two seconds after the response, and no longer, with Connection: ${connection}`, async () => {
      const client = open();
      client.socket.write(`${head('/small', `Connection: ${connection}`, 'Content-Length: 1002')}a`);
      await eventually(() => client.received().includes('"REQUEST_TOO_LARGE"'));
      await eventually(() => clock.nextDeadline() === discardingMillisecondsMaximum);
      await clock.turn(discardingMillisecondsMaximum - 1);
      client.socket.write('b');
      expect(client.isEnded()).to.equal(connection === 'close');
      expect(client.socket.destroyed).to.equal(false);
      const isClosed = once(client.socket, 'close');
      client.socket.end();
      await clock.turn(1);
      await isClosed;
      expect(clock.nextDeadline()).to.equal(Infinity);
    });
  }

  it('does not keep the response from a client that closes when it has sent all, and reads then', async () => {
    const client = open();
    client.socket.pause();
    const body = Buffer.alloc(8 * 1024 * 1024, 32);
    client.socket.write(head('/small', 'Connection: close', `Content-Length: ${body.length}`));
    await new Promise<void>((resolve) => client.socket.write(body, () => resolve()));
    client.socket.resume();
    await once(client.socket, 'end');
    expect(client.received()).to.match(/^HTTP\/1.1 413 /);
    expect(client.received()).to.contain('"REQUEST_TOO_LARGE"');
    await eventually(() => clock.nextDeadline() === Infinity);
  });

  it('leaves the connection for the next request when it ends before', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const warnings: unknown[] = [];
    const warn = (warning: unknown): number => warnings.push(warning);
    process.on('warning', warn);
    // More of them than a socket may have listeners of one event without a warning.
    for (let turn = 0; turn < 15; turn += 1) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const sent = request({ port: port(), path: '/small', method: 'POST', agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        sent.on('error', reject).end(Buffer.alloc(1_000_000));
        sent.on('finish', () => ports.add(sent.socket?.localPort));
      });
      expect(status).to.equal(413);
    }
    agent.destroy();
    process.off('warning', warn);
    expect([ports.size, warnings]).to.deep.equal([1, []]);
    await eventually(() => clock.nextDeadline() === Infinity);
  });
});
