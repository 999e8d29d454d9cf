import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { bodyBudgetDefault } from '../../src/http/bodies-in-flight.ts';
import { bodyBytesMaximum } from '../../src/http/body.ts';
import { call, openStream } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { beginRequest } from '../support/raw-request.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/service.ts';

const mebibyte = 1024 * 1024;
const { largeBytesMaximum, smallBodyBytes, smallBytesMaximum, connectionBytesMaximum } = bodyBudgetDefault;

/** How much more than the budget a process may take for what it does besides: sockets, garbage, its own heap. Bytes. */
const besidesBytes = 400 * mebibyte;

const eventType = {
  name: 'shop.orders',
  owning_application: 'shop',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{}' },
};

describe('bodies that are under way', function () {
  this.timeout(120_000);
  let folder: string;
  let service: Service;
  const sockets: Socket[] = [];

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder);
    expect((await call(`${service.url}/event-types`, 'POST', eventType)).status).to.equal(201);
  });

  after(async () => {
    for (const socket of sockets) socket.destroy();
    await service.stop();
    await removeFolder(folder);
  });

  const head = (lines: string): string =>
    `POST /event-types/shop.orders/events HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n`;

  /** Sends the beginning of a request whose end never comes. */
  async function begin(lines: string, sent: Buffer): Promise<Socket> {
    const socket = await beginRequest(service.url, Buffer.concat([Buffer.from(head(lines)), sent]));
    sockets.push(socket);
    return socket;
  }

  function residentBytes(): number {
    const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  const publish = (bytes: number): Promise<{ status: number }> =>
    call(`${service.url}/event-types/shop.orders/events`, 'POST', `[{}]${' '.repeat(bytes - 4)}`);

  async function endAll(): Promise<void> {
    for (const socket of sockets.splice(0)) socket.destroy();
    // All of the budget can be had again: as many bodies as it has room for, at once.
    const rest = Buffer.alloc(bodyBytesMaximum - 1, 0x20);
    await eventually(async () => {
      const holders: Socket[] = [];
      for (let bytes = 0; bytes < largeBytesMaximum; bytes += bodyBytesMaximum) {
        holders.push(await begin(`Content-Length: ${bodyBytesMaximum}`, Buffer.alloc(1, 0x20)));
      }
      const answers = holders.map((holder) => {
        holder.write(rest);
        return once(holder, 'data') as Promise<[Buffer]>;
      });
      const texts = await Promise.all(answers);
      for (const holder of holders) holder.destroy();
      return texts.every(([text]) => text.toString().startsWith('HTTP/1.1 400 '));
    }, 30_000);
    sockets.length = 0;
  }

  it('take no more memory than their budget, and are refused with 503 beyond it while commits go on', async () => {
    const subscription = { owning_application: 'shop', event_types: ['shop.orders'], read_from: 'begin' };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const stream = await openStream(service.url, String(body['id']), '?batch_flush_timeout=1');
    const started = residentBytes();
    const half = Buffer.alloc(bodyBytesMaximum / 2, 0x20);
    const refused: string[] = [];
    const admitted = largeBytesMaximum / bodyBytesMaximum;
    for (let number = 0; number < 250; number += 1) {
      const socket = await begin(`Content-Length: ${bodyBytesMaximum}`, half);
      socket.once('data', (answer: Buffer) => refused.push(answer.toString()));
    }
    await eventually(() => refused.length === 250 - admitted, 30_000);
    for (const answer of refused) {
      expect(answer)
        .to.match(/^HTTP\/1.1 503 [^]*Retry-After: 1\r\n/)
        .and.to.include('"title":"Service Unavailable"');
    }
    expect(residentBytes() - started).to.be.lessThan(largeBytesMaximum + besidesBytes);
    expect((await publish(smallBodyBytes)).status).to.equal(200);
    expect((await publish(smallBodyBytes + 1)).status).to.equal(503);
    await stream.until((batches) => batches.some(({ events }) => events !== undefined));
    const cursor = stream.batches.find(({ events }) => events !== undefined)?.cursor;
    if (cursor === undefined) throw new Error('There is no cursor');
    expect((await stream.commit([cursor])).status).to.equal(204);
    expect((await call(`${service.url}/health`, 'GET')).status).to.equal(200);
    stream.close();
    await endAll();
  });

  it('count as they come when nobody says how long they are', async () => {
    const chunk = (bytes: number): Buffer => Buffer.from(`${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`);
    const admitted = largeBytesMaximum / bodyBytesMaximum;
    for (let number = 0; number < admitted; number += 1) {
      await begin('Transfer-Encoding: chunked', chunk(bodyBytesMaximum - smallBodyBytes));
    }
    // What is left has room for some of the last one.
    const last = await begin('Transfer-Encoding: chunked', chunk(mebibyte));
    for (let number = 1; number < 8 && last.readableLength === 0; number += 1) last.write(chunk(mebibyte));
    const [answer] = (await once(last, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1.1 503 [^]*Retry-After/);
    await endAll();
  });

  it('count what they unpack to', async () => {
    // All but the room for what is sent, so that only what comes out can be too much.
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
    await eventually(async () => (await send(packed)).status === 503);
    expect((await send(gzipSync('[{}]'))).status).to.equal(200);
    await endAll();
    expect((await send(packed)).status).to.equal(200);
  });

  it('of small requests have a limit too', async () => {
    const lines = `Content-Length: ${smallBodyBytes}`;
    for (let number = 0; number < smallBytesMaximum / smallBodyBytes; number += 1) await begin(lines, Buffer.alloc(1));
    await eventually(async () => (await publish(10)).status === 503);
    expect((await publish(smallBodyBytes + 1)).status).to.equal(200);
    await endAll();
    expect((await publish(10)).status).to.equal(200);
  });

  it('of one connection have a limit of their own', async () => {
    const ownFolder = await temporaryFolder();
    // Without a worker a command is not decided, and what comes behind it on the connection is not answered before it.
    const serving = await startService(ownFolder, { ROLES: 'serve' });
    await call(`${serving.url}/event-types`, 'POST', eventType);
    const command = '{"productTypeKey":"none","loanAmount":1}';
    const waiting = `POST /loans HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=4\r\nContent-Length: ${command.length}\r\n\r\n${command}`;
    const whole = Buffer.from(`${head(`Content-Length: ${bodyBytesMaximum}`)}[{}]${' '.repeat(bodyBytesMaximum - 4)}`);
    const last = Buffer.from(head('Connection: close\r\nContent-Length: 4') + '[{}]');
    // The command takes some bytes as well: one body less than would fit without it.
    const fitting = Math.floor((connectionBytesMaximum - command.length) / bodyBytesMaximum);
    const bodies = Array.from({ length: fitting + 1 }, () => whole);
    const socket = await beginRequest(serving.url, Buffer.concat([Buffer.from(waiting), ...bodies, last]));
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, 'close');
    const statuses = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map((match) => Number(match[1]));
    expect(statuses).to.deep.equal([202, ...Array.from({ length: fitting }, () => 200), 503, 200]);
    await serving.stop();
    await removeFolder(ownFolder);
  });
});
