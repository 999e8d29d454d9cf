import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { Router } from 'express';
import type { App } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { bodiesInFlight } from '../../../src/http/edge/bodies-in-flight.ts';
import { bodyBytesMaximum, readBody } from '../../../src/http/edge/request-body.ts';
import { commandBytesMaximum } from '../../../src/http/lending/command-requests.ts';
import { toggleBytesMaximum } from '../../../src/http/lending/toggles.ts';
import {
  headersMillisecondsMaximum,
  idleConnectionMilliseconds,
  requestCheckMilliseconds,
  requestMillisecondsMaximum,
} from '../../../src/http/edge/unreadable-requests.ts';
import { silentLogger } from '../../../src/logger.ts';
import { leaveUnwatched } from '../../support/http/response-watch.ts';
import { eventually } from '../../support/eventually.ts';
import { rawResponseTo, parseResponse, type RawResponse } from '../../support/http/raw-request.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { createAppHere } from '../../support/processes/service-here.ts';

const eventType = {
  name: 'shop.orders',
  owning_application: 'shop',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{}' },
};

/** The limits in docs/operating.md, as numbers. */
const documented = {
  bodyBytes: 8 * 1024 * 1024,
  commandBytes: 256 * 1024,
  toggleBytes: 1024,
  headersBytes: 16 * 1024,
  headersMilliseconds: 10_000,
  requestMilliseconds: 120_000,
  idleConnectionMilliseconds: 75_000,
};

describe('a request at its limits', function () {
  this.timeout(60_000);
  let folder: string;
  let app: App;
  let url: string;

  before(async () => {
    folder = await temporaryFolder();
    // Without a worker a command is not decided, so that only its form matters.
    app = await createAppHere(readConfig({ DATA_DIR: folder, PORT: '0', ROLES: 'serve' }), silentLogger);
    url = await app.start();
    const made = await send('POST', '/event-types', Buffer.from(JSON.stringify(eventType)), 'with a length');
    expect(made.status).to.equal(201);
  });

  after(async () => {
    await app.stop();
    await removeFolder(folder);
  });

  type Form = 'with a length' | 'in chunks' | 'compressed' | 'compressed in chunks';

  function send(method: string, path: string, body: Buffer, form: Form): Promise<RawResponse> {
    const isCompressed = form.startsWith('compressed');
    const sent = isCompressed ? zlib.gzipSync(body) : body;
    const isChunked = form.endsWith('in chunks');
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      'Prefer: wait=0',
      ...(isCompressed ? ['Content-Encoding: gzip'] : []),
      isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${sent.length}`,
    ].join('\r\n');
    const text = sent.toString('latin1');
    const bytes = isChunked ? `${sent.length.toString(16)}\r\n${text}\r\n0\r\n\r\n` : text;
    return rawResponseTo(url, `${head}\r\n\r\n${bytes}`).then(parseResponse);
  }

  /** JSON followed by white space, of this total length. */
  function padded(json: string, bytes: number): Buffer {
    return Buffer.from(json.padEnd(bytes, ' '));
  }

  // One operation for each limit. refusals.test.ts checks that all operations refuse a body that is declared too large.
  const operations: [title: string, method: string, path: string, json: string, most: number, status: number][] = [
    ['events', 'POST', '/event-types/shop.orders/events', '[{}]', documented.bodyBytes, 200],
    ['a loan command', 'POST', '/loans', '{"productTypeKey":"none","loanAmount":1}', documented.commandBytes, 202],
    ['a toggle', 'PUT', '/toggles/PRINCIPAL_OVERPAYMENT', '{"enabled":false}', documented.toggleBytes, 200],
  ];
  for (const [title, method, path, json, most, status] of operations) {
    for (const form of ['with a length', 'in chunks', 'compressed', 'compressed in chunks'] as const) {
      it(`accepts ${title} of ${most} bytes ${form}, and not one byte more`, async () => {
        const whole = await send(method, path, padded(json, most), form);
        expect(whole.status, whole.body).to.be.oneOf([status, 201]);
        const larger = await send(method, path, padded(json, most + 1), form);
        expect(larger.status, larger.body).to.equal(413);
        expect(larger.body).to.include(String(most));
      });
    }
  }

  it('refuses a compressed body that is already too long before it is unpacked', async () => {
    // A member without meaning, repeated as often as necessary.
    const nothing = zlib.gzipSync('');
    const packed = Buffer.alloc(documented.bodyBytes + 1 - ((documented.bodyBytes + 1) % nothing.length), nothing);
    const body = Buffer.concat([packed, nothing]);
    expect(body.length).to.be.greaterThan(documented.bodyBytes);
    const response = await rawResponseTo(
      url,
      `POST /event-types/shop.orders/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
        `Content-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
    );
    expect(parseResponse(response).status).to.equal(413);
  });

  const encodings: [encoding: string, status: number][] = [
    ['gzip', 200],
    ['GZIP', 200],
    [' gzip ', 200],
    ['x-gzip', 200],
    ['gzip, gzip', 415],
    ['br', 415],
    ['deflate', 415],
    // Where Node has zstd, this body is a broken one.
    ['zstd', 'createZstdDecompress' in zlib ? 400 : 415],
  ];
  for (const [encoding, status] of encodings) {
    it(`returns ${status} for a body that is compressed and declared as ${JSON.stringify(encoding)}`, async () => {
      const body = zlib.gzipSync('[{}]').toString('latin1');
      const head = `POST /event-types/shop.orders/events HTTP/1.1\r\nHost: localhost\r\nConnection: close`;
      const text = `${head}\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      expect(parseResponse(await rawResponseTo(url, text)).status).to.equal(status);
    });
  }

  it('names the encodings that it can undo when it refuses another', async () => {
    const response = await fetch(`${url}/event-types/shop.orders/events`, {
      method: 'POST',
      headers: { 'Content-Encoding': 'br' },
      body: '[]',
    });
    const usable = 'createZstdDecompress' in zlib ? 'gzip or zstd' : 'gzip';
    expect(await response.json()).to.include({ detail: `Content-Encoding br is not supported, use ${usable}.` });
  });

  for (const encoding of ['', 'identity', 'Identity', ' ']) {
    it(`accepts a body unchanged when its encoding is ${JSON.stringify(encoding)}, and a GET likewise`, async () => {
      const rest = `HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Encoding: ${encoding}\r\n`;
      const post = `POST /event-types/shop.orders/events ${rest}Content-Length: 4\r\n\r\n[{}]`;
      expect(parseResponse(await rawResponseTo(url, post)).status).to.equal(200);
      expect(parseResponse(await rawResponseTo(url, `GET /event-types ${rest}\r\n`)).status).to.equal(200);
    });
  }

  /** A head of this many bytes: first line, names, values and separators. */
  function headOf(bytes: number): string {
    const head = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: \r\n\r\n';
    return head.replace('X-Long: ', `X-Long: ${'a'.repeat(bytes - head.length)}`);
  }

  it('accepts a head of 16 KiB, and not one that has this size without its separators', async () => {
    expect(parseResponse(await rawResponseTo(url, headOf(documented.headersBytes))).status).to.equal(200);
    const between = 'GET  HTTP/1.1\r\n: \r\n: \r\n: \r\n\r\n'.length;
    expect(parseResponse(await rawResponseTo(url, headOf(documented.headersBytes + between))).status).to.equal(431);
  });

  it('has all its headers checked, however many there are', async () => {
    const many = 'a:\r\n'.repeat(5_000);
    const ask = (last: string): Promise<RawResponse> =>
      rawResponseTo(url, `GET /loans HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${many}${last}\r\n`).then(
        parseResponse,
      );
    expect((await ask('')).status).to.equal(200);
    expect((await ask('Host: localhost\r\n')).status).to.equal(400);
    expect((await ask('Origin: http://evil.example\r\n')).status).to.equal(403);
  });

  it('leaves no counted bytes behind, whatever the response was', async () => {
    await eventually(() => bodiesInFlight.bytes === 0);
  });

  it('has the limits that are documented', () => {
    expect({
      bodyBytes: bodyBytesMaximum,
      commandBytes: commandBytesMaximum,
      toggleBytes: toggleBytesMaximum,
      headersBytes: documented.headersBytes,
      headersMilliseconds: headersMillisecondsMaximum,
      requestMilliseconds: requestMillisecondsMaximum,
      idleConnectionMilliseconds,
    }).to.deep.equal(documented);
  });
});

