import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import { createDeadLettersRouter } from '../../../src/http/streaming/dead-letters.ts';
import { EventPages } from '../../../src/http/streaming/finding/event-pages.ts';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';
import { readAll } from '../../support/log-reading.ts';
import { serve, type Served } from '../../support/subscription-store.ts';

interface Letters {
  readonly items: readonly { readonly id: string; readonly dealt_with: { readonly note: string } | null }[];
}

describe('/dead-letters', () => {
  let server: StreamServer;
  let served: Served;
  let commands: string;
  let letters: string;
  const mebibyte = 1024 * 1024;

  before(async () => {
    server = await startStreamServer();
    const { log, registry } = server;
    commands = await server.defineEventType(2);
    letters = await server.defineEventType(2);
    const events = await server.defineEventType(1);
    served = await serve([
      createDeadLettersRouter({
        log,
        registry,
        clock: systemClock,
        topics: {
          commands: { name: letters, partitionCount: 2 },
          subscriptions: { name: events, partitionCount: 1 },
        },
        commandsTopic: commands,
        pages: new EventPages({ log, clock: systemClock }),
      }),
    ]);
    await server.append(commands, 1, [{ key: 'A-1', value: Buffer.from('{"bad": 1.10}') }]);
    await server.append(letters, 1, [
      letter(0, Buffer.from('{"bad": 1.10}')),
      letter(0, null),
      letter(7, Buffer.alloc(mebibyte, 'a')),
    ]);
    await server.append(events, 0, [{ key: null, value: Buffer.from('{"subscription_id":"s"}') }]);
  });

  after(async () => {
    await served.close();
    await server.stop();
  });

  /** As the worker writes it. */
  function letter(offset: number, value: Buffer | null): LogRecord {
    const fields = { reason: 'unreadable', commandId: null, topic: commands, partition: 1, offset };
    return { key: 'A-1', value: Buffer.from(JSON.stringify({ ...fields, value: value?.toString('base64') ?? null })) };
  }

  const request = (path: string, method = 'GET', body?: unknown): Promise<HttpResponse> =>
    call(`${served.url}/dead-letters/${path}`, method, body);
  const list = async (path: string): Promise<Letters['items']> => {
    const { status, text } = await request(path);
    expect(status, text).to.equal(200);
    return (JSON.parse(text) as Letters).items;
  };
  const idsOf = async (path: string): Promise<string[]> => (await list(path)).map(({ id }) => id);

  it('lists letters, the newest first', async () => {
    expect(await idsOf('commands')).to.deep.equal(['1-2', '1-1', '1-0']);
    expect(await idsOf('commands?limit=1')).to.deep.equal(['1-2']);
    expect(await idsOf('subscriptions')).to.deep.equal(['0-0']);
  });

  it('marks a letter as dealt with, and as open again', async () => {
    expect((await request('subscriptions/0-0', 'PUT', { note: 'repaired' })).status).to.equal(204);
    expect((await list('subscriptions'))[0]?.dealt_with).to.deep.include({ note: 'repaired' });
    expect(await idsOf('subscriptions?open=true')).to.deep.equal([]);
    expect((await request('subscriptions/0-0', 'PUT', { dealt_with: false })).status).to.equal(204);
    expect(await idsOf('subscriptions?open=true')).to.deep.equal(['0-0']);
  });

  it('sends a command again, byte for byte to its partition, and marks its letter', async () => {
    const sent = await request('commands/1-0/deliveries', 'POST');
    expect(sent.status, sent.text).to.equal(200);
    expect(sent.body).to.deep.equal({ event_type: commands, partition: '1', offset: '001-0001-000000000000000001' });
    const stored = await readAll(server.log, { topic: commands, partition: 1 });
    expect(stored.map(({ key, value }) => [key, String(value)])).to.deep.equal([
      ['A-1', '{"bad": 1.10}'],
      ['A-1', '{"bad": 1.10}'],
    ]);
    expect(await idsOf('commands?open=true')).to.deep.equal(['1-2', '1-1']);
    expect((await list('commands')).at(-1)?.dealt_with).to.deep.include({ note: 'sent again' });
  });

  it('refuses to send what is not held as a whole, and events of subscriptions', async () => {
    expect((await request('commands/1-1/deliveries', 'POST')).status, 'without a value').to.equal(422);
    expect((await request('commands/1-2/deliveries', 'POST')).status, 'cut off').to.equal(422);
    expect((await request('subscriptions/0-0/deliveries', 'POST')).status).to.equal(422);
  });

  it('is 404 for unknown letters and queues, and 400 for bodies of another form', async () => {
    for (const [path, method, body, status] of [
      ['others', 'GET', undefined, 404],
      ['commands/1-3', 'PUT', {}, 404],
      ['commands/2-0', 'PUT', {}, 404],
      ['commands/x', 'PUT', {}, 404],
      ['commands/1-3/deliveries', 'POST', undefined, 404],
      ['commands/1-0', 'PUT', { dealt_with: 'yes' }, 400],
      ['commands/1-0', 'PUT', { note: 5 }, 400],
      ['commands', 'DELETE', undefined, 405],
      ['commands/1-0', 'DELETE', undefined, 405],
      ['commands/1-0/deliveries', 'GET', undefined, 405],
    ] as const) {
      expect((await request(path, method, body)).status, `${method} ${path}`).to.equal(status);
    }
  });
});
