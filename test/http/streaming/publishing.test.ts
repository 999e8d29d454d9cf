import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { connect } from 'node:net';
import * as zlib from 'node:zlib';
import type { AppendResult, EventLog } from '../../../src/ports/event-log.ts';
import {
  validationStepsPerByte,
  validationStepsPerEvent,
  validationStepsPerRequest,
} from '../../../src/broker/schemas/validation-budget.ts';
import { eventsPerRequestMaximum } from '../../../src/broker/publishing/request-parsing.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import {
  eventTypeBody,
  exampleEid,
  exampleMetadata,
  serveBroker,
  storedTexts,
  type Broker,
} from '../../support/broker-on-embedded-log.ts';
import { costlyCases } from '../../fuzz/generator/costly-schemas.ts';
import { bodyBytesMaximum, zstdFramesMaximum } from '../../../src/http/edge/request-body.ts';
import { call } from '../../support/http/client.ts';
import { rawResponseTo } from '../../support/http/raw-request.ts';
import { overriding } from '../../support/stepping-log.ts';

const mebibyte = 1024 * 1024;

describe('POST /event-types/{name}/events', () => {
  let broker: Broker & { readonly url: string };
  before(async () => {
    broker = await serveBroker();
    await broker.eventTypes.create(readEventType(eventTypeBody('orders')));
  });
  after(() => broker.close());

  function post(
    body: string | Buffer,
    headers: Record<string, string> = {},
    name = 'orders',
    query = '',
  ): Promise<Response> {
    return fetch(`${broker.url}/event-types/${name}/events${query}`, {
      method: 'POST',
      body: new Uint8Array(Buffer.from(body)),
      headers,
    });
  }

  const events = JSON.stringify([{ metadata: exampleMetadata(), order: 'x' }]);

  it('returns 200 without a body, whatever the content type', async () => {
    for (const type of [
      'application/json',
      'text/plain',
      'application/octet-stream',
      'application/json;charset=UTF-8',
    ]) {
      const response = await post(events, { 'Content-Type': type });
      expect([response.status, await response.text()], type).to.deep.equal([200, '']);
    }
  });

  it('serves other requests while the events of a full body are validated, up to the budget of the request', async () => {
    const rules = Array.from({ length: 300 }, () => ({ items: { multipleOf: 0.01 } }));
    const schema = JSON.stringify({ properties: { v: { allOf: rules } } });
    const type = eventTypeBody('full-body', { category: 'undefined', schema: { type: 'json_schema', schema } });
    await broker.eventTypes.create(readEventType({ ...type, enrichment_strategies: [] }));
    const event = JSON.stringify({ v: Array.from({ length: 1_000 }, () => 19.99) });
    const count = Math.floor((bodyBytesMaximum - 2) / (event.length + 1));
    const body = Buffer.from(`[${Array.from({ length: count }, () => event).join(',')}]`);
    const settled: string[] = [];
    const publishing = broker.publisher
      .publish('full-body', body, { flowId: '', publishedBy: 'shop' })
      .then((outcome) => {
        settled.push('published');
        return outcome;
      });
    const other = fetch(`${broker.url}/event-types/orders`).then(({ status }) => settled.push(String(status)));
    const { status, items } = await publishing;
    await other;
    expect(settled).to.deep.equal(['200', 'published']);
    expect(status).to.equal(422);
    const steps = validationStepsPerRequest + body.length * validationStepsPerByte;
    expect(items.map(({ detail }) => detail).join('')).to.include(
      `checking the events of this request take more than ${steps}`,
    );
  });

  it('takes as many events as a request may have, and not one more, whether or not they are alike', async () => {
    const type = eventTypeBody('many-events', { category: 'undefined' });
    await broker.eventTypes.create(readEventType({ ...type, enrichment_strategies: [] }));
    const publish = (events: string[]): Promise<Response> =>
      fetch(`${broker.url}/event-types/many-events/events`, { method: 'POST', body: `[${events.join(',')}]` });
    const alike = Array.from({ length: eventsPerRequestMaximum }, () => '{"order":"1"}');
    const last = { alike: '{"order":"1"}', unlike: '{ "order": "1" }', invalid: '[]', bad: '{"order":1}' };
    for (const event of Object.values(last).slice(0, 2)) {
      expect((await publish([...alike.slice(1), event])).status, event).to.equal(200);
    }
    const stored = (await storedTexts(broker.log, 'many-events')).length;
    expect(stored).to.equal(2 * eventsPerRequestMaximum);
    for (const event of Object.values(last)) {
      const response = await publish([...alike, event]);
      expect(response.status, event).to.equal(413);
      expect(((await response.json()) as { detail: string }).detail).to.equal(
        'A request may have at most 100000 events; this one has 100001.',
      );
    }
    const refused = await publish([...alike.slice(1), last.bad]);
    expect(refused.status).to.equal(422);
    expect(await refused.json()).to.have.length(eventsPerRequestMaximum);
    expect(await storedTexts(broker.log, 'many-events')).to.have.length(stored);
  }).timeout(60_000);

  it('refuses events meant for one subscription only, and stores none of them', async () => {
    const before = (await storedTexts(broker.log, 'orders')).length;
    const response = await post(events, {
      'X-CONSUMER-TAG': 'consumer_subscription_id=4ae5011e-eb01-11e5-8b4a-1c6f65464fc6',
    });
    expect(response.status).to.equal(422);
    expect(((await response.json()) as { detail: string }).detail).to.match(/^X-CONSUMER-TAG is not supported/);
    expect(await storedTexts(broker.log, 'orders')).to.have.length(before);
  });

  it('is the only method there', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${broker.url}/event-types/orders/events`, { method });
      expect([response.status, response.headers.get('Allow')], method).to.deep.equal([405, 'POST']);
      expect(response.headers.get('Content-Type')).to.equal('application/problem+json');
    }
  });

  it('refuses a body that is declared too large before it arrives', async () => {
    const response = await rawResponseTo(
      broker.url,
      'POST /event-types/orders/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99000000\r\n\r\n[',
    );
    expect(response)
      .to.match(/^HTTP\/1.1 413 /)
      .and.to.include('application/problem+json');
  });

  for (const [form, head, chunk] of [
    ['announced', `Content-Length: ${24 * mebibyte}`, ' '.repeat(mebibyte)],
    ['in chunks', 'Transfer-Encoding: chunked', `100000\r\n${' '.repeat(mebibyte)}\r\n`],
  ] as const) {
    it(`responds to a client that first sends all of a body that is too large, ${form}`, async () => {
      const socket = connect(Number(new URL(broker.url).port), '127.0.0.1');
      socket.write(`POST /event-types/orders/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${head}\r\n\r\n`);
      for (let number = 0; number < 24; number += 1) {
        await new Promise<void>((resolve, reject) => {
          socket.write(chunk, (error) => (error === undefined || error === null ? resolve() : reject(error)));
        });
      }
      if (form === 'in chunks') socket.write('0\r\n\r\n');
      const [response] = (await once(socket, 'data')) as [Buffer];
      expect(response.toString()).to.match(/^HTTP\/1.1 413 /);
      socket.destroy();
    });
  }

  it('stores the flow id of the request with the event', async () => {
    const response = await post(events, { 'X-Flow-Id': 'my-flow' });
    expect(response.headers.get('x-flow-id')).to.equal('my-flow');
    const stored = await storedTexts(broker.log, 'orders');
    expect(stored.at(-1)).to.include('"flow_id":"my-flow"').and.to.include('"published_by":"unauthenticated"');
  });

  it('stores the longest flow id with the event, and nothing under a longer one', async () => {
    const before = await storedTexts(broker.log, 'orders');
    expect((await post(events, { 'X-Flow-Id': 'f'.repeat(256) })).status).to.equal(400);
    expect(await storedTexts(broker.log, 'orders')).to.have.length(before.length);
    expect((await post(events, { 'X-Flow-Id': 'f'.repeat(255) })).status).to.equal(200);
    expect((await storedTexts(broker.log, 'orders')).at(-1)).to.include(`"flow_id":"${'f'.repeat(255)}"`);
  });

  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  it('stores the place in a trace with each event, whether or not events of its shape came before', async () => {
    await broker.eventTypes.create(readEventType(eventTypeBody('traced')));
    // The first request teaches the shape that the others have.
    const sent: readonly Record<string, string>[] = [{}, { traceparent }, {}, { traceparent: 'no' }, { traceparent }];
    for (const headers of sent) {
      expect((await post(events, headers, 'traced')).status).to.equal(200);
    }
    const own = JSON.stringify([{ metadata: exampleMetadata({ span_ctx: { mine: '1' } }) }]);
    expect((await post(own, { traceparent }, 'traced')).status).to.equal(200);
    const spans = (await storedTexts(broker.log, 'traced')).map(
      (text) => (JSON.parse(text) as { metadata: { span_ctx?: unknown } }).metadata.span_ctx,
    );
    expect(spans).to.deep.equal([undefined, { traceparent }, undefined, undefined, { traceparent }, { mine: '1' }]);
  });

  it('says of each item whether it can be sent again, if that is asked for', async () => {
    const mixed = JSON.stringify([{ metadata: exampleMetadata() }, { order: 7 }, { metadata: exampleMetadata() }]);
    const items = async (query: string): Promise<[number, unknown]> => {
      const response = await post(mixed, {}, `orders`, query);
      return [response.status, await response.json()];
    };
    const [status, plain] = await items('');
    expect(status).to.equal(422);
    expect(JSON.stringify(plain)).not.to.include('retryable');
    const [, detailed] = await items('?item_details=retryable');
    const expected = (plain as object[]).map((item, index) => ({ ...item, retryable: index !== 1 }));
    expect(JSON.stringify(detailed)).to.equal(JSON.stringify(expected));
    expect(await items('?item_details=')).to.deep.equal([422, plain]);
    const [unknown, problem] = await items('?item_details=retryable,reason');
    expect([unknown, (problem as { detail: string }).detail]).to.deep.equal([
      400,
      "'item_details' parameter may name retryable, but was 'reason'",
    ]);
    const stored = await post(events, {}, 'orders', '?item_details=retryable');
    expect([stored.status, await stored.text()]).to.deep.equal([200, '']);
  });

  it('reads a zstd body where Node can, up to the size of any body, and refuses it elsewhere', async () => {
    const { zstdCompressSync } = zlib as unknown as {
      readonly zstdCompressSync?: (data: Buffer) => Buffer;
    };
    const encoded = (body: Buffer): Promise<Response> => post(body, { 'Content-Encoding': 'zstd' });
    if (zstdCompressSync === undefined) {
      expect((await encoded(Buffer.from(events))).status).to.equal(415);
      return;
    }
    expect((await encoded(zstdCompressSync(Buffer.from(events)))).status).to.equal(200);
    expect((await encoded(Buffer.from('not zstd'))).status).to.equal(400);
    const full = (bytes: number): Buffer => Buffer.from(events.replace(']', ']'.padStart(bytes - events.length + 1)));
    expect((await encoded(zstdCompressSync(full(bodyBytesMaximum)))).status).to.equal(200);
    expect((await encoded(zstdCompressSync(full(bodyBytesMaximum + 1)))).status).to.equal(413);
    // A frame of a few bytes that asks for a window of 16 MiB, of which the magic number is right.
    const greedy = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, (24 - 10) << 3, 0x11, 0x00, 0x00, 0x5b, 0x5d]);
    expect((await encoded(greedy)).status).to.equal(400);
  });

  it('reads all frames of a zstd body as one body, as it reads all members of one of gzip', async () => {
    const { zstdCompressSync } = zlib as unknown as { readonly zstdCompressSync?: (data: string) => Buffer };
    for (const [encoding, pack] of [['gzip', zlib.gzipSync] as const, ['zstd', zstdCompressSync] as const]) {
      if (pack === undefined) continue;
      const encoded = (...parts: readonly Buffer[]): Promise<Response> =>
        post(Buffer.concat(parts), { 'Content-Encoding': encoding });
      const half = Math.floor(events.length / 2);
      const split = await encoded(pack(events.slice(0, half)), pack(''), pack(events.slice(half)));
      expect(split.status, encoding).to.equal(200);
      // Two lists are no JSON: what follows the first one is not left out.
      expect((await encoded(pack(events), pack(events))).status, encoding).to.equal(400);
      expect((await encoded(pack(events), Buffer.from('garbage'))).status, encoding).to.equal(400);
      expect((await encoded(pack(events), pack(events).subarray(0, -1))).status, encoding).to.equal(400);
      // The limit of size holds for all of them together.
      const space = (bytes: number): Buffer => pack(' '.repeat(bytes));
      const rest = bodyBytesMaximum - events.length;
      expect((await encoded(pack(events), space(rest - 9), space(9))).status, encoding).to.equal(200);
      expect((await encoded(pack(events), space(rest - 9), space(10))).status, encoding).to.equal(413);
    }
  });

  it('reads a zstd body of the most frames, and refuses one more', async () => {
    const { zstdCompressSync } = zlib as unknown as { readonly zstdCompressSync?: (data: string) => Buffer };
    if (zstdCompressSync === undefined) return;
    const empty = Array.from({ length: zstdFramesMaximum - 1 }, () => zstdCompressSync(''));
    const encoded = (frames: readonly Buffer[]): Promise<Response> =>
      post(Buffer.concat([zstdCompressSync(events), ...frames]), { 'Content-Encoding': 'zstd' });
    expect((await encoded(empty)).status).to.equal(200);
    const refused = await encoded([...empty, zstdCompressSync('')]);
    const { detail } = (await refused.json()) as { detail: string };
    expect([refused.status, detail]).to.deep.equal([400, `The zstd body has more than ${zstdFramesMaximum} frames.`]);
  });

  it('reads a gzip body, and names an unsupported encoding', async () => {
    expect((await post(zlib.gzipSync(events), { 'Content-Encoding': 'gzip' })).status).to.equal(200);
    expect((await post('not gzip', { 'Content-Encoding': 'gzip' })).status).to.equal(400);
    expect((await post(events, { 'Content-Encoding': 'br' })).status).to.equal(415);
  });

  it('returns 422 with one item for each event', async () => {
    const bad = [{ metadata: exampleMetadata(), order: 1 }, { order: 'x' }];
    const response = await post(JSON.stringify(bad));
    expect(response.status).to.equal(422);
    expect(response.headers.get('content-type')).to.match(/^application\/json/);
    expect(await response.text()).to.equal(
      JSON.stringify([
        {
          publishing_status: 'failed',
          detail: '#/order: expected type: String, found: Integer',
          step: 'validating',
          eid: exampleEid,
          partition: null,
        },
        { publishing_status: 'aborted', detail: '', step: 'none', eid: '', partition: null },
      ]),
    );
  });

  it('returns 400 and 404 with a problem', async () => {
    const malformed = await post('[{]');
    expect(malformed.status).to.equal(400);
    expect(malformed.headers.get('content-type')).to.equal('application/problem+json');
    expect(((await malformed.json()) as { detail: string }).detail).to.match(
      /^Error occurred when parsing event\(s\)\./,
    );
    const unknown = await post(events, {}, 'unknown');
    expect(unknown.status).to.equal(404);
    expect(await unknown.text()).to.equal(
      '{"title":"Not Found","status":404,"detail":"EventType \\"unknown\\" does not exist.","code":"NOT_FOUND"}',
    );
  });

  for (const { title, schema, value } of costlyCases) {
    it(`continues to serve others, and rejects events that cannot be checked in time: ${title}`, async () => {
      const body = eventTypeBody('costly', {
        category: 'undefined',
        enrichment_strategies: [],
        schema: { type: 'json_schema', schema: JSON.stringify(schema) },
      });
      await broker.eventTypes.create(readEventType(body));
      try {
        // The first one includes compiling.
        await post('[{}]', {}, 'costly');
        const usedBefore = process.cpuUsage();
        const response = await post(JSON.stringify([value]), {}, 'costly');
        const { user } = process.cpuUsage(usedBefore);
        expect(response.status).to.equal(422);
        const [item] = (await response.json()) as { detail: string; step: string }[];
        expect(item?.step).to.equal('validating');
        expect(item?.detail).to.have.length.lessThan(100_000);
        // A hundredth of the time of the cheapest of them, on a machine that does nothing else.
        expect(user / 1_000).to.be.lessThan(3_000);
        expect((await post(events)).status).to.equal(200);
      } finally {
        await broker.eventTypes.remove('costly');
      }
    });
  }

  it('gives the reason why it cannot check an event', async () => {
    const schema = JSON.stringify({
      properties: {
        v: {
          items: { pattern: '^(?:a|b)*a(?:a|b){480}$' },
          allOf: Array.from({ length: 90 }, () => ({ items: { pattern: '[ab]' } })),
        },
      },
    });
    const body = eventTypeBody('patterned', { schema: { type: 'json_schema', schema } });
    await broker.eventTypes.create(readEventType(body));
    const text = 'abbaabababbbaaabab'.repeat(500);
    const event = JSON.stringify([
      { metadata: exampleMetadata(), v: Array.from({ length: 100 }, (_, at) => text.slice(at) + text) },
    ]);
    const response = await post(event, {}, 'patterned');
    expect(response.status).to.equal(422);
    expect(((await response.json()) as { detail: string }[])[0]?.detail).to.equal(
      `#: cannot be checked: the schema makes checking this event take more than ${validationStepsPerEvent} steps; ` +
        'send a smaller event, or make the schema simpler',
    );
  });

  it('refuses a body that is too large', async () => {
    const ofBytes = (bytes: number) => `${events.slice(0, -1)}${' '.repeat(bytes - events.length)}]`;
    expect((await post(ofBytes(8 * mebibyte))).status).to.equal(200);
    expect((await post(ofBytes(8 * mebibyte + 1))).status).to.equal(413);
  });

  it('accepts a full body of ordinary events, and finds the invalid one at its end', async () => {
    const rules = {
      type: 'object',
      required: ['order', 'amount'],
      properties: {
        order: { type: 'string', pattern: '^[A-Z]{1,3}-[0-9]+$', maxLength: 40 },
        amount: { type: 'number', minimum: 0, multipleOf: 0.01 },
        currency: { enum: ['EUR', 'USD', 'CHF'] },
        lines: { type: 'array', items: { $ref: '#/definitions/line' }, maxItems: 100, uniqueItems: true },
      },
      definitions: {
        line: {
          type: 'object',
          required: ['sku'],
          properties: { sku: { type: 'string' }, count: { type: 'integer' } },
        },
      },
    };
    const schema = { type: 'json_schema', schema: JSON.stringify(rules) };
    await broker.eventTypes.create(
      readEventType(eventTypeBody('ordinary', { schema, compatibility_mode: 'compatible' })),
    );
    const event = (index: number, last: unknown) =>
      JSON.stringify({
        metadata: exampleMetadata(),
        order: `AB-${index}`,
        amount: index / 100,
        currency: 'EUR',
        lines: [
          { sku: `a${index}`, count: index },
          { sku: 'b', count: last },
        ],
      });
    const count = Math.floor((8 * mebibyte - 2) / (event(12_345, 1).length + 1)) - 1;
    const texts = Array.from({ length: count }, (_, index) => event(index, index === count - 1 ? 1.5 : 1));
    const response = await post(`[${texts.join(',')}]`, {}, 'ordinary');
    expect(response.status).to.equal(422);
    const items = (await response.json()) as { detail: string }[];
    expect(items.at(-1)?.detail).to.equal('#/lines/1/count: expected type: Integer, found: Double');
    expect(items.slice(0, -1).every(({ detail }) => detail === '')).to.equal(true);
  });
});

