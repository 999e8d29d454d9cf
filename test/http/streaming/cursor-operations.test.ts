import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { RecentLags } from '../../../src/broker/subscriptions/recent-lags.ts';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { createEventTypesRouter } from '../../../src/http/streaming/event-types.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { overriding } from '../../support/stepping-log.ts';
import { cursorsPerRequestMaximum } from '../../../src/http/streaming/cursor-operations.ts';
import { eventTypeBody, exampleMetadata, serveBroker, type Broker } from '../../support/broker-on-embedded-log.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';

describe('the routes of cursor arithmetic', () => {
  let broker: Broker & { readonly url: string };
  beforeEach(async () => {
    broker = await serveBroker();
  });
  afterEach(() => broker.close());

  function request(method: string, path: string, body?: unknown): Promise<HttpResponse> {
    return call(`${broker.url}${path}`, method, body);
  }

  const position = (offset: number, partition = '0') => ({
    partition,
    offset: offset < 0 ? '001-0001--1' : `001-0001-${String(offset).padStart(18, '0')}`,
  });

  it('measure, move and compare cursors', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    await request('POST', '/event-types/orders/events', [
      { metadata: exampleMetadata() },
      { metadata: exampleMetadata() },
    ]);
    const pair = { initial_cursor: position(-1), final_cursor: position(1) };
    expect((await request('POST', '/event-types/orders/cursor-distances', [pair])).text).to.equal(
      JSON.stringify([{ ...pair, distance: 2 }]),
    );
    const shifts = [{ ...position(1), shift: -2 }, { ...position(1) }, { ...position(1), shift: 7 }];
    expect((await request('POST', '/event-types/orders/shifted-cursors', shifts)).text).to.equal(
      JSON.stringify([position(-1), position(1), position(8)]),
    );
    expect((await request('POST', '/event-types/orders/cursors-lag', [position(0)])).text).to.equal(
      JSON.stringify([
        {
          oldest_available_offset: position(0).offset,
          newest_available_offset: position(1).offset,
          partition: '0',
          unconsumed_events: 1,
        },
      ]),
    );
  });

  it('take BEGIN for the position before the first event that retention has left', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    // Ten events were published, and retention has removed the first six.
    const log = overriding<EventLog>(broker.log, {
      bounds: (partitions) =>
        Promise.resolve(partitions.map((partition) => ({ ...partition, earliest: 6, latest: 10 }))),
    });
    const services = { ...broker, log, lags: new RecentLags(broker) };
    const server = createApplicationServer(createApplication([createEventTypesRouter(services)], silentLogger));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/event-types/orders`;
    const begin = { partition: '0', offset: 'Begin' };
    try {
      const pairs = [
        { initial_cursor: begin, final_cursor: position(9) },
        { initial_cursor: position(9), final_cursor: begin },
        { initial_cursor: position(-1), final_cursor: position(9) },
      ];
      const distances = (await call(`${url}/cursor-distances`, 'POST', pairs)).body as unknown as {
        distance: number;
      }[];
      expect(distances.map(({ distance }) => distance)).to.deep.equal([4, -4, 10]);
      const shifts = [0, 1, -6].map((shift) => ({ ...begin, shift }));
      expect(
        (await call(`${url}/shifted-cursors`, 'POST', [...shifts, { ...position(-1), shift: 1 }])).body,
      ).to.deep.equal([position(5), position(6), position(-1), position(0)]);
      expect((await call(`${url}/shifted-cursors`, 'POST', [{ ...begin, shift: -7 }])).status).to.equal(422);
      expect((await call(`${url}/cursors-lag`, 'POST', [begin])).body).to.have.nested.property(
        '[0].unconsumed_events',
        4,
      );
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('return the shifted cursors with the fields that were sent', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    const pair = {
      initial_cursor: { partition: '0', offset: 'BEGIN' },
      final_cursor: { partition: '0', offset: '0009' },
    };
    expect((await request('POST', '/event-types/orders/cursor-distances', [pair])).text).to.equal(
      JSON.stringify([{ ...pair, distance: 10 }]),
    );
  });

  it('accept the maximum number of cursors and not one more', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    const pairs = (count: number) =>
      Array.from({ length: count }, () => ({ initial_cursor: position(0), final_cursor: position(1) }));
    const path = '/event-types/orders/cursor-distances';
    expect((await request('POST', path, pairs(cursorsPerRequestMaximum))).status).to.equal(200);
    expect((await request('POST', path, pairs(cursorsPerRequestMaximum + 1))).status).to.equal(422);
  });

  it('return a problem for invalid requests', async () => {
    await request('POST', '/event-types', eventTypeBody('orders'));
    const begin = (partition: string) => ({ partition, offset: 'BEGIN' });
    const cases: [path: string, body: unknown, status: number][] = [
      ['orders/cursor-distances', [{ initial_cursor: position(0), final_cursor: position(0, '1') }], 422],
      ['orders/cursor-distances', [{ initial_cursor: position(0) }], 400],
      ['orders/cursor-distances', {}, 400],
      ['orders/shifted-cursors', [{ ...position(0), shift: -2 }], 422],
      ['orders/shifted-cursors', [{ ...position(0), shift: 'x' }], 400],
      ['orders/shifted-cursors', [{ partition: '0', offset: 'x' }], 422],
      ['orders/cursor-distances', [{ initial_cursor: begin('1'), final_cursor: position(0, '1') }], 422],
      ['orders/shifted-cursors', [begin('1')], 422],
      ['orders/shifted-cursors', [begin('x')], 422],
      ['orders/cursors-lag', [position(0, '1')], 422],
      ['orders/cursors-lag', [null], 400],
      ['unknown/cursors-lag', [], 404],
    ];
    for (const [path, body, status] of cases) {
      const response = await request('POST', `/event-types/${path}`, body);
      expect(response.status, `${path} ${JSON.stringify(body)}`).to.equal(status);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
    }
    expect((await request('GET', '/event-types/orders/cursors-lag')).status).to.equal(405);
  });
});
