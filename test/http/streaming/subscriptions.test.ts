import { LagHistory } from '../../../src/broker/subscriptions/lag-history.ts';
import { RecentLags } from '../../../src/broker/subscriptions/recent-lags.ts';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createSubscriptionsRouter } from '../../../src/http/streaming/subscriptions.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { openSubscriptionStore, serve, type Served, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('the routes of subscriptions', () => {
  let store: SubscriptionStore;
  let server: Served;

  before(async () => {
    store = await openSubscriptionStore();
    const lags = new RecentLags(store);
    server = await serve([
      createSubscriptionsRouter({ ...store, lags, lagHistory: new LagHistory(store.clock, lags) }),
    ]);
    await store.define('loans');
    await store.define('accounts');
  });

  after(async () => {
    await server.close();
    await store.close();
  });

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };

  const identity = (group: string, changes: Record<string, unknown> = {}) => ({
    owning_application: 'core',
    event_types: ['loans'],
    consumer_group: group,
    ...changes,
  });

  it('return 422 for a mistyped annotation that begins with lendstream/, with the one that there is', async () => {
    const annotations = { 'lendstream/commit-timeout-seconds': '300' };
    const refused = await call('POST', '/subscriptions', identity('mistyped', { annotations }));
    expect([refused.status, refused.body.detail]).to.deep.equal([
      422,
      'Field "annotations[lendstream/commit-timeout-seconds]" is not known: with the prefix lendstream/ there is lendstream/commit-timeout-seconds-maximum\n',
    ]);
  });

  it('return 201 with two locations for a creation, and 200 with one for a repetition', async () => {
    const created = await call('POST', '/subscriptions', identity('locations'));
    const path = `/subscriptions/${(created.body as Subscription).id}`;
    expect(created.status).to.equal(201);
    expect(created.headers.get('location')).to.equal(path);
    expect(created.headers.get('content-location')).to.equal(path);
    expect(Object.keys(created.body as object)).to.deep.equal([
      'owning_application',
      'event_types',
      'consumer_group',
      'read_from',
      'initial_cursors',
      'authorization',
      'annotations',
      'labels',
      'id',
      'created_at',
      'updated_at',
    ]);
    const again = await call('POST', '/subscriptions/', identity('locations', { read_from: 'begin' }));
    expect([again.status, again.headers.get('location'), again.headers.get('content-location')]).to.deep.equal([
      200,
      path,
      null,
    ]);
    expect(again.body).to.deep.equal(created.body);
    expect((await call('GET', path, undefined, { 'Content-Type': 'application/json' })).body).to.deep.equal(
      created.body,
    );
  });

  it('create one subscription from fifty identical requests at once', async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => call('POST', '/subscriptions', identity('fifty'))),
    );
    expect(responses.filter(({ status }) => status === 201)).to.have.length(1);
    expect(responses.filter(({ status }) => status === 200)).to.have.length(49);
    expect(new Set(responses.map(({ body }) => (body as Subscription).id)).size).to.equal(1);
  });

  it('return problems for client errors', async () => {
    const fields = await call('POST', '/subscriptions', {});
    expect(fields.status).to.equal(422);
    expect(fields.headers.get('content-type')).to.match(/^application\/problem\+json/);
    expect(fields.body).to.deep.include({ title: 'Unprocessable Entity', status: 422 });
    expect((await call('POST', '/subscriptions', '{')).status).to.equal(400);
    expect((await call('POST', '/subscriptions', '[]')).status).to.equal(400);
    const unknown = await call('POST', '/subscriptions', identity('x', { event_types: ['z', 'y'] }));
    expect(unknown.body).to.deep.equal({
      title: 'Unprocessable Entity',
      status: 422,
      detail: "Failed to create subscription, event type(s) not found: 'y', 'z'",
      code: 'UNPROCESSABLE',
    });
    const missing = await call('GET', '/subscriptions/none');
    expect(missing.body).to.deep.equal({
      title: 'Not Found',
      status: 404,
      detail: 'Subscription with id "none" does not exist',
      code: 'NOT_FOUND',
    });
    for (const path of ['/subscriptions/none/stats', '/subscriptions/none/']) {
      expect((await call('GET', path)).status).to.equal(404);
    }
    const patch = await call('PATCH', '/subscriptions');
    expect([patch.status, patch.headers.get('allow')]).to.deep.equal([405, 'GET,POST']);
  });

  it('list pages with links to the previous and the next one', async () => {
    const groups = ['page1', 'page2', 'page3'];
    for (const group of groups) {
      await call('POST', '/subscriptions', identity(group, { owning_application: 'pages', event_types: ['accounts'] }));
    }
    const filter = 'event_type=accounts&owning_application=pages';
    const first = await call('GET', `/subscriptions?owning_application=pages&event_type=accounts&limit=2`);
    const firstBody = first.body as { items: Subscription[]; _links: unknown };
    expect(firstBody.items.map(({ consumer_group: group }) => group)).to.deep.equal(['page3', 'page2']);
    expect(firstBody._links).to.deep.equal({ next: { href: `/subscriptions?${filter}&offset=2&limit=2` } });
    const last = await call('GET', `/subscriptions?${filter}&offset=2&limit=2`);
    expect(last.body._links).to.deep.equal({ prev: { href: `/subscriptions?${filter}&offset=0&limit=2` } });
    const exact = await call('GET', `/subscriptions/?${filter}&limit=3`);
    expect(exact.body._links).to.deep.equal({ next: { href: `/subscriptions?${filter}&offset=3&limit=3` } });
    const all = await call('GET', `/subscriptions?${filter}`);
    expect(all.body._links).to.deep.equal({});
    const beyond = await call('GET', `/subscriptions?${filter}&offset=100&limit=2`);
    expect(beyond.body).to.deep.equal({
      items: [],
      _links: { prev: { href: `/subscriptions?${filter}&offset=98&limit=2` } },
    });
    expect((await call('GET', '/subscriptions?limit=0')).body.detail).to.equal(
      "'limit' parameter should have value between 1 and 1000",
    );
  });

  it('list only subscriptions with all requested event types, repeated or separated by commas', async () => {
    await call('POST', '/subscriptions', identity('both', { event_types: ['loans', 'accounts'] }));
    for (const query of ['event_type=loans&event_type=accounts', 'event_type=accounts,loans']) {
      const { body } = await call('GET', `/subscriptions?${query}`);
      expect(body.items.map((item: Subscription) => item.consumer_group)).to.deep.equal(['both']);
    }
  });

  it('return status in the list on request, and statistics', async () => {
    const { body: subscription } = await call(
      'POST',
      '/subscriptions',
      identity('status', { owning_application: 'status', event_types: ['loans', 'accounts'], read_from: 'begin' }),
    );
    const streamId = await store.join(subscription as Subscription);
    await store.publish('accounts', 0, 3);
    const holder = { stream_id: streamId, assignment_type: 'auto' };
    const { body } = await call('GET', '/subscriptions?owning_application=status&show_status=true&limit=1');
    expect(body.items[0].status).to.deep.equal([
      { event_type: 'accounts', partitions: [{ partition: '0', state: 'assigned', ...holder }] },
      { event_type: 'loans', partitions: [{ partition: '0', state: 'assigned', ...holder }] },
    ]);
    expect(body._links.next.href).to.match(/&show_status=true$/);
    const stats = await call('GET', `/subscriptions/${subscription.id}/stats?show_time_lag=true`);
    const [accounts, loans] = stats.body.items;
    expect(accounts.partitions[0]).to.deep.equal({
      partition: '0',
      state: 'assigned',
      unconsumed_events: 3,
      consumer_lag_seconds: 0,
      ...holder,
    });
    expect(loans.partitions[0]).to.deep.include({ unconsumed_events: 0, consumer_lag_seconds: 0 });
  });

  describe('read switches and filters', () => {
    for (const [query, status] of [
      ['show_status=maybe', 400],
      ['show_status=TRUE', 200],
      ['show_status=1', 200],
      ['show_status=no', 200],
      ['show_status=toString', 400],
      ['show_status=', 200],
      ['reader=abc', 400],
      ['reader=user:', 400],
      ['reader=:x', 400],
      ['reader=', 400],
      ['reader=user:a:b', 400],
      ['reader=user:a', 200],
      ['token=x', 400],
      ['token=', 200],
      ['limit=1', 200],
      ['limit=1000', 200],
      ['limit=1001', 400],
      ['offset=-1', 400],
      ['offset=999999999999999', 200],
      ['offset=1000000000000000', 400],
    ] as const) {
      it(`${query} returns ${status}`, async () => {
        expect((await call('GET', `/subscriptions?${query}`)).status).to.equal(status);
      });
    }

    it('in statistics as well', async () => {
      const { body: subscription } = await call('POST', '/subscriptions', identity('switches'));
      const path = `/subscriptions/${subscription.id}/stats?show_time_lag`;
      expect((await call('GET', `${path}=maybe`)).status).to.equal(400);
      expect((await call('GET', `${path}=false`)).status).to.equal(200);
    });
  });

  it('store their readers once one is named, and filter the list by reader', async () => {
    const named = [{ data_type: 'user', value: 'reader-of-one' }];
    const authorization = { admins: named, readers: named };
    const { body: subscription } = await call('POST', '/subscriptions', identity('kept', { authorization }));
    const path = `/subscriptions/${subscription.id}`;
    const refused = await call('PUT', path, identity('kept'));
    expect([refused.status, refused.body.detail]).to.deep.equal([
      422,
      'Changing authorization object to `null` is not possible due to existing one',
    ]);
    expect((await call('GET', path)).body.authorization).to.deep.equal(authorization);
    const { body } = await call('GET', '/subscriptions?reader=user:reader-of-one&limit=1');
    expect(body.items.map(({ id }: Subscription) => id)).to.deep.equal([subscription.id]);
    expect(body._links.next.href).to.equal('/subscriptions?reader=user:reader-of-one&offset=1&limit=1');
  });

  it('change and delete', async () => {
    const { body: subscription } = await call('POST', '/subscriptions', identity('gone'));
    const path = `/subscriptions/${subscription.id}`;
    const put = await call('PUT', path, identity('gone', { labels: { team: 'b' } }));
    expect([put.status, put.body]).to.deep.equal([204, undefined]);
    expect((await call('GET', path)).body.labels).to.deep.equal({ team: 'b' });
    const refused = await call('PUT', path, identity('gone', { read_from: 'begin' }));
    expect([refused.status, refused.body.detail]).to.deep.equal([422, 'Not allowed to change read from']);
    expect((await call('DELETE', path)).status).to.equal(204);
    expect((await call('DELETE', path)).status).to.equal(404);
    expect((await call('GET', path)).status).to.equal(404);
  });
});