describe('POST /event-types/{name}/events when the log does not accept all events', () => {
  let broker: Broker & { readonly url: string };
  let refused: Readonly<Record<number, ErrorCode>> = {};

  before(async () => {
    broker = await serveBroker((log) => refusing(log));
    const four = { messages_per_minute: 1, message_size: 1, read_parallelism: 4, write_parallelism: 4 };
    const changes = { partition_strategy: 'user_defined', default_statistic: four };
    await broker.eventTypes.create(readEventType(eventTypeBody('orders', changes)));
  });
  after(() => broker.close());

  /** The same log, in which some partitions accept nothing. */
  function refusing(log: EventLog): EventLog {
    const append: EventLog['append'] = async (partitions) => {
      const stored = await log.append(partitions.filter(({ partition }) => refused[partition] === undefined));
      return partitions.map(({ topic, partition }) => {
        const code = refused[partition];
        if (code === undefined) return stored.shift() as AppendResult;
        return { topic, partition, outcome: 'failed', error: new LendstreamError(code, `It is ${code}.`) };
      });
    };
    return overriding(log, { append });
  }

  it('marks items that the log did not take as retryable, and those with no chance as not', async () => {
    const outcomes: [ErrorCode, boolean][] = [
      ['LOG_UNAVAILABLE', true],
      ['OUTCOME_UNKNOWN', true],
      ['LOG_FULL', true],
      ['RECORD_TOO_LARGE', false],
    ];
    for (const [code, retryable] of outcomes) {
      refused = { 1: code };
      const events = ['0', '1'].map((partition) => ({ metadata: exampleMetadata({ partition }) }));
      const url = `${broker.url}/event-types/orders/events?item_details=retryable`;
      const { body } = await call(url, 'POST', events);
      const items = body as unknown as { publishing_status: string; retryable: boolean }[];
      expect(
        items.map((item) => [item.publishing_status, item.retryable]),
        code,
      ).to.deep.equal([
        ['submitted', false],
        ['failed', retryable],
      ]);
    }
  });

  const cases: readonly [what: string, refused: typeof refused, status: number][] = [
    ['207 for a part of it', { 1: 'LOG_UNAVAILABLE' }, 207],
    ['503 when there is no room for any of it at the moment', { 0: 'OVERLOADED', 1: 'OVERLOADED' }, 503],
  ];
  for (const [what, refusedNow, status] of cases) {
    it(`returns ${what}`, async () => {
      refused = refusedNow;
      const events = ['0', '1'].map((partition) => ({ metadata: exampleMetadata({ partition }) }));
      const response = await call(`${broker.url}/event-types/orders/events`, 'POST', events);
      expect(response.status, response.text).to.equal(status);
      if (status !== 207) return;
      const items = response.body as unknown as { publishing_status: string; partition: string; detail: string }[];
      expect(items.map((item) => `${item.partition} ${item.publishing_status} ${item.detail}`)).to.deep.equal([
        '0 submitted ',
        '1 failed It is LOG_UNAVAILABLE.',
      ]);
      expect(response.text).not.to.include('offset');
    });
  }
});
