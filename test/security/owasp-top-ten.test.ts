import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKey } from '../support/access/created-key.ts';
import { clusterUnderTest } from '../support/backend-under-test.ts';
import { eventTypeBody, exampleMetadata } from '../support/broker-on-embedded-log.ts';
import { call, type HttpResponse } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';

/** One test for each risk of the OWASP API Security Top 10 of 2023, against the whole service. */
describe('the OWASP API Security Top 10', function () {
  this.timeout(60_000);
  let folder: string;
  let service: Service;
  const keys = new Map<string, string>();
  const [shopType, bankType] = [`shop-${process.pid}`, `bank-${process.pid}`];
  let bankSubscription: string;

  const send = (
    key: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse> =>
    call(`${service.url}${path}`, method, body, { apikey: key, Prefer: 'wait=0', ...headers });

  const keyOf = (holder: string): string => keys.get(holder) ?? '';

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder, { API_KEYS: administrator, ROLES: 'serve', ...clusterUnderTest() });
    const wanted: [holder: string, application: string, scopes: readonly string[], limits: object][] = [
      ['shop', 'shop', ['consumer', 'producer'], {}],
      ['bank', 'bank', ['consumer', 'producer'], {}],
      ['officer', 'branch', ['officer'], {}],
      ['producer', 'shop', ['events:publish'], {}],
      ['manager', 'shop', ['keys:manage', 'consumer'], {}],
      ['slow', 'shop', ['consumer'], { requests_per_second: 2 }],
    ];
    for (const [holder, owning_application, scopes, limits] of wanted) {
      const name = `owasp-${holder}-${process.pid}`;
      const { key } = await createKey(service.url, administrator, { name, owning_application, scopes, limits });
      keys.set(holder, key);
    }
    const owned = (application: string): object[] => [{ data_type: 'application', value: application }];
    for (const [name, application] of [
      [shopType, 'shop'],
      [bankType, 'bank'],
    ] as const) {
      const [readers, writers, admins] = [owned(application), owned(application), owned(application)];
      const definition = { ...eventTypeBody(name), owning_application: application };
      const authorized = { ...definition, authorization: { readers, writers, admins } };
      const { status, text } = await send(administrator, 'POST', '/event-types', authorized);
      expect(status, text).to.equal(201);
    }
    const identity = { owning_application: 'bank', event_types: [bankType] };
    bankSubscription = String((await send(keyOf('bank'), 'POST', '/subscriptions', identity)).body['id']);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('API1, object level authorization: objects of another application are unknown, whatever is done with them', async () => {
    const id = bankSubscription;
    const requests: [method: string, path: string, body?: unknown][] = [
      ['GET', `/subscriptions/${id}`],
      ['DELETE', `/subscriptions/${id}`],
      ['GET', `/subscriptions/${id}/events`],
      ['GET', `/subscriptions/${id}/cursors`],
      ['POST', `/subscriptions/${id}/cursors`, { items: [] }],
      ['PATCH', `/subscriptions/${id}/cursors`, { items: [] }],
      ['GET', `/subscriptions/${id}/stats`],
      ['GET', `/api/v1/subscriptions/${id}/events`],
      ['DELETE', `/api/v1/subscriptions/${id}`],
      ['GET', `/event-types/${bankType}`],
      ['GET', `/event-types/${bankType}/events`],
      ['GET', `/event-types/${bankType}/retained-events`],
      ['POST', `/event-types/${bankType}/events`, []],
      ['DELETE', `/event-types/${bankType}`],
    ];
    for (const [method, path, body] of requests) {
      expect((await send(keyOf('shop'), method, path, body)).status, `${method} ${path}`).to.equal(404);
    }
    expect((await send(keyOf('bank'), 'GET', `/subscriptions/${id}`)).status).to.equal(200);
  });

  it('API2, authentication: every form of a wrong key is refused before the body is read', async () => {
    const key = keyOf('shop');
    for (const wrong of ['', 'x', key.slice(0, -1), `${key}A`, key.toUpperCase(), `lendstream_${'A'.repeat(43)}`]) {
      expect((await send(wrong, 'POST', '/subscriptions', '{')).status, wrong).to.equal(401);
    }
  });

  it('API3, property level: what a client may not choose is not taken from its body', async () => {
    const name = `chosen-${process.pid}`;
    const body = { name, owning_application: 'shop', scopes: ['consumer'] };
    const chosen = { created_by: 'root', key: 'chosen', digest: 'x', last_used_at: '2026-01-01T00:00:00Z' };
    const created = await send(keyOf('manager'), 'POST', '/api-keys', { ...body, ...chosen });
    expect([created.status, created.body['created_by'], created.body['last_used_at']]).to.deep.equal([
      201,
      `owasp-manager-${process.pid}`,
      null,
    ]);
    expect(created.text).to.not.contain('digest').and.not.to.contain('chosen"');
    const event = { metadata: { ...exampleMetadata(), published_by: 'root', version: '9' } };
    await send(keyOf('shop'), 'POST', `/event-types/${shopType}/events`, [event]);
    const stored = await send(keyOf('shop'), 'GET', `/event-types/${shopType}/retained-events`);
    expect(stored.text).to.not.contain('"published_by":"root"');
  });

  it('API3, property level: of subscriptions of others, an event type tells that there are some, and not how many', async () => {
    const name = `open-${process.pid}`;
    const definition = { ...eventTypeBody(name), owning_application: 'shop' };
    expect((await send(keyOf('shop'), 'POST', '/event-types', definition)).status).to.equal(201);
    for (const [application, group] of [
      ['bank', 'one'],
      ['bank', 'two'],
      ['shop', 'own'],
    ] as const) {
      const identity = { owning_application: application, event_types: [name], consumer_group: group };
      expect((await send(keyOf(application), 'POST', '/subscriptions', identity)).status).to.equal(201);
    }
    const refusal = async (key: string): Promise<unknown[]> => {
      const { status, body } = await send(key, 'DELETE', `/event-types/${name}`);
      const groups = (body['subscriptions'] as { consumer_group: string }[]).map((each) => each.consumer_group);
      return [status, groups.toSorted(), body['subscriptions_total'], body['other_subscriptions']];
    };
    const listed = async (key: string): Promise<unknown> => {
      const { body } = await send(key, 'GET', `/event-types?show_lag=true&limit=100&q=${name}`);
      const [item] = body as unknown as { readonly lag: { readonly subscriptions: number } }[];
      return item?.lag.subscriptions;
    };
    expect(await refusal(keyOf('shop'))).to.deep.equal([409, ['own'], 1, true]);
    expect(await refusal(administrator)).to.deep.equal([409, ['one', 'own', 'two'], 3, undefined]);
    expect([await listed(keyOf('shop')), await listed(administrator)]).to.deep.equal([1, 3]);
    const { body } = await send(keyOf('shop'), 'GET', `/event-types/${name}/consumers`);
    const [own] = body['items'] as { readonly subscription_id: string }[];
    await send(keyOf('shop'), 'DELETE', `/subscriptions/${own?.subscription_id ?? ''}`);
    expect(await refusal(keyOf('shop'))).to.deep.equal([409, [], 0, true]);
  });

  it('API4, resource consumption: a key is refused beyond its limits, with the time to wait', async () => {
    const responses = await Promise.all(Array.from({ length: 8 }, () => send(keyOf('slow'), 'GET', '/subscriptions')));
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused.length).to.be.at.least(4);
    expect(refused[0]?.headers.get('retry-after')).to.equal('1');
    const large = await send(keyOf('shop'), 'POST', `/event-types/${shopType}/events`, 'x'.repeat(8 * 1024 * 1024 + 1));
    expect(large.status).to.equal(413);
  });

  it('API5, function level: nothing of administrators is open to other roles', async () => {
    const requests: [method: string, path: string, body?: unknown][] = [
      ['GET', '/api-keys'],
      ['POST', '/api-keys', {}],
      ['DELETE', '/api-keys/x'],
      ['PUT', '/settings/blacklist/CONSUMER_ET/x'],
      ['POST', '/settings/features', {}],
      ['GET', '/metrics'],
      ['GET', '/overview'],
    ];
    for (const [method, path, body] of requests) {
      for (const holder of ['shop', 'officer', 'producer']) {
        expect((await send(keyOf(holder), method, path, body)).status, `${holder} ${method} ${path}`).to.equal(403);
      }
    }
    const more = { name: `more-${process.pid}`, owning_application: 'shop', scopes: ['admin'] };
    expect((await send(keyOf('manager'), 'POST', '/api-keys', more)).status).to.equal(403);
  });

  it('API6, business flows: an officer sends commands and no events, a publisher events and no commands', async () => {
    const repay = (key: string): Promise<HttpResponse> =>
      send(key, 'POST', '/loans/unknown/repayment-transactions', { amount: 1 });
    const publish = (key: string): Promise<HttpResponse> =>
      send(key, 'POST', `/event-types/${shopType}/events`, [{ metadata: exampleMetadata() }]);
    const statuses = [keyOf('officer'), keyOf('producer')].flatMap((key) => [repay(key), publish(key)]);
    expect((await Promise.all(statuses)).map(({ status }) => status)).to.deep.equal([202, 403, 403, 200]);
    const command = { metadata: exampleMetadata(), type: 'REPAY', loanAccountId: 'unknown', payload: { amount: 1 } };
    const path = '/event-types/lendstream.loan-commands/events';
    expect((await send(keyOf('producer'), 'POST', path, [command])).status).to.equal(403);
  });

  it('API7, server side request forgery: no address in a request is ever called', async () => {
    let calls = 0;
    const listener: Server = createServer((_request, response) => {
      calls += 1;
      response.end('{}');
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/schema.json`;
    for (const schema of [{ $ref: url }, { $id: url, $ref: 'other.json' }, { $schema: url }]) {
      const definition = { ...eventTypeBody(`forged-${process.pid}`), owning_application: 'shop' };
      const body = { ...definition, schema: { type: 'json_schema', schema: JSON.stringify(schema) } };
      expect((await send(keyOf('shop'), 'POST', '/event-types', body)).status).to.be.within(200, 422);
      await send(keyOf('shop'), 'DELETE', `/event-types/forged-${process.pid}`);
    }
    await send(keyOf('shop'), 'GET', '/event-types', undefined, { 'X-Forwarded-Host': url, Referer: url });
    listener.close();
    expect(calls).to.equal(0);
  });

  it('API8, misconfiguration: headers are strict, other origins get nothing, errors tell nothing of the inside', async () => {
    const { headers } = await send(keyOf('shop'), 'GET', '/event-types');
    expect([
      headers.get('x-content-type-options'),
      headers.get('cache-control'),
      headers.get('x-powered-by'),
    ]).to.deep.equal(['nosniff', 'no-store', null]);
    const origin = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    const foreign = await send(keyOf('shop'), 'GET', '/event-types', undefined, origin);
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).to.deep.equal([403, null]);
    // No row of the table of operations allows it.
    expect((await send(keyOf('shop'), 'TRACE', '/event-types')).status).to.equal(403);
    expect((await send(keyOf('shop'), 'GET', '/event-types/%')).text).to.not.match(/node_modules|\.ts:|\.js:/);
  });

  it('API9, inventory: what the table of operations does not have is refused', async () => {
    for (const path of [
      '/storages',
      '/event-types/x/timelines',
      '/admin-api',
      '/api/v2/loans',
      '/debug',
      '/.git/config',
    ]) {
      expect((await send(keyOf('shop'), 'GET', path)).status, path).to.equal(403);
    }
  });

  it('API10, consumption of what others sent: repeated keys and broken text are never stored', async () => {
    const metadata = JSON.stringify(exampleMetadata());
    const bodies = [
      `[{"metadata":${metadata},"a":1,"a":2}]`,
      `[{"metadata":${metadata},"d":{"n":1,"n":2}}]`,
      `[{"metadata":${metadata}}`,
    ];
    for (const body of bodies) {
      const { status } = await send(keyOf('shop'), 'POST', `/event-types/${shopType}/events`, body);
      expect(status, body).to.be.within(400, 422);
    }
  });
});
