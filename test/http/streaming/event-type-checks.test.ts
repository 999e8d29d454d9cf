import { RecentLags } from '../../../src/broker/subscriptions/recent-lags.ts';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../src/clock.ts';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { createEventTypeChecksRouter } from '../../../src/http/streaming/event-type-checks.ts';
import { createEventTypeEventsRouter } from '../../../src/http/streaming/event-type-events.ts';
import { createEventTypesRouter } from '../../../src/http/streaming/event-types.ts';
import { createPublishingRouter } from '../../../src/http/streaming/publishing.ts';
import { silentLogger } from '../../../src/logger.ts';
import { eventTypeBody, exampleMetadata, openBroker, type Broker } from '../../support/broker-on-embedded-log.ts';
import { costlyCases } from '../../fuzz/generator/costly-schemas.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';

describe('checks of event types and events before publishing, and reads without a subscription', () => {
  let broker: Broker;
  let server: Server;
  let url = '';

  before(async () => {
    broker = await openBroker();
    const services = { ...broker, clock: systemClock, logger: silentLogger };
    const routers = [
      createEventTypeEventsRouter(services).router,
      createPublishingRouter(broker),
      createEventTypesRouter({ ...broker, lags: new RecentLags(broker) }),
      createEventTypeChecksRouter(services),
    ];
    server = createApplicationServer(createApplication(routers, silentLogger));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await request('POST', '/event-types', eventTypeBody('orders'));
    const events = ['a', 'b', 'c'].map((order) => ({ metadata: exampleMetadata(), order }));
    expect((await request('POST', '/event-types/orders/events', events)).status).to.equal(200);
  });

  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await broker.close();
  });

  function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse> {
    return call(`${url}${path}`, method, body, headers);
  }

  describe('POST /registry/event-type-checks', () => {
    const check = (body: unknown) => request('POST', '/registry/event-type-checks', body);

    it('checks a definition and an event together and stores nothing', async () => {
      const response = await check({ event_type: eventTypeBody('invoices'), event: { order: 7 } });
      expect(response.body).to.deep.include({ valid: true, version: '1.0.0', detail: null });
      expect(response.body['event']).to.deep.include({ valid: false });
      expect((await request('GET', '/event-types/invoices')).status).to.equal(404);
    });

    it('checks an event against an existing type by its name', async () => {
      const event = { metadata: exampleMetadata(), order: 'a' };
      const response = await check({ event_type: 'orders', event });
      expect(response.body['event']).to.deep.equal({ valid: true, violations: [] });
    });

    it('checks a change of an existing type', async () => {
      const schema = { type: 'json_schema', schema: '{"type":"object","properties":{"order":{"type":"number"}}}' };
      const response = await check({ event_type: eventTypeBody('orders', { schema }) });
      expect(response.body).to.include({ valid: false, event: null });
      expect(response.body['detail']).to.contain('#/properties/order');
    });

    for (const title of [
      'references into definitions, 24 levels deep',
      'a pattern whose automaton explodes, for one long text',
      'many rules for each of many items',
    ]) {
      it(`rejects an event by ${title} as publishing would, and continues to serve`, async () => {
        const { schema, value } = costlyCases.find((costly) => costly.title === title) ?? { schema: {}, value: {} };
        const name = `costly-${title.length}`;
        const definition = eventTypeBody(name, { schema: { type: 'json_schema', schema: JSON.stringify(schema) } });
        const event = { metadata: exampleMetadata(), ...(value as object) };
        const [checked, version] = await Promise.all([
          check({ event_type: definition, event }),
          request('GET', '/event-types/orders'),
        ]);
        expect([checked.status, version.status]).to.deep.equal([200, 200]);
        expect(checked.body).to.include({ valid: true });
        const outcome = checked.body['event'] as { valid: boolean; violations: { message: string }[] };
        expect(outcome.valid).to.equal(false);
        expect(outcome.violations.map(({ message }) => message).join()).to.match(
          /^cannot be checked: .* more than \d+ steps/,
        );
        expect((await request('POST', '/event-types', definition)).status).to.equal(201);
        const published = await request('POST', `/event-types/${name}/events`, [event]);
        expect(published.status).to.equal(422);
        expect(published.text).to.contain('cannot be checked');
        expect((await request('GET', '/event-types/orders')).status).to.equal(200);
      });
    }

    const schema = '{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}}}}';
    const lists = eventTypeBody('lists', { schema: { type: 'json_schema', schema } });
    /** The violations of an event, here and when it is published. */
    const findings = async (event: string): Promise<{ checked: number; published: string[] }> => {
      await request('POST', '/event-types', lists);
      const checked = await check(`{"event_type":"lists","event":${event}}`);
      const published = await request('POST', '/event-types/lists/events', `[${event}]`);
      expect([checked.status, published.status]).to.deep.equal([200, 422]);
      const [item] = JSON.parse(published.text) as { detail: string }[];
      const { violations } = checked.body['event'] as { violations: unknown[] };
      return { checked: violations.length, published: item?.detail.split('\n') ?? [] };
    };
    const metadata = JSON.stringify(exampleMetadata());
    const wrong = (count: number, padding = ''): string =>
      `{"metadata":${metadata},"list":[${Array.from({ length: count }, () => 1).join()}]${padding}}`;

    const counts: [found: number, checked: number, count: string, named: number][] = [
      [100, 100, '100', 100],
      [101, 101, '101', 100],
      [999, 999, '999', 100],
      [1_000, 1_000, '1000 or more', 100],
      [1_001, 1_000, '1000 or more', 100],
    ];
    for (const [found, checked, count, named] of counts) {
      it(`reports ${checked} of ${found} violations of an event, and names ${named} when it is published`, async () => {
        const findingsShown = await findings(wrong(found));
        expect(findingsShown.checked).to.equal(checked);
        expect(findingsShown.published[0]).to.equal(`#: ${count} schema violations found`);
        expect(findingsShown.published.slice(1)).to.have.length(named);
      });
    }

    it('reports all violations of an event of 65536 bytes, and only the first of one with a byte more', async () => {
      const padded = (bytes: number): string => wrong(3, ' '.repeat(bytes - wrong(3).length));
      expect(padded(65_536)).to.have.length(65_536);
      expect(await findings(padded(65_536))).to.deep.include({ checked: 3 });
      const larger = await findings(padded(65_537));
      expect(larger.checked).to.equal(1);
      expect(larger.published).to.have.length(1);
    });

    for (const [body, status] of [
      [{}, 400],
      [{ event_type: [] }, 400],
      [{ event_type: 'unknown', event: {} }, 404],
      [{ event_type: { name: 7 } }, 400],
    ] as const) {
      it(`returns ${status} for ${JSON.stringify(body)}`, async () => {
        expect((await check(body)).status).to.equal(status);
      });
    }
  });

  it('checks the compatibility of a schema alone', async () => {
    const path = '/event-types/orders/schemas/latest/compatibility-check';
    const added = { type: 'json_schema', schema: '{"type":"object","properties":{"order":{"type":"string"},"n":{}}}' };
    expect((await request('POST', path, added)).body).to.deep.equal({
      compatible: true,
      compatibility_mode: 'forward',
      version: '1.0.0',
      error: null,
    });
    const changed = { type: 'json_schema', schema: '{"type":"object","properties":{"order":{"type":"number"}}}' };
    const refused = (await request('POST', path, changed)).body;
    expect(refused).to.include({ compatible: false, version: '1.0.0' });
    expect(refused['error']).to.contain('#/properties/order');
    expect((await request('POST', '/event-types/orders/schemas/9.0.0/compatibility-check', added)).status).to.equal(
      404,
    );
  });

  const empty = '{"properties":{}}';
  for (const [what, body, status, detail] of [
    ['a schema without its type', { schema: empty }, 200, undefined],
    ['a type that is null', { type: null, schema: empty }, 200, undefined],
    ['a type in capitals', { type: 'JSON_SCHEMA', schema: empty }, 200, undefined],
    [
      'a type of Nakadi that is not supported',
      { type: 'avro_schema', schema: empty },
      422,
      /"avro_schema" is not supported/,
    ],
    ['another type', { type: 'xml_schema', schema: empty }, 400, /"type"/],
    ['no schema', {}, 422, /^Field "schema" must not be null\n$/],
    ['a schema that is null', { type: 'json_schema', schema: null }, 422, /^Field "schema" must not be null\n$/],
    ['a schema that is no text', { schema: {} }, 400, /"schema"/],
    ['a schema that is no JSON', { schema: '{' }, 422, /./],
    ['a body that is no object', [], 400, /./],
  ] as const) {
    it(`returns ${status} for a compatibility check with ${what}`, async () => {
      const response = await request('POST', '/event-types/orders/schemas/1.0.0/compatibility-check', body);
      expect(response.status, response.text).to.equal(status);
      if (detail !== undefined) expect(response.body['detail']).to.match(detail);
    });
  }

  const nested = `${'{"properties":{"a":'.repeat(5_000)}{}${'}}'.repeat(5_000)}`;
  const wide = `{"anyOf":[${Array.from({ length: 5_000 }, (_, index) => `{"required":["a${index}"]}`).join(',')}]}`;
  for (const [title, schema, reason] of [
    ['nested too deep', nested, /nested deeper/],
    ['of too many parts', wide, /parts/],
  ] as const) {
    it(`refuses a schema ${title}, in every request that may contain one`, async () => {
      const body = { type: 'json_schema', schema };
      for (const path of ['schemas', 'schemas?fetch=true', 'schemas/latest/compatibility-check']) {
        const response = await request('POST', `/event-types/orders/${path}`, body);
        expect([response.status, path], response.text.slice(0, 500)).to.deep.equal([422, path]);
        expect(response.body['detail']).to.match(reason);
      }
      const outcome = await request('POST', '/registry/event-type-checks', {
        event_type: eventTypeBody('orders', { schema: body }),
      });
      expect(outcome.body).to.deep.include({ valid: false, changes: [] });
    });
  }

  describe('GET /event-types/{name}/events', () => {
    const stream = (query: string, cursors?: unknown) =>
      request(
        'GET',
        `/event-types/orders/events?${query}`,
        undefined,
        cursors === undefined ? {} : { 'X-Nakadi-Cursors': JSON.stringify(cursors) },
      );

    it('starts at the cursors of the header', async () => {
      const response = await stream('stream_limit=2&batch_limit=2', [
        { partition: '0', offset: '001-0001-000000000000000000' },
      ]);
      expect(response.headers.get('content-type')).to.equal('application/x-json-stream');
      const { cursor, events } = JSON.parse(response.text) as { cursor: unknown; events: { order: string }[] };
      expect(cursor).to.deep.equal({ partition: '0', offset: '001-0001-000000000000000002' });
      expect(events.map(({ order }) => order)).to.deep.equal(['b', 'c']);
    });

    it('begins with new events by default', async () => {
      const response = await stream('stream_keep_alive_limit=1&batch_flush_timeout=1');
      const cursor = '"cursor":{"partition":"0","offset":"001-0001-000000000000000002"}';
      const info = '"info":{"debug":"Keep-alive limit reached: 1","code":"keep_alive_limit"}';
      expect(response.text).to.equal(`{${cursor},${info}}\n`);
    });

    const begin = { partition: '0', offset: 'BEGIN' };
    for (const [query, cursors, status, detail] of [
      ['batch_limit=0', [begin], 422, "batch_limit can't be lower than 1"],
      ['batch_limit=x', [begin], 400, "'batch_limit' parameter should be a whole number, but was 'x'"],
      ['batch_limit=2&stream_limit=1', [begin], 422, "stream_limit can't be lower than batch_limit"],
      ['stream_timeout=1', [begin], 422, "stream_timeout can't be lower than batch_flush_timeout"],
      ['', 'x', 400, 'incorrect syntax of X-nakadi-cursors header'],
      ['', [], 400, 'incorrect syntax of X-nakadi-cursors header'],
      ['', [{ partition: 0 }], 400, 'incorrect syntax of X-nakadi-cursors header'],
      ['', [{ partition: '7', offset: 'BEGIN' }], 412, 'non existing partition 7'],
      ['', [begin, begin], 412, 'more than one cursor for a partition'],
      ['', [{ partition: '0', offset: 'x' }], 412, 'invalid offset x'],
    ] as const) {
      it(`returns ${status} for ?${query} with ${JSON.stringify(cursors)}`, async () => {
        const response = await stream(query, cursors);
        expect([response.status, response.body['detail']]).to.deep.equal([status, detail]);
      });
    }

    it('returns 412 for a position beyond the end and 404 for an unknown type', async () => {
      expect((await stream('', [{ partition: '0', offset: '9' }])).status).to.equal(412);
      expect((await request('GET', '/event-types/unknown/events')).status).to.equal(404);
    });

    it('does not support HEAD', async () => {
      const response = await request('HEAD', '/event-types/orders/events');
      expect([response.status, response.headers.get('allow')]).to.deep.equal([405, 'GET,POST']);
    });
  });
});
