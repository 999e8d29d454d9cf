import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { Subscriptions } from '../../../../src/broker/subscriptions/subscriptions.ts';
import { LagHistory } from '../../../../src/broker/subscriptions/lag-history.ts';
import { RecentLags } from '../../../../src/broker/subscriptions/recent-lags.ts';
import { EventTypes } from '../../../../src/broker/event-types/event-types.ts';
import { readEventType } from '../../../../src/broker/event-types/requested-event-type.ts';
import { createEventTypesRouter } from '../../../../src/http/streaming/event-types.ts';
import { createEventTypeHistoryRouter } from '../../../../src/http/streaming/finding/event-type-history.ts';
import { createLagHistoryRouter } from '../../../../src/http/streaming/finding/lag-history.ts';
import { searchCharactersMaximum } from '../../../../src/http/streaming/finding/list-order.ts';
import { createSubscriptionsRouter } from '../../../../src/http/streaming/subscriptions.ts';
import { call, type HttpResponse } from '../../../support/http/client.ts';
import {
  openSubscriptionStore,
  serve,
  type Served,
  type SubscriptionStore,
} from '../../../support/subscription-store.ts';

describe('event types and subscriptions, searched and compared', () => {
  let store: SubscriptionStore;
  let served: Served;
  let lagHistory: LagHistory;

  before(async () => {
    store = await openSubscriptionStore();
    const eventTypes = new EventTypes(store);
    for (const [name, owner] of [
      ['shop.order-placed', 'shop'],
      ['shop.parcel-moved', 'Logistics'],
      ['bank.order-booked', 'bank'],
    ] as const) {
      await eventTypes.create(readEventType(definition(name, owner, '{"properties":{"a":{"type":"string"}}}')));
    }
    const subscriptions = new Subscriptions(store);
    for (const [owner, group, from] of [
      ['crm', 'a', 'end'],
      ['crm', 'b', 'begin'],
      ['audit', 'c', 'end'],
    ] as const) {
      const event_types = owner === 'audit' ? ['bank.order-booked'] : ['shop.order-placed'];
      await subscriptions.create({ owning_application: owner, event_types, consumer_group: group, read_from: from });
    }
    await store.publish('shop.order-placed', 0, 4);
    const lags = new RecentLags(store);
    lagHistory = new LagHistory(store.clock, lags);
    served = await serve([
      createEventTypesRouter({ ...store, eventTypes, lags }),
      createSubscriptionsRouter({ ...store, lags, lagHistory }),
      createLagHistoryRouter(store, lagHistory),
      createEventTypeHistoryRouter({ ...store, eventTypes, lags }),
    ]);
  });

  after(async () => {
    await served.close();
    await store.close();
  });

  function definition(name: string, owner: string, schema: string): Record<string, unknown> {
    return { name, owning_application: owner, category: 'undefined', schema: { type: 'json_schema', schema } };
  }

  const get = (path: string): Promise<HttpResponse> => call(`${served.url}${path}`, 'GET');
  const namesOf = async (query: string): Promise<[string[], string | null]> => {
    const { text, headers } = await get(`/event-types?${query}`);
    const names = (JSON.parse(text) as { name: string }[]).map(({ name }) => name);
    return [names, headers.get('items-total')];
  };
  const groupsOf = async (query: string): Promise<[string, string | null]> => {
    const { text, headers } = await get(`/subscriptions?${query}`);
    const { items } = JSON.parse(text) as { items: { consumer_group: string }[] };
    return [items.map(({ consumer_group: group }) => group).join(''), headers.get('items-total')];
  };

  it('lists event types that contain a text, in an order, with their number', async () => {
    expect(await namesOf('q=ORDER')).to.deep.equal([['bank.order-booked', 'shop.order-placed'], '2']);
    expect(await namesOf('q=logis')).to.deep.equal([['shop.parcel-moved'], '1']);
    expect(await namesOf('sort=-name&limit=1&offset=1')).to.deep.equal([['shop.order-placed'], '3']);
    expect((await namesOf('sort=owning_application'))[0][0]).to.equal('shop.parcel-moved');
    expect(await namesOf('q=nothing')).to.deep.equal([[], '0']);
  });

  it('lists subscriptions that contain a text, in an order, with their number, and links to pages of the same', async () => {
    expect(await groupsOf('q=CRM&sort=consumer_group')).to.deep.equal(['ab', '2']);
    expect(await groupsOf('q=order-booked')).to.deep.equal(['c', '1']);
    expect(await groupsOf('sort=-consumer_group&limit=2')).to.deep.equal(['cb', '3']);
    const { body } = await get('/subscriptions?sort=-consumer_group&limit=2&q=r');
    const { next } = body['_links'] as { next: { href: string } };
    expect(await groupsOf(next.href.split('?')[1] ?? '')).to.deep.equal(['a', '3']);
  });

  it('shows and sorts by lag, and has no tag then', async () => {
    const [, ...others] = ['', 'shop.order-placed', 'shop.parcel-moved', 'bank.order-booked'];
    const types = await get('/event-types?show_lag=true&sort=-unconsumed_events');
    const lags = (JSON.parse(types.text) as { name: string; lag: object }[]).map(({ name, lag }) => [name, lag]);
    expect(lags).to.deep.equal([
      [others[0], { partitions: 1, subscriptions: 2, unconsumed_events: 4 }],
      [others[2], { partitions: 1, subscriptions: 1, unconsumed_events: 0 }],
      [others[1], { partitions: 1, subscriptions: 0, unconsumed_events: null }],
    ]);
    expect(types.headers.get('etag')).to.equal(null);
    expect((await get('/event-types?sort=unconsumed_events')).headers.get('etag')).to.equal(null);
    expect((await get('/event-types?sort=name')).text).not.to.contain('"lag"');
    const path = '/subscriptions?show_lag=true&sort=-unconsumed_events&limit=1';
    const { body, headers } = await get(path);
    expect(headers.get('etag')).to.equal(null);
    const [first] = body['items'] as { consumer_group: string; lag: object }[];
    expect([first?.consumer_group, first?.lag]).to.deep.equal(['b', { unconsumed_events: 4 }]);
    const { next } = body['_links'] as { next: { href: string } };
    expect(next.href).to.contain('&show_lag=true&');
    expect((await get(next.href)).text).to.contain('"lag":{"unconsumed_events":0}');
  });

  it('shows how lags went, in a list and of one subscription', async () => {
    const path = '/subscriptions?show_lag=true&show_lag_history=true&sort=-unconsumed_events&limit=1';
    interface Listed {
      readonly id: string;
      readonly lag: { readonly history: { readonly unconsumed_events: number[]; readonly last_at: string | null } };
    }
    const worst = async (): Promise<Listed> => ((await get(path)).body['items'] as [Listed])[0];
    expect((await worst()).lag.history).to.deep.equal({ interval_seconds: 10, last_at: null, unconsumed_events: [] });
    await lagHistory.look();
    const { id, lag } = await worst();
    expect(lag.history.unconsumed_events).to.deep.equal([4]);
    const { next } = (await get(path)).body['_links'] as { next: { href: string } };
    expect((await get(next.href)).text).to.contain('"unconsumed_events":[0]');
    const one = await get(`/subscriptions/${id}/lag-history`);
    expect([one.status, one.body]).to.deep.equal([200, lag.history]);
    expect((await get('/subscriptions/9e9865c5-1f5c-5e30-845e-aacc1a4c497e/lag-history')).status).to.equal(404);
  });

  it('refuses other orders and longer texts', async () => {
    for (const [path, status] of [
      ['/event-types?sort=schema', 400],
      ['/event-types?sort=toString', 400],
      ['/event-types?show_lag=maybe', 400],
      ['/subscriptions?show_lag=maybe', 400],
      ['/subscriptions?show_lag=true&show_lag_history=maybe', 400],
      ['/subscriptions?sort=-id', 400],
      ['/subscriptions?sort=created_at&token=', 400],
      ['/subscriptions?q=r&token=', 200],
      [`/event-types?q=${'x'.repeat(searchCharactersMaximum)}`, 200],
      [`/event-types?q=${'x'.repeat(searchCharactersMaximum + 1)}`, 400],
      [`/subscriptions?q=${'x'.repeat(searchCharactersMaximum + 1)}`, 400],
    ] as const) {
      expect((await get(path)).status, path).to.equal(status);
    }
  });

  it('lists the consumers of an event type, those that lack most first', async () => {
    const { body } = await get('/event-types/shop.order-placed/consumers');
    const items = body['items'] as { consumer_group: string; unconsumed_events: number }[];
    expect(items.map(({ consumer_group, unconsumed_events }) => [consumer_group, unconsumed_events])).to.deep.equal([
      ['b', 4],
      ['a', 0],
    ]);
    expect(body['total']).to.equal(2);
    const second = await get('/event-types/shop.order-placed/consumers?limit=1&offset=1');
    expect((second.body['items'] as { consumer_group: string }[])[0]?.consumer_group).to.equal('a');
    expect((await get('/event-types/nothing/consumers')).status).to.equal(404);
  });

  it('compares two versions of a schema', async () => {
    const path = `${served.url}/event-types/shop.order-placed/schemas`;
    const schema = '{"properties":{"a":{"type":"string"},"b":{"type":"number"}}}';
    expect((await call(path, 'POST', { type: 'json_schema', schema })).status).to.equal(200);
    const { body } = await get('/event-types/shop.order-placed/schema-changes?from=1.0.0');
    expect(body).to.deep.include({ from: '1.0.0', to: '1.1.0' });
    const changes = body['changes'] as { kind: string; pointer: string }[];
    expect(changes.map(({ kind }) => kind)).to.deep.equal(['extending']);
    const same = await get('/event-types/shop.order-placed/schema-changes?from=1.0.0&to=1.0.0');
    expect(same.body['changes']).to.deep.equal([]);
    expect((await get('/event-types/shop.order-placed/schema-changes')).status).to.equal(400);
    expect((await get('/event-types/shop.order-placed/schema-changes?from=9.0.0')).status).to.equal(404);
  });
});