describe('a request that does not arrive', function () {
  this.timeout(60_000);
  let server: Server;
  let url: string;

  /** Replace the real timeouts, for which a test would wait two minutes. Milliseconds. */
  const timeout = 1_000;

  before(async () => {
    const router = Router();
    router.post('/whole', async (request, response) => {
      await readBody(request);
      // Longer than a request may take to arrive, including the interval of the checks.
      await setTimeout(timeout + requestCheckMilliseconds + 1_000);
      response.end('done');
    });
    server = createApplicationServer(createApplication([router], silentLogger));
    expect([server.headersTimeout, server.requestTimeout]).to.deep.equal([
      headersMillisecondsMaximum,
      requestMillisecondsMaximum,
    ]);
    server.headersTimeout = timeout;
    server.requestTimeout = timeout;
    leaveUnwatched(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('gets 408 when its headers or its body take too long, and not when the response does', async () => {
    const head = 'POST /whole HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';
    const startedAt = performance.now();
    const timed = async (bytes: string): Promise<[status: number, milliseconds: number]> => {
      const { status } = parseResponse(await rawResponseTo(url, bytes));
      return [status, performance.now() - startedAt];
    };
    const [headers, body, chunks, whole] = await Promise.all([
      timed(head),
      timed(`${head}Content-Length: 10\r\n\r\n123456789`),
      timed(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n`),
      timed(`${head}Content-Length: 2\r\n\r\n{}`),
    ]);
    for (const [status, milliseconds] of [headers, body, chunks]) {
      expect(status).to.equal(408);
      expect(milliseconds).to.be.within(timeout, timeout + 2 * requestCheckMilliseconds + 2_000);
    }
    expect(whole[0]).to.equal(200);
  });

  it('is served on a connection that was idle for longer than the headers may take', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const received: string[] = [];
    socket.on('data', (chunk) => received.push(chunk.toString()));
    const request = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n';
    socket.write(request);
    await eventually(() => received.join('').endsWith('}'));
    expect(received.join('')).to.contain(
      `\r\nKeep-Alive: timeout=${documented.idleConnectionMilliseconds / 1_000}\r\n`,
    );
    await setTimeout(timeout + requestCheckMilliseconds + 1_000);
    received.length = 0;
    socket.write(request);
    await eventually(() => received.join('').startsWith('HTTP/1.1 404 '));
    socket.destroy();
  });
});
