import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { block } from '../../../../src/broker/definitions/blacklist.ts';
import { recentEventsMaximum } from '../../../../src/broker/retained-events/recent-publishers.ts';
import { pageEventsMaximum } from '../../../../src/broker/retained-events/retained-events.ts';
import { systemClock } from '../../../../src/clock.ts';
import {
  conditionCharactersMaximum,
  EventPages,
  searchesMaximum,
} from '../../../../src/http/streaming/finding/event-pages.ts';
import { createRetainedEventsRouter } from '../../../../src/http/streaming/finding/retained-events.ts';
import type { EventLog, ReadOptions } from '../../../../src/ports/event-log.ts';
import { eventually } from '../../../support/eventually.ts';
import { call, type HttpResponse } from '../../../support/http/client.ts';
import { startStreamServer, type StreamServer } from '../../../support/http/stream-server.ts';
import { serve, type Served } from '../../../support/subscription-store.ts';

const eid = '3b3ad1c4-70c7-4c39-9f4e-000000000042';

interface Page {
  readonly items: readonly {
    readonly partition: string;
    readonly offset: string;
    readonly event: { number: number };
  }[];
  readonly next: string;
  readonly previous: string;
  readonly ended_by: string;
}

describe('GET the events that an event type holds', () => {
  let server: StreamServer;
  let served: Served;
  let type: string;
  let heldReads: (() => void)[] | undefined;
  let readSignals: NonNullable<ReadOptions['signal']>[] = [];

  before(async () => {
    server = await startStreamServer();
    const { eventTypes, registry } = server;
    // Reads wait for as long as a test holds them.
    const log = new Proxy(server.log, {
      get(target, name) {
        if (name !== 'read') {
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        }
        return (async (from, options) => {
          if (options.signal !== undefined) readSignals.push(options.signal);
          if (heldReads !== undefined) await new Promise<void>((resolve) => heldReads?.push(resolve));
          return target.read(from, options);
        }) satisfies EventLog['read'];
      },
    });
    const otherTopics = new Map([['tests.no-event-type', 1]]);
    const pages = new EventPages({ log, clock: systemClock });
    served = await serve([createRetainedEventsRouter({ eventTypes, registry, pages, otherTopics })]);
    type = await server.defineEventType(2);
    for (let number = 0; number < 6; number += 1) {
      const metadata = { eid: number === 4 ? eid : `other-${number}`, flow_id: `flow-${number % 2}` };
      const value = Buffer.from(JSON.stringify({ metadata, number }));
      await server.append(type, number % 2, [{ key: `key-${number}`, value }]);
    }
  });

  after(async () => {
    await served.close();
    await server.stop();
  });

  const get = (path: string, headers?: Record<string, string>): Promise<HttpResponse> =>
    call(`${served.url}/event-types/${path}`, 'GET', undefined, headers);
  const numbersOf = ({ text }: HttpResponse): number[] =>
    (JSON.parse(text) as Page).items.map(({ event }) => event.number);
  const ascending = (left: number, right: number): number => left - right;

  it('returns pages of one partition, and of all', async () => {
    const one = await get(`${type}/partitions/1/events?limit=2`);
    expect(one.status, one.text).to.equal(200);
    expect(numbersOf(one)).to.deep.equal([1, 3]);
    const { next, previous } = JSON.parse(one.text) as Page;
    expect(numbersOf(await get(`${type}/partitions/1/events?token=${next}`))).to.deep.equal([5]);
    expect(numbersOf(await get(`${type}/partitions/1/events?token=${previous}`))).to.deep.equal([]);
    const all = await get(`${type}/retained-events?direction=backward`);
    expect(numbersOf(all).toSorted(ascending)).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect(all.body).not.to.have.property('next');
  });

  it('lists who published the latest events', async () => {
    const own = await server.defineEventType(2);
    expect((await get(`${own}/publishers`)).body).to.deep.equal({ items: [], events: 0, ended_by: 'end' });
    const publish = async (partition: number, count: number, metadata: object | undefined): Promise<void> => {
      const value = Buffer.from(JSON.stringify({ metadata }));
      await server.append(
        own,
        partition,
        Array.from({ length: count }, () => ({ key: null, value })),
      );
      // Publishers stand in the order of their latest times, which are whole milliseconds.
      await systemClock.sleep(2);
    };
    await publish(0, 3, { published_by: 'old', flow_id: 'f-0' });
    await publish(0, recentEventsMaximum - 4, { published_by: 'shop', flow_id: 'f-1' });
    await publish(1, 1, { published_by: 'bank', flow_id: 'f-2' });
    await publish(1, 1, undefined);
    await publish(1, 1, { published_by: 'bank', flow_id: 'f-3' });
    const { status, body, text } = await get(`${own}/publishers`);
    expect(status, text).to.equal(200);
    const items = body['items'] as { published_by: string | null; events: number; last_flow_id: string | null }[];
    expect(items.map(({ published_by: by, events, last_flow_id: flow }) => [by, events, flow])).to.deep.equal([
      ['bank', 2, 'f-3'],
      [null, 1, null],
      ['shop', recentEventsMaximum - 4, 'f-1'],
      ['old', 1, 'f-0'],
    ]);
    expect([body['events'], body['ended_by']]).to.deep.equal([recentEventsMaximum, 'limit']);
    expect((await get('nothing/publishers')).status).to.equal(404);
    expect((await get('tests.no-event-type/publishers')).status).to.equal(404);
    await block(server.registry, 'CONSUMER_ET', own);
    expect((await get(`${own}/publishers`)).status).to.equal(403);
  });

  it('searches by eid, flow id, key, text and field', async () => {
    for (const [query, expected] of [
      [`eid=${eid}`, [4]],
      ['flow_id=flow-1', [1, 3, 5]],
      ['flow_id=flow-1&filter=/number=3', [3]],
      ['key=key-2', [2]],
      [`text=${encodeURIComponent('"number":5')}`, [5]],
      ['filter=/number=0&filter=/metadata/flow_id=flow-0', [0]],
      ['eid=nobody', []],
    ] as const) {
      const found = await get(`${type}/retained-events?${query}`);
      expect(numbersOf(found).toSorted(ascending), query).to.deep.equal(expected);
    }
  });

  it('returns the same as lines', async () => {
    const { text, headers } = await get(`${type}/partitions/0/events`, { Accept: 'application/x-ndjson' });
    expect(headers.get('content-type')).to.contain('application/x-ndjson');
    const lines = text.split('\n');
    expect(lines.pop()).to.equal('');
    const last = JSON.parse(lines.pop() ?? '') as { page: Page };
    expect(last.page).to.include({ ended_by: 'end', read: 3, of: 3 });
    expect(lines.map((line) => (JSON.parse(line) as Page['items'][0]).event.number)).to.deep.equal([0, 2, 4]);
  });

  it('reads topics that are no event types, if it was given them', async () => {
    await server.log.createTopic({
      name: 'tests.no-event-type',
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
    await server.publish('tests.no-event-type', 0, [7]);
    expect(numbersOf(await get('tests.no-event-type/retained-events'))).to.deep.equal([7]);
    expect(numbersOf(await get('tests.no-event-type/partitions/0/events'))).to.deep.equal([7]);
    expect((await get('tests.no-event-type/partitions/1/events')).status).to.equal(404);
  });

  it('accepts the largest values, and refuses those beyond', async () => {
    for (const [query, status] of [
      [`limit=${pageEventsMaximum}`, 200],
      [`limit=${pageEventsMaximum + 1}`, 400],
      ['limit=1', 200],
      ['limit=0', 400],
      ['direction=sideways', 400],
      ['from=nowhere', 422],
      ['from=2026-01-31T25:00:00Z', 422],
      ['from=0', 422],
      ['filter=number', 400],
      ['token=f.0.0', 200],
      ['token=f.0', 200],
      ['token=f.0.0.0.0', 200],
      ['token=f', 400],
      ['token=f.0.0&from=BEGIN', 400],
      ['token=f.0.0&direction=forward', 400],
      [`text=${'x'.repeat(conditionCharactersMaximum)}`, 200],
      [`text=${'x'.repeat(conditionCharactersMaximum + 1)}`, 422],
      [`key=${'x'.repeat(conditionCharactersMaximum + 1)}`, 422],
    ] as const) {
      expect((await get(`${type}/retained-events?${query}`)).status, query).to.equal(status);
    }
    expect((await get(`${type}/partitions/2/events`)).status).to.equal(404);
    expect((await get(`${type}/partitions/x/events`)).status).to.equal(404);
    expect((await get('nothing/retained-events')).status).to.equal(404);
    expect((await call(`${served.url}/event-types/${type}/retained-events`, 'POST', {})).status).to.equal(405);
  });

  it('is 403 for an event type whose consumers are blocked', async () => {
    const blocked = await server.defineEventType(1);
    await block(server.registry, 'CONSUMER_ET', blocked);
    expect((await get(`${blocked}/retained-events`)).status).to.equal(403);
  });

  it('does so many searches at once, and one more is 503; a client that has gone ends its own', async () => {
    readSignals = [];
    heldReads = [];
    const leaving = new AbortController();
    const url = `${served.url}/event-types/${type}/partitions/0/events`;
    const left = fetch(url, { signal: leaving.signal }).catch(() => undefined);
    const others = Array.from({ length: searchesMaximum - 1 }, () => get(`${type}/partitions/0/events`));
    await eventually(() => heldReads?.length === searchesMaximum);
    const refused = await get(`${type}/partitions/0/events`);
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('1');
    leaving.abort();
    await left;
    await eventually(() => readSignals.filter(({ aborted }) => aborted).length === 1);
    const held = heldReads;
    heldReads = undefined;
    expect((await get(`${type}/partitions/0/events`)).status, 'the place is free').to.equal(200);
    for (const release of held) release();
    for (const response of await Promise.all(others)) expect(numbersOf(response)).to.deep.equal([0, 2, 4]);
  });
});
