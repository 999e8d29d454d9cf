import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import type { Socket } from 'node:net';
import { bodyBytesMaximum } from '../../../../src/http/edge/request-body.ts';
import { createKey } from '../../../support/access/created-key.ts';
import { eventTypeBody } from '../../../support/broker-on-embedded-log.ts';
import { eventually } from '../../../support/eventually.ts';
import { call } from '../../../support/http/client.ts';
import { beginRequest } from '../../../support/http/raw-request.ts';
import { startServiceHere, type ServiceHere } from '../../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';

describe('a client that waits to be asked for its body', function () {
  this.timeout(60_000);
  let folder: string;
  let service: ServiceHere;
  let consumer: string;
  let slow: string;
  const sockets: Socket[] = [];

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { API_KEYS: administrator, ROLES: 'serve' });
    const headers = { apikey: administrator };
    const created = await call(`${service.url}/event-types`, 'POST', eventTypeBody('expected'), headers);
    expect(created.status, created.text).to.equal(201);
    const keyOf = async (name: string, limits: object): Promise<string> => {
      const wanted = { name, owning_application: 'shop', scopes: ['consumer'], limits };
      return (await createKey(service.url, administrator, wanted)).key;
    };
    consumer = await keyOf('consumer', {});
    slow = await keyOf('slow', { requests_per_second: 1 });
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  interface Waiting {
    readonly socket: Socket;
    text: string;
    isEnded: boolean;
  }

  async function ask(method: string, path: string, ...lines: readonly string[]): Promise<Waiting> {
    const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Expect: 100-continue', ...lines, '', ''];
    const socket = await beginRequest(service.url, head.join('\r\n'));
    sockets.push(socket);
    const waiting: Waiting = { socket, text: '', isEnded: false };
    socket.on('data', (chunk: Buffer) => (waiting.text += chunk.toString()));
    socket.on('end', () => (waiting.isEnded = true));
    return waiting;
  }

  const events = '/event-types/expected/events';

  it('is asked once, and answered when it has sent it, on a connection that goes on', async () => {
    const waiting = await ask('POST', events, `apikey: ${administrator}`, 'Content-Length: 2');
    await eventually(() => waiting.text === 'HTTP/1.1 100 Continue\r\n\r\n');
    waiting.socket.write('[]');
    await eventually(() => waiting.text.includes('HTTP/1.1 200 '));
    expect(waiting.text).to.contain('\r\nConnection: keep-alive\r\n');
    expect(waiting.text.split('100 Continue')).to.have.length(2);
  });

  it('is asked by what takes a body and does not use it', async () => {
    const path = '/subscriptions/00000000-0000-0000-0000-000000000000';
    const waiting = await ask('DELETE', path, `apikey: ${administrator}`, 'Content-Length: 2');
    await eventually(() => waiting.text === 'HTTP/1.1 100 Continue\r\n\r\n');
    waiting.socket.write('{}');
    await eventually(() => waiting.text.includes('HTTP/1.1 404 '));
  });

  it('gets a refusal in place of the question, and a connection that is closed', async () => {
    const unsent = `Content-Length: ${bodyBytesMaximum}`;
    const refused: [status: number, path: string, ...lines: string[]][] = [
      [401, events, unsent],
      [401, events, 'apikey: unknown', unsent],
      [403, events, `apikey: ${consumer}`, unsent],
      [404, '/nowhere', `apikey: ${administrator}`, unsent],
      [405, '/overview', `apikey: ${administrator}`, unsent],
      [413, events, `apikey: ${administrator}`, `Content-Length: ${bodyBytesMaximum + 1}`],
      [413, '/loans', `apikey: ${administrator}`, `Content-Length: ${256 * 1024 + 1}`],
    ];
    for (const [status, path, ...lines] of refused) {
      const waiting = await ask('POST', path, ...lines);
      await eventually(() => waiting.isEnded);
      expect(waiting.text, path).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      expect(waiting.text).to.contain('\r\nConnection: close\r\n');
    }
  });

  it('gets 429 in place of the question', async () => {
    const statuses: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const waiting = await ask('POST', events, `apikey: ${slow}`, 'Content-Length: 2');
      await eventually(() => waiting.isEnded);
      statuses.push(waiting.text.slice(0, 12));
    }
    expect(statuses).to.include('HTTP/1.1 429');
    expect(statuses).to.not.include('HTTP/1.1 100');
  });

  it('is asked for one of the largest size, and refused with the byte beyond when it does not say how long it is', async () => {
    const whole = await ask('POST', events, `apikey: ${administrator}`, `Content-Length: ${bodyBytesMaximum}`);
    await eventually(() => whole.text.startsWith('HTTP/1.1 100 '));
    const chunked = await ask('POST', events, `apikey: ${administrator}`, 'Transfer-Encoding: chunked');
    await eventually(() => chunked.text.startsWith('HTTP/1.1 100 '));
    chunked.socket.write(`${(bodyBytesMaximum + 1).toString(16)}\r\n`);
    chunked.socket.write(Buffer.alloc(bodyBytesMaximum + 1, 32));
    await eventually(() => chunked.text.includes('HTTP/1.1 413 '));
  });
});
