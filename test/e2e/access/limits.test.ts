import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { request, type ClientRequest } from 'node:http';
import { createKey } from '../../support/access/created-key.ts';
import { clusterUnderTest } from '../../support/backend-under-test.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';

describe('limits of keys and addresses', function () {
  this.timeout(60_000);
  let folder: string;
  let service: Service;
  let names = 0;

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder, {
      API_KEYS: administrator,
      ROLES: 'serve',
      // The tests send more requests without a key than a client does.
      ADDRESS_REQUESTS_PER_SECOND: '1000',
      FAILED_LOGINS_PER_MINUTE: '4',
      KEY_EVENT_TYPES: '3',
      TRUSTED_PROXIES: '127.0.0.1',
      ...clusterUnderTest(),
    });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const send = (
    key: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse> => call(`${service.url}${path}`, method, body, { apikey: key, ...headers });

  /** A new key with limits of its own, whose application has the same name. */
  async function keyWith(limits: object, scopes: readonly string[] = ['consumer', 'producer']): Promise<string> {
    names += 1;
    const wanted = { name: nameOfLastKey(), owning_application: nameOfLastKey(), scopes, limits };
    const created = await createKey(service.url, administrator, wanted);
    expect(created['limits']).to.deep.equal(limits);
    return created.key;
  }

  const nameOfLastKey = (): string => `limited-${process.pid}-${names}`;

  async function eventTypeOf(application: string): Promise<string> {
    names += 1;
    const name = `limits-${process.pid}-${names}`;
    const definition = { ...eventTypeBody(name), owning_application: application };
    const { status, text } = await send(administrator, 'POST', '/event-types', definition);
    expect(status, text).to.equal(201);
    return name;
  }

  function expectTooMany({ status, headers, body }: HttpResponse, limit: string): void {
    expect([status, body['code'], headers.get('content-type')]).to.deep.equal([
      429,
      'TOO_MANY_REQUESTS',
      'application/problem+json',
    ]);
    expect(Number(headers.get('retry-after'))).to.be.at.least(1);
    expect(headers.get('ratelimit-policy')).to.contain(`"${limit}";q=`);
    expect(headers.get('ratelimit')).to.match(/^"\w+";r=0;t=\d+$/);
  }

  it('refuse the request after the last one that a key may send in a second, and probes never', async () => {
    const key = await keyWith({ requests_per_second: 3 });
    const responses = await Promise.all(Array.from({ length: 12 }, () => send(key, 'GET', '/subscriptions')));
    const refused = responses.filter(({ status }) => status === 429);
    // The time that the requests take may give some more.
    expect(refused.length).to.be.within(6, 9);
    expectTooMany(refused[0] as HttpResponse, 'requests_per_second');
    const probes = await Promise.all(Array.from({ length: 12 }, () => send(key, 'GET', '/health')));
    expect(probes.every(({ status }) => status === 200)).to.equal(true);
    await eventually(async () => (await send(key, 'GET', '/subscriptions')).status === 200);
  });

  it('refuse requests of the lending API in its own form', async () => {
    const key = await keyWith({ requests_per_second: 1 }, ['officer']);
    const responses = await Promise.all(Array.from({ length: 6 }, () => send(key, 'GET', '/loans/unknown')));
    const refused = responses.find(({ status }) => status === 429);
    const [error] = (refused?.body['errors'] ?? []) as readonly Record<string, unknown>[];
    expect([error?.['errorCode'], error?.['errorReason']]).to.deep.equal([10_004, 'REQUEST_LIMIT_EXCEEDED']);
    expect(refused?.headers.get('retry-after')).to.equal('1');
  });

  it('refuse a body for which the key has no bytes left, and take the same one later', async () => {
    const key = await keyWith({ body_bytes_in_flight: 16 * 1024 * 1024 });
    const type = await eventTypeOf(nameOfLastKey());
    const length = 8 * 1024 * 1024;
    const held: ClientRequest[] = [];
    // Announces its length and sends nothing more. It is refused itself while another body takes some of the bytes.
    const hold = (): void => {
      const headers = { apikey: key, 'Content-Length': length };
      const sending = request(`${service.url}/event-types/${type}/events`, { method: 'POST', headers });
      sending.on('error', () => {}).on('response', hold);
      sending.flushHeaders();
      held.push(sending);
    };
    hold();
    hold();
    const events = [{ metadata: exampleMetadata() }];
    const publish = (): Promise<HttpResponse> => send(key, 'POST', `/event-types/${type}/events`, events);
    await eventually(async () => (await publish()).status === 429);
    expectTooMany(await publish(), 'body_bytes_in_flight');
    // Another key has its own bytes.
    expect((await send(administrator, 'POST', `/event-types/${type}/events`, events)).status).to.equal(200);
    for (const sending of held) sending.destroy();
    await eventually(async () => (await publish()).status === 200);
  });

  it('refuse one stream more than a key may have open, and open another when one has ended', async () => {
    const key = await keyWith({ open_streams: 2 });
    const type = await eventTypeOf(nameOfLastKey());
    const streams: AbortController[] = [];
    const open = async (path: string): Promise<HttpResponse | undefined> => {
      const closing = new AbortController();
      const url = `${service.url}${path}?batch_flush_timeout=1`;
      const response = await fetch(url, { headers: { apikey: key }, signal: closing.signal });
      if (response.status !== 200) {
        const text = await response.text();
        const body = JSON.parse(text) as Record<string, unknown>;
        return { status: response.status, headers: response.headers, text, body };
      }
      streams.push(closing);
      return undefined;
    };
    const subscription = {
      owning_application: nameOfLastKey().replace(/\d+$/, String(names - 1)),
      event_types: [type],
    };
    const id = String((await send(key, 'POST', '/subscriptions', subscription)).body['id']);
    const [one, other] = [`/subscriptions/${id}/events`, `/event-types/${type}/events`];
    expect([await open(one), await open(other)]).to.deep.equal([undefined, undefined]);
    for (const path of [one, other, `/api/v1/subscriptions/${id}/events`]) {
      const refused = await open(path);
      expect(refused, path).to.not.equal(undefined);
      expectTooMany(refused as HttpResponse, 'open_streams');
    }
    streams[0]?.abort();
    await eventually(async () => (await open(other)) === undefined);
    for (const stream of streams) stream.abort();
  });

  it('refuse one commit more than a key may send in a second', async () => {
    const key = await keyWith({ commits_per_second: 2 });
    const owning_application = nameOfLastKey();
    const type = await eventTypeOf(owning_application);
    const { body } = await send(key, 'POST', '/subscriptions', { owning_application, event_types: [type] });
    for (const path of ['/subscriptions', '/api/v1/subscriptions']) {
      const commit = (): Promise<HttpResponse> => {
        const headers = { 'X-Nakadi-StreamId': 'x', 'X-Mambu-StreamId': 'x' };
        return send(key, 'POST', `${path}/${String(body['id'])}/cursors`, { items: [] }, headers);
      };
      const sent = 40;
      const began = performance.now();
      const responses = await Promise.all(Array.from({ length: sent }, commit));
      const seconds = (performance.now() - began) / 1_000;
      const refused = responses.filter(({ status }) => status === 429);
      // The time that the commits take gives some more.
      expect(sent - refused.length, path).to.be.within(2, 2 + Math.ceil(2 * seconds));
      expectTooMany(refused[0] as HttpResponse, 'commits_per_second');
      expect((await send(key, 'GET', '/subscriptions')).status).to.equal(200);
      await eventually(async () => (await commit()).status !== 429);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  });

  it('refuse one subscription and one event type more than the application of a key may have', async () => {
    const key = await keyWith({ subscriptions: 2, event_types: 1 });
    const owning_application = nameOfLastKey();
    names += 1;
    const define = (name: string): Promise<HttpResponse> =>
      send(key, 'POST', '/event-types', { ...eventTypeBody(name), owning_application });
    const type = `limits-${process.pid}-${names}`;
    expect((await define(type)).status).to.equal(201);
    const refusedType = await define(`${type}-more`);
    expect([refusedType.status, refusedType.body['code']]).to.deep.equal([422, 'UNPROCESSABLE']);
    expect(refusedType.text).to.contain('may have 1 event types');
    const subscribe = (consumer_group: string): Promise<HttpResponse> =>
      send(key, 'POST', '/subscriptions', { owning_application, event_types: [type], consumer_group });
    expect([(await subscribe('one')).status, (await subscribe('two')).status]).to.deep.equal([201, 201]);
    const refused = await subscribe('three');
    expect([refused.status, refused.text]).to.deep.equal([422, refused.text]);
    expect(refused.text).to.contain('may have 2 subscriptions');
    // One that exists is no new one.
    expect((await subscribe('two')).status).to.equal(200);
    const { body } = await subscribe('one');
    expect((await send(key, 'DELETE', `/subscriptions/${String(body['id'])}`)).status).to.equal(204);
    expect((await subscribe('three')).status).to.equal(201);
  });

  it('hold while many are created at once', async () => {
    const key = await keyWith({ subscriptions: 2 });
    const owning_application = nameOfLastKey();
    const type = await eventTypeOf(owning_application);
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        send(key, 'POST', '/subscriptions', {
          owning_application,
          event_types: [type],
          consumer_group: `group-${index}`,
        }),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort((left, right) => left - right);
    expect(statuses).to.deep.equal([201, 201, 422, 422, 422, 422]);
  });

  it('are those of the settings for a key that names none', async () => {
    const key = await keyWith({});
    const owning_application = nameOfLastKey();
    for (const status of [201, 201, 201, 422]) {
      names += 1;
      const definition = { ...eventTypeBody(`limits-${process.pid}-${names}`), owning_application };
      expect((await send(key, 'POST', '/event-types', definition)).status).to.equal(status);
    }
  });

  it('cannot be raised by a key for another one', async () => {
    const key = await keyWith({ open_streams: 5, requests_per_second: 100 }, ['keys:manage', 'consumer']);
    const wanted = { name: `raised-${process.pid}`, owning_application: nameOfLastKey(), scopes: ['consumer'] };
    const higher = [{}, { open_streams: 6, requests_per_second: 100 }, { open_streams: 5, requests_per_second: 101 }];
    for (const limits of higher) {
      const refused = await send(key, 'POST', '/api-keys', { ...wanted, limits });
      expect([refused.status, refused.body['code']], JSON.stringify(limits)).to.deep.equal([403, 'PERMISSION_MISSING']);
    }
    const limits = { open_streams: 5, requests_per_second: 100 };
    expect((await send(key, 'POST', '/api-keys', { ...wanted, limits })).status).to.equal(201);
  });

  it('let keys take turns with large batches and long streams, and lose nothing', async () => {
    const [batches, eventsOfBatch] = [12, 60];
    const publishAndRead = async (key: string, type: string): Promise<void> => {
      const text = 'x'.repeat(400);
      await Promise.all(
        Array.from({ length: batches }, async () => {
          const events = Array.from({ length: eventsOfBatch }, () => ({ metadata: exampleMetadata(), text }));
          const { status, text: answer } = await send(key, 'POST', `/event-types/${type}/events`, events);
          expect(status, answer).to.equal(200);
        }),
      );
      const cursors = JSON.stringify([{ partition: '0', offset: 'BEGIN' }]);
      const query = `batch_limit=1&batch_flush_timeout=1&stream_limit=${batches * eventsOfBatch}`;
      const headers = { apikey: key, 'X-Nakadi-Cursors': cursors };
      const streams = Array.from({ length: 3 }, async () => {
        const response = await fetch(`${service.url}/event-types/${type}/events?${query}`, { headers });
        return (await response.text()).split('"eid"').length - 1;
      });
      expect(await Promise.all(streams)).to.deep.equal([1, 1, 1].map(() => batches * eventsOfBatch));
    };
    const clients: [key: string, type: string][] = [];
    for (let client = 0; client < 3; client += 1) {
      const key = await keyWith({});
      clients.push([key, await eventTypeOf(nameOfLastKey())]);
    }
    await Promise.all(clients.map(([key, type]) => publishAndRead(key, type)));
  });

  it('are counted by reason in the metrics', async () => {
    const counts = async (): Promise<Record<string, number>> => {
      const { text } = await send(administrator, 'GET', '/metrics', undefined, { Accept: 'text/plain' });
      const rows = text.matchAll(/^lendstream_access_refusals_total\{status="(\d+)",reason="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...rows].map(([, status, reason, count]) => [`${status} ${reason}`, Number(count)]));
    };
    const key = await keyWith({ requests_per_second: 3 });
    const before = await counts();
    await Promise.all(Array.from({ length: 8 }, () => send(key, 'GET', '/subscriptions')));
    await eventually(async () => (await send(key, 'GET', '/loans')).status === 403);
    expect((await call(`${service.url}/subscriptions`, 'GET')).status).to.equal(401);
    const from = { 'X-Forwarded-For': '192.0.2.77' };
    for (let turn = 0; turn < 5; turn += 1) await send('a-guessed-administrator', 'GET', '/loans', undefined, from);
    await call(`${service.url}/event-types/orders/events?stream_token=wrong`, 'GET', undefined, from);
    const after = await counts();
    const grown = Object.keys(after).filter((name) => (after[name] ?? 0) > (before[name] ?? 0));
    expect(grown).to.have.members([
      '401 no_credentials',
      '401 invalid_credentials',
      '403 permission',
      '429 requests_per_second',
      '429 failed_logins',
    ]);
    expect(Object.keys(before)).to.have.lengthOf(11);
  });

  const wrong: [title: string, limits: unknown, status: number][] = [
    ['that is not known', { requests_per_minute: 1 }, 422],
    ['of zero', { open_streams: 0 }, 422],
    ['that is not whole', { open_streams: 1.5 }, 422],
    ['beyond the largest', { open_streams: 1_000_001 }, 422],
    ['that is a text', { open_streams: '1' }, 400],
    ['in a list', [1], 400],
  ];
  for (const [title, limits, status] of wrong) {
    it(`refuse a limit ${title}`, async () => {
      const wanted = { name: `wrong-${process.pid}`, owning_application: 'shop', scopes: ['consumer'], limits };
      expect((await send(administrator, 'POST', '/api-keys', wanted)).status).to.equal(status);
    });
  }

  describe('of failed logins', () => {
    const from = (client: string, key: string, path = '/subscriptions'): Promise<HttpResponse> =>
      send(key, 'GET', path, undefined, { 'X-Forwarded-For': client });

    it('slow an address down, then refuse it with the time to wait, and leave others alone', async () => {
      const milliseconds: number[] = [];
      for (const status of [401, 401, 401, 401, 429]) {
        const began = performance.now();
        const response = await from('192.0.2.1', 'a-guessed-administrator');
        milliseconds.push(performance.now() - began);
        expect(response.status).to.equal(status);
        if (status === 429) expectTooMany(response, 'failed_logins');
      }
      expect(milliseconds[3]).to.be.at.least(200);
      expect((await from('192.0.2.2', 'a-guessed-administrator')).status).to.equal(401);
    });

    it('do not look at a key of the settings from an address that failed too often', async () => {
      for (let turn = 0; turn < 4; turn += 1) await from('192.0.2.3', 'a-guessed-administrator');
      expect((await from('192.0.2.3', administrator)).status).to.equal(429);
      expect((await from('192.0.2.4', administrator)).status).to.equal(200);
    });

    it('accept a key of the registry from there, which cannot be guessed', async () => {
      const key = await keyWith({});
      for (let turn = 0; turn < 5; turn += 1) await from('192.0.2.5', 'a-guessed-administrator');
      expect((await from('192.0.2.5', key)).status).to.equal(200);
    });

    it('count all addresses of one IPv6 network together', async () => {
      for (let turn = 0; turn < 4; turn += 1) {
        expect((await from(`2001:db8:1:2::${turn}`, 'a-guessed-administrator')).status).to.equal(401);
      }
      expect((await from('2001:db8:1:2:ffff::1', 'a-guessed-administrator')).status).to.equal(429);
      expect((await from('2001:db8:1:3::1', 'a-guessed-administrator')).status).to.equal(401);
    });

    it('do not count requests without any credentials', async () => {
      for (let turn = 0; turn < 10; turn += 1) {
        const response = await call(`${service.url}/loans`, 'GET', undefined, { 'X-Forwarded-For': '192.0.2.6' });
        expect(response.status).to.equal(401);
      }
    });
  });
});
