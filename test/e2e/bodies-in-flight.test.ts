import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { bodyBudgetDefault } from '../../src/http/edge/bodies-in-flight.ts';
import { bodyBytesMaximum } from '../../src/http/edge/request-body.ts';
import { call, openStream } from '../support/http/client.ts';
import { eventually } from '../support/eventually.ts';
import { beginRequest } from '../support/http/raw-request.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

const mebibyte = 1024 * 1024;
const { largeBytesMaximum, smallBodyBytes, smallBytesMaximum, connectionBytesMaximum } = bodyBudgetDefault;

/** How much more than the budget a process may use for everything else: sockets, garbage, its own heap. Bytes. */
const besidesBytes = 400 * mebibyte;

const eventType = {
  name: 'shop.orders',
  owning_application: 'shop',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{}' },
};

/** A request that was begun, and the response so far. */
interface Unfinished {
  readonly socket: Socket;
  readonly text: string;
}

function hasResponse({ text }: Unfinished): boolean {
  return /HTTP\/1.1 [2-5]/.test(text);
}

describe('request bodies in flight', function () {
  this.timeout(120_000);
  let folder: string;
  let service: Service;
  const sockets: Socket[] = [];

  before(async () => {
    folder = await temporaryFolder();
    // Without a worker a command is not decided, and later responses on its connection wait for it.
    service = await startService(folder, { ROLES: 'serve' });
    expect((await call(`${service.url}/event-types`, 'POST', eventType)).status).to.equal(201);
  });

  after(async () => {
    for (const socket of sockets) socket.destroy();
    await service.stop();
    await removeFolder(folder);
  });

  const head = (lines: string): string =>
    `POST /event-types/shop.orders/events HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n`;

  /** Sends the beginning of a request that never ends. Its length is counted before this returns. */
  async function begin(lines: string, sent: Buffer): Promise<Unfinished> {
    const socket = await beginRequest(service.url, head(`${lines}\r\nExpect: 100-continue`));
    sockets.push(socket);
    const unfinished = { socket, text: '' };
    socket.on('data', (chunk: Buffer) => (unfinished.text += chunk.toString()));
    // One that is refused is not asked for its body.
    await eventually(() => unfinished.text.startsWith('HTTP/1.1 '), 30_000);
    await new Promise<void>((resolve) => socket.write(sent, () => resolve()));
    return unfinished;
  }

  async function residentBytes(): Promise<number> {
    const { text } = await call(`${service.url}/metrics`, 'GET', undefined, { Accept: 'text/plain' });
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
  }

  /** The number of bodies refused so far, by the exhausted budget. */
  async function refusedBodies(budget: string): Promise<number> {
    const { text } = await call(`${service.url}/metrics`, 'GET', undefined, { Accept: 'text/plain' });
    const line = text
      .split('\n')
      .find((each) => each.startsWith(`lendstream_refused_bodies_total{budget="${budget}"}`));
    return Number(line?.split(' ')[1]);
  }

  const publish = (bytes: number): Promise<{ status: number }> =>
    call(`${service.url}/event-types/shop.orders/events`, 'POST', `[{}]${' '.repeat(bytes - 4)}`);

  async function endAll(): Promise<void> {
    for (const socket of sockets.splice(0)) socket.destroy();
    // The whole budget is free again: as many bodies as fit into it, at once.
    const holdBody = (): Promise<Unfinished> => begin(`Content-Length: ${bodyBytesMaximum}`, Buffer.alloc(1, 0x20));
    await eventually(async () => {
      const holders: Unfinished[] = [];
      for (let bytes = 0; bytes < largeBytesMaximum; bytes += bodyBytesMaximum) holders.push(await holdBody());
      // One more is refused only when each of them was admitted.
      const last = await holdBody();
      await eventually(() => [...holders, last].some(hasResponse), 30_000);
      for (const { socket } of [...holders, last]) socket.destroy();
      return last.text.includes('HTTP/1.1 503 ') && !holders.some(hasResponse);
    }, 30_000);
    sockets.length = 0;
  }

  it('use no more memory than their budget, and get 503 beyond it while commits continue', async () => {
    const subscription = { owning_application: 'shop', event_types: ['shop.orders'], read_from: 'begin' };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const stream = await openStream(service.url, String(body['id']), '?batch_flush_timeout=1');
    const started = await residentBytes();
    const half = Buffer.alloc(bodyBytesMaximum / 2, 0x20);
    const admitted = largeBytesMaximum / bodyBytesMaximum;
    const all: Unfinished[] = [];
    while (all.length < 250) all.push(await begin(`Content-Length: ${bodyBytesMaximum}`, half));
    await eventually(() => all.filter(hasResponse).length === 250 - admitted, 30_000);
    for (const { text } of all.filter(hasResponse)) {
      expect(text)
        .to.match(/HTTP\/1.1 503 [^]*Retry-After: 1\r\n/)
        .and.to.include('"title":"Service Unavailable"');
    }
    expect((await residentBytes()) - started).to.be.lessThan(largeBytesMaximum + besidesBytes);
    expect(await refusedBodies('large')).to.equal(250 - admitted);
    expect((await publish(smallBodyBytes)).status).to.equal(200);
    expect((await publish(smallBodyBytes + 1)).status).to.equal(503);
    expect(await refusedBodies('large')).to.equal(250 - admitted + 1);
    await stream.until((batches) => batches.some(({ events }) => events !== undefined));
    const cursor = stream.batches.find(({ events }) => events !== undefined)?.cursor;
    if (cursor === undefined) throw new Error('There is no cursor');
    expect((await stream.commit([cursor])).status).to.equal(204);
    expect((await call(`${service.url}/health`, 'GET')).status).to.equal(200);
    stream.close();
    await endAll();
  });

  it('are counted as they arrive when their length is not declared', async () => {
    const chunk = (bytes: number): Buffer => Buffer.from(`${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`);
    const admitted = largeBytesMaximum / bodyBytesMaximum;
    for (let number = 0; number < admitted; number += 1) {
      await begin('Transfer-Encoding: chunked', chunk(bodyBytesMaximum - smallBodyBytes));
    }
    // The rest has space for a part of the last one.
    const last = await begin('Transfer-Encoding: chunked', chunk(mebibyte));
    for (let number = 1; number < 8; number += 1) last.socket.write(chunk(mebibyte));
    await eventually(() => hasResponse(last), 30_000);
    expect(last.text).to.match(/HTTP\/1.1 503 [^]*Retry-After/);
    await endAll();
  });

  it('are counted by their unpacked size', async () => {
    // Everything except the space for the sent bytes, so that only the decompressed ones can be too much.
    const packed = gzipSync(Buffer.from(`[{}]${' '.repeat(bodyBytesMaximum - 4)}`));
    const free = bodyBytesMaximum - mebibyte;
    for (let taken = 0; taken + bodyBytesMaximum <= largeBytesMaximum - free; taken += bodyBytesMaximum) {
      await begin(`Content-Length: ${bodyBytesMaximum}`, Buffer.alloc(1));
    }
    await begin(`Content-Length: ${bodyBytesMaximum - free}`, Buffer.alloc(1));
    const send = (body: Buffer): Promise<Response> =>
      fetch(`${service.url}/event-types/shop.orders/events`, {
        method: 'POST',
        headers: { 'Content-Encoding': 'gzip' },
        body,
      });
    expect((await send(packed)).status).to.equal(503);
    expect((await send(gzipSync('[{}]'))).status).to.equal(200);
    await endAll();
    expect((await send(packed)).status).to.equal(200);
  });

  it('of small requests have a separate limit', async () => {
    const lines = `Content-Length: ${smallBodyBytes}`;
    for (let number = 0; number < smallBytesMaximum / smallBodyBytes; number += 1) await begin(lines, Buffer.alloc(1));
    expect(await refusedBodies('small')).to.equal(0);
    expect((await publish(10)).status).to.equal(503);
    // In lending, in the error format of lending.
    const loan = await call(`${service.url}/loans`, 'POST', { loanAmount: 1 });
    expect([loan.status, loan.headers.get('retry-after')]).to.deep.equal([503, '1']);
    expect(loan.body).to.have.nested.property('errors[0].errorReason', 'SERVICE_UNAVAILABLE');
    expect(await refusedBodies('small')).to.equal(2);
    expect((await publish(smallBodyBytes + 1)).status).to.equal(200);
    await endAll();
    expect((await publish(10)).status).to.equal(200);
  });

  it('of one connection have their own limit', async () => {
    const command = '{"productTypeKey":"none","loanAmount":1}';
    const waiting = `POST /loans HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=8\r\nContent-Length: ${command.length}\r\n\r\n${command}`;
    const whole = Buffer.from(`${head(`Content-Length: ${bodyBytesMaximum}`)}[{}]${' '.repeat(bodyBytesMaximum - 4)}`);
    const last = Buffer.from(head('Connection: close\r\nContent-Length: 4') + '[{}]');
    // The command needs some bytes as well: one body less than would fit without it.
    const fitting = Math.floor((connectionBytesMaximum - command.length) / bodyBytesMaximum);
    const bodies = Array.from({ length: fitting + 1 }, () => whole);
    const socket = await beginRequest(service.url, Buffer.concat([Buffer.from(waiting), ...bodies, last]));
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, 'close');
    const statuses = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map((match) => Number(match[1]));
    expect(statuses).to.deep.equal([202, ...Array.from({ length: fitting }, () => 200), 503, 200]);
  });
});
