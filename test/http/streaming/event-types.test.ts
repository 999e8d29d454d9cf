import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { subscriptionsNamedMaximum } from '../../../src/http/streaming/event-types.ts';
import { eventTypeBody, serveBroker, type Broker } from '../../support/broker-on-embedded-log.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';

describe('the routes of event types', () => {
  let broker: Broker & { readonly url: string };
  beforeEach(async () => {
    broker = await serveBroker();
  });
  afterEach(() => broker.close());

  function request(method: string, path: string, body?: unknown): Promise<HttpResponse> {
    return call(`${broker.url}${path}`, method, body);
  }

  it('create, show, change, list and delete an event type', async () => {
    const created = await request('POST', '/event-types', eventTypeBody('orders.ps'));
    expect([created.status, created.text]).to.deep.equal([201, '']);

    const { body: shown } = await request('GET', '/event-types/orders.ps');
    const { created_at: createdAt, updated_at: updatedAt, schema, ...rest } = shown;
    expect(updatedAt).to.equal(createdAt);
    expect(schema).to.deep.include({ ...(eventTypeBody('orders.ps')['schema'] as object), version: '1.0.0' });
    expect(rest).to.deep.equal({
      name: 'orders.ps',
      owning_application: 'core',
      category: 'business',
      enrichment_strategies: ['metadata_enrichment'],
      partition_strategy: 'random',
      partition_key_fields: [],
      compatibility_mode: 'forward',
      cleanup_policy: 'delete',
      default_statistic: null,
      options: { retention_time: 172_800_000 },
      authorization: null,
      annotations: {},
      labels: {},
      ordering_key_fields: [],
      ordering_instance_ids: [],
    });

    const change = eventTypeBody('orders.ps', { owning_application: 'other', audience: 'external-public' });
    const changed = await request('PUT', '/event-types/orders.ps', change);
    expect([changed.status, changed.text]).to.deep.equal([200, '']);
    expect((await request('GET', '/event-types/orders.ps')).body).to.include({ audience: 'external-public' });

    expect((await request('GET', '/event-types/')).text).to.include('"name":"orders.ps"');
    expect((await request('GET', '/event-types?owning_application=other')).text).to.include('orders.ps');
    expect((await request('GET', '/event-types?owning_application=core')).text).to.equal('[]');

    const deleted = await request('DELETE', '/event-types/orders.ps');
    expect([deleted.status, deleted.text]).to.deep.equal([200, '']);
    expect((await request('GET', '/event-types/orders.ps')).body).to.deep.equal({
      title: 'Not Found',
      status: 404,
      detail: 'EventType "orders.ps" does not exist.',
      code: 'NOT_FOUND',
    });
  });

  it('list all types unless a page is requested', async () => {
    for (const name of ['a', 'b', 'c']) await request('POST', '/event-types', eventTypeBody(name));
    const names = async (query: string): Promise<string[]> => {
      const { text } = await request('GET', `/event-types${query}`);
      return (JSON.parse(text) as { name: string }[]).map(({ name }) => name);
    };
    expect(await names('')).to.deep.equal(['a', 'b', 'c']);
    expect(await names('?limit=1&offset=1')).to.deep.equal(['b']);
    for (const [query, status] of [
      ['limit=0', 400],
      ['limit=1', 200],
      ['limit=1000', 200],
      ['limit=1001', 400],
      ['offset=-1', 400],
      ['offset=3', 200],
      ['limit=', 200],
      ['limit=x', 400],
    ] as const) {
      for (const path of ['/event-types', '/event-types/a/schemas']) {
        expect((await request('GET', `${path}?${query}`)).status, `${path}?${query}`).to.equal(status);
      }
    }
    expect(await names('?offset=3')).to.deep.equal([]);
  });

  it('return a problem for invalid requests', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    await broker.eventTypes.registerSystemEventTypes(
      ['lendstream.loan-commands', 'loan_state_changed'].map((name) => ({
        name,
        schema: { type: 'object' },
        partitionCount: 2,
        partitionKeyFields: ['loanAccountId'],
        retentionMilliseconds: 1e9,
      })),
    );
    const mistyped = eventTypeBody('mistyped', { annotations: { 'lendstream/deduplication-window': '3600' } });
    const internal = eventTypeBody('lendstream.loan-commands');
    const anySchema = { type: 'json_schema', schema: '{}' };
    const cases: [method: string, path: string, body: unknown, status: number, detail: string][] = [
      ['POST', '/event-types', eventTypeBody('orders'), 409, 'already exists'],
      ['POST', '/event-types', eventTypeBody('x'.repeat(300)), 422, 'the length of the name must be >= 1 and <= 255'],
      ['POST', '/event-types', internal, 422, 'must not begin with "lendstream."'],
      ['POST', '/event-types', mistyped, 422, 'there is lendstream/deduplication-window-seconds'],
      ['POST', '/event-types', '{', 400, 'not JSON'],
      ['POST', '/event-types', eventTypeBody('a', { category: 'other' }), 400, 'Possible values'],
      ['PUT', '/event-types/orders', eventTypeBody('other'), 422, 'path does not match resource name'],
      ['PUT', '/event-types/orders', eventTypeBody('orders', { partition_strategy: 'x' }), 422, 'does not exist: x'],
      ['PUT', '/event-types/unknown', eventTypeBody('unknown'), 404, 'EventType "unknown" does not exist.'],
      ['DELETE', '/event-types/unknown', undefined, 404, 'EventType "unknown" does not exist.'],
      ['DELETE', '/event-types/lendstream.loan-commands', undefined, 403, 'belongs to the service'],
      ['PUT', '/event-types/loan_state_changed', eventTypeBody('loan_state_changed'), 403, 'belongs to the service'],
      ['POST', '/event-types/lendstream.loan-commands/schemas', anySchema, 403, 'belongs to the service'],
      ['PATCH', '/event-types/orders', {}, 405, 'not supported'],
    ];
    for (const [method, path, body, status, detail] of cases) {
      const response = await request(method, path, body);
      expect(response.status, `${method} ${path}`).to.equal(status);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
      expect(response.body['detail']).to.include(detail);
    }
  });

  it('list the types that a client may write, and reject a filter without a name', async () => {
    const somebody = [{ data_type: 'user', value: 'x' }];
    const others = [{ data_type: 'user', value: 'y' }];
    const authorization = { admins: others, readers: others, writers: somebody };
    await request('POST', '/event-types', eventTypeBody('open'));
    await request('POST', '/event-types', eventTypeBody('written', { authorization }));
    const listed = async (query: string) =>
      (JSON.parse((await request('GET', `/event-types?${query}`)).text) as { name: string }[]).map(({ name }) => name);
    expect(await listed('writer=user:x')).to.deep.equal(['written']);
    expect(await listed('writer=user:y')).to.deep.equal([]);
    for (const writer of ['abc', 'user:', ':x', '', 'user:a:b']) {
      expect((await request('GET', `/event-types?writer=${writer}`)).status, writer).to.equal(400);
    }
  });

  it('refuse confusable names, before they are created and when they are', async () => {
    expect((await request('POST', '/event-types', eventTypeBody('shop.orders_placed'))).status).to.equal(201);
    const wanted = eventTypeBody('shop_orders.placed');
    const response = await request('POST', '/event-types', wanted);
    expect([response.status, response.body['detail']]).to.deep.equal([
      422,
      'Field "name" is too similar to "shop.orders_placed": names must differ in more than dots and underscores\n',
    ]);
    await request('DELETE', '/event-types/shop.orders_placed');
    expect((await request('POST', '/event-types', wanted)).status).to.equal(201);
  });

  it('create one of two names that could be confused when both are requested at the same time', async () => {
    const names = ['a.b.c', 'a_b.c', 'a.b_c', 'a_b_c'];
    const responses = await Promise.all(names.map((name) => request('POST', '/event-types', eventTypeBody(name))));
    expect(responses.map(({ status }) => status)).to.have.members([201, 422, 422, 422]);
  });

  it('refuse ordering by a field that no event has', async () => {
    const ordered = (changes: Record<string, unknown>) => eventTypeBody('ordered', changes);
    const refused = await request('POST', '/event-types', ordered({ ordering_key_fields: ['order', 'zzz'] }));
    expect([refused.status, refused.body['detail']]).to.deep.equal([422, 'ordering_key_fields [zzz] absent in schema']);
    const fields = { ordering_key_fields: ['order'], ordering_instance_ids: ['metadata.eid'] };
    expect((await request('POST', '/event-types', ordered(fields))).status).to.equal(201);
    const changed = await request('PUT', '/event-types/ordered', ordered({ ...fields, ordering_instance_ids: ['x'] }));
    expect([changed.status, changed.body['detail']]).to.deep.equal([422, 'ordering_instance_ids [x] absent in schema']);
  });

  it('refuse to delete a type with subscriptions', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    const id = '00000000-0000-4000-8000-000000000001';
    const subscription = { id, event_types: ['orders'], owning_application: 'crm', consumer_group: 'default' };
    await broker.registry.put('subscription', id, subscription);
    const response = await request('DELETE', '/event-types/orders');
    expect(response.body).to.deep.equal({
      title: 'Conflict',
      status: 409,
      detail: "Can't remove event type orders, as it has subscriptions",
      code: 'CONFLICT',
      subscriptions_total: 1,
      subscriptions: [{ subscription_id: id, owning_application: 'crm', consumer_group: 'default' }],
    });
  });

  it('name as many subscriptions that stand in the way of a deletion as fit, by id', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    const ids = Array.from(
      { length: subscriptionsNamedMaximum + 1 },
      (_, index) => `00000000-0000-4000-8000-${String(100 - index).padStart(12, '0')}`,
    );
    for (const id of ids) {
      const subscription = { id, event_types: ['orders'], owning_application: 'crm', consumer_group: id };
      await broker.registry.put('subscription', id, subscription);
    }
    const { status, body } = await request('DELETE', '/event-types/orders');
    expect([status, body['subscriptions_total']]).to.deep.equal([409, subscriptionsNamedMaximum + 1]);
    const named = (body['subscriptions'] as { subscription_id: string }[]).map(
      ({ subscription_id }) => subscription_id,
    );
    expect(named).to.deep.equal(ids.toReversed().slice(0, subscriptionsNamedMaximum));
  });

  describe('schemas', () => {
    const first = '{"type":"object"}';
    const second = '{"type":"object","properties":{"a":{"type":"string"}}}';
    beforeEach(async () => {
      await request(
        'POST',
        '/event-types',
        eventTypeBody('orders', { schema: { type: 'json_schema', schema: first } }),
      );
      await request('POST', '/event-types/orders/schemas', { type: 'json_schema', schema: second });
    });

    async function page(query: string): Promise<{ versions: string[]; links: unknown }> {
      const { text } = await request('GET', `/event-types/orders/schemas${query}`);
      const { items, _links: links } = JSON.parse(text) as { items: { version: string }[]; _links: unknown };
      return { versions: items.map(({ version }) => version), links };
    }

    it('are listed newest first, with links to existing pages', async () => {
      const path = '/event-types/orders/schemas';
      expect(await page('')).to.deep.equal({ versions: ['1.1.0', '1.0.0'], links: {} });
      const { text } = await request('GET', '/event-types/orders/schemas');
      expect([...text.matchAll(/"created_by":"([^"]*)"/g)].map(([, by]) => by)).to.deep.equal([
        'unauthenticated',
        'unauthenticated',
      ]);
      expect((await request('GET', '/event-types/orders')).text).not.to.contain('created_by');
      expect(await page('?limit=1')).to.deep.equal({
        versions: ['1.1.0'],
        links: { next: { href: `${path}?offset=1&limit=1` } },
      });
      expect(await page('?offset=1&limit=1')).to.deep.equal({
        versions: ['1.0.0'],
        links: { prev: { href: `${path}?offset=0&limit=1` } },
      });
      for (const query of ['?offset=2', '?offset=10', '?offset=3&limit=2']) {
        expect(await page(query)).to.deep.equal({ versions: [], links: {} });
      }
      expect((await request('GET', `${path}?limit=1001`)).status).to.equal(400);
      expect((await request('GET', '/event-types/unknown/schemas')).status).to.equal(404);
    });

    it('are shown by version', async () => {
      expect((await request('GET', '/event-types/orders/schemas/latest')).body).to.include({
        type: 'json_schema',
        schema: second,
        version: '1.1.0',
      });
      expect((await request('GET', '/event-types/orders/schemas/1.0.0')).body).to.include({ schema: first });
      const unknown = await request('GET', '/event-types/orders/schemas/1.0');
      expect([unknown.status, unknown.body['detail']]).to.deep.equal([
        404,
        'EventType "orders" has no schema with version "1.0"',
      ]);
    });

    it('are added with 200 and the schema then in force, unless they are incompatible', async () => {
      const again = await request('POST', '/event-types/orders/schemas', { type: 'json_schema', schema: second });
      expect(again.body['created_by']).to.equal('unauthenticated');
      expect([again.status, again.body['schema'], again.body['version']]).to.deep.equal([200, second, '1.1.0']);
      const breaking = await request('POST', '/event-types/orders/schemas', { type: 'json_schema', schema: first });
      expect([breaking.status, breaking.body['detail']]).to.deep.equal([
        422,
        'Invalid schema: #/properties/a: schema properties cannot be removed',
      ]);
      expect((await request('POST', '/event-types/orders/schemas', {})).status).to.equal(400);
      expect((await page('')).versions).to.have.length(2);
    });

    it('are found by their content', async () => {
      const path = '/event-types/orders/schemas?fetch=true';
      const same = '{ "properties": {"a": {"type": "string"}}, "type": "object" }';
      const found = await request('POST', path, { type: 'json_schema', schema: same });
      expect([found.status, found.body['version']]).to.deep.equal([200, '1.1.0']);
      expect((await request('POST', path, { type: 'json_schema', schema: '{"title":"x"}' })).status).to.equal(404);
      const unclear = await request('POST', '/event-types/orders/schemas?fetch=maybe', {
        type: 'json_schema',
        schema: '{"title":"x"}',
      });
      expect(unclear.status).to.equal(400);
      expect((await page('')).versions).to.have.length(2);
    });
  });

  it('list the existing strategies', async () => {
    expect((await request('GET', '/registry/enrichment-strategies')).text).to.equal('["metadata_enrichment"]');
    expect((await request('GET', '/registry/partition-strategies')).text).to.equal('["hash","user_defined","random"]');
  });
});
