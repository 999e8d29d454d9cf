import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { gzipSync } from 'node:zlib';
import { createCursorsRouter } from '../../../src/http/streaming/cursors.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { cursorsPerCommitMaximum } from '../../../src/broker/subscriptions/requested-cursors.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, serve, type Served, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('the routes of cursors', () => {
  let store: SubscriptionStore;
  let server: Served;
  let subscription: Subscription;
  let streamId: string;
  let path: string;
  let group = 0;

  before(async () => {
    store = await openSubscriptionStore();
    server = await serve([createCursorsRouter(store)]);
    await store.define('loans');
    await store.publish('loans', 0, 200);
  });

  after(async () => {
    await server.close();
    await store.close();
  });

  beforeEach(async () => {
    group += 1;
    const body = {
      owning_application: 'core',
      event_types: ['loans'],
      consumer_group: `group-${group}`,
      read_from: 'begin',
    };
    subscription = (await new Subscriptions(store).create(body)).subscription;
    streamId = await store.join(subscription);
    path = `${server.url}/subscriptions/${subscription.id}/cursors`;
  });

  const cursor = (offset: number) => ({
    partition: '0',
    offset: `001-0001-${String(offset).padStart(18, '0')}`,
    event_type: 'loans',
    cursor_token: 'b75c3102-98a4-4385-a5fd-b96f1d7872f2',
  });

  const call = async (
    method: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
    at = path,
  ) => {
    const response = await fetch(at, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  };

  const commit = (offsets: number[], header = 'X-Nakadi-StreamId', id = streamId) =>
    call('POST', JSON.stringify({ items: offsets.map(cursor) }), {
      [header]: id,
      'Content-Type': 'application/json;charset=UTF-8',
    });

  it('return 204 without a body when every cursor was committed, with either header, and with a trailing slash', async () => {
    expect(await commit([1, 2])).to.deep.equal({ status: 204, body: undefined });
    expect(await commit([3], 'x-mambu-streamid')).to.deep.equal({ status: 204, body: undefined });
    path += '/';
    expect(await commit([4])).to.deep.equal({ status: 204, body: undefined });
  });

  it('return 200 with the results in order when a cursor was outdated', async () => {
    await commit([100]);
    const { status, body } = await commit([105, 106, 102, 96, 130]);
    expect(status).to.equal(200);
    const results = ['committed', 'committed', 'outdated', 'outdated', 'committed'];
    expect(body).to.deep.equal({
      items: [105, 106, 102, 96, 130].map((offset, index) => ({ cursor: cursor(offset), result: results[index] })),
    });
    expect((await commit([120, 121])).body.items.map(({ result }: { result: string }) => result)).to.deep.equal([
      'outdated',
      'outdated',
    ]);
  });

  it('read a compressed commit', async () => {
    const body = new Uint8Array(gzipSync(JSON.stringify({ items: [cursor(1)] })));
    expect((await call('POST', body, { 'X-Nakadi-StreamId': streamId, 'Content-Encoding': 'gzip' })).status).to.equal(
      204,
    );
  });

  it('return the documented status for each client error', async () => {
    const body = JSON.stringify({ items: [cursor(1)] });
    const header = { 'X-Nakadi-StreamId': streamId };
    const unknown = `${server.url}/subscriptions/none/cursors`;
    const rows: [number, string, Promise<{ status: number; body: { status: number; detail: string } }>][] = [
      [400, 'is not present', call('POST', body)],
      [400, 'not JSON', call('POST', '{', header)],
      [404, 'Subscription with id "none" does not exist', call('POST', body, header, unknown)],
      [404, 'Subscription with id "none" does not exist', call('GET', undefined, {}, unknown)],
      [422, 'Stream id has to be valid UUID, but `x was provided', call('POST', body, { 'X-Nakadi-StreamId': 'x' })],
      [422, 'Stream id has to be valid UUID, but ` was provided', call('POST', body, { 'X-Nakadi-StreamId': '' })],
      [
        422,
        'Session with stream id',
        call('POST', body, { 'X-Nakadi-StreamId': '11111111-1111-4111-8111-111111111111' }),
      ],
      [422, 'Cursors are empty', call('POST', '{"items":[]}', header)],
      [422, 'Field "items" must not be null', call('POST', '{}', header)],
      [422, 'Field "items[0]" must not be null', call('POST', '{"items":[null]}', header)],
      [422, 'beyond the last event', commit([200])],
      [405, 'not supported', call('DELETE')],
    ];
    for (const [status, detail, response] of rows) {
      const { status: actualStatus, body: problem } = await response;
      expect([actualStatus, problem.status], detail).to.deep.equal([status, status]);
      expect(problem.detail).to.include(detail);
    }
  });

  it('accept the maximum number of cursors in one request and not one more, to commit and to reset', async () => {
    const offsets = Array.from({ length: cursorsPerCommitMaximum }, () => 3);
    expect((await commit(offsets)).status).to.equal(200);
    const refused = await commit([...offsets, 3]);
    expect([refused.status, refused.body.detail]).to.deep.equal([422, 'A request may have at most 10000 cursors']);
    const reset = (items: unknown) => call('PATCH', JSON.stringify({ items }));
    expect((await reset([...offsets, 3].map(cursor))).status).to.equal(422);
    await store.coordination.closeSession(subscription.id, streamId);
    expect((await reset(offsets.map(cursor))).status).to.equal(204);
  });

  it('ask the client to retry when the coordination store is down, and store nothing', async () => {
    const away = () => Promise.reject(new LendstreamError('COORDINATION_UNAVAILABLE', 'Redis does not respond.'));
    const other = await serve([
      createCursorsRouter({ ...store, coordination: overriding(store.coordination, { commit: away }) }),
    ]);
    try {
      const response = await fetch(`${other.url}/subscriptions/${subscription.id}/cursors`, {
        method: 'POST',
        headers: { 'X-Nakadi-StreamId': streamId },
        body: JSON.stringify({ items: [cursor(3)] }),
      });
      expect([response.status, response.headers.get('retry-after')]).to.deep.equal([503, '1']);
    } finally {
      await other.close();
    }
    expect((await call('GET')).body.items[0].offset).to.equal('001-0001--1');
  });

  it('return the committed cursors', async () => {
    await commit([25]);
    const { status, body } = await call('GET', undefined, { 'Content-Type': 'application/json' });
    expect(status).to.equal(200);
    const [{ cursor_token: token, ...rest }] = body.items;
    expect(rest).to.deep.equal({ partition: '0', offset: '001-0001-000000000000000025', event_type: 'loans' });
    expect(token).to.match(/^[0-9a-f-]{36}$/);
  });

  it('reset once the streams have ended', async () => {
    await commit([25]);
    await store.coordination.closeSession(subscription.id, streamId);
    const item = { event_type: 'loans', partition: '0', offset: '3' };
    expect((await call('PATCH', JSON.stringify({ items: [item] }))).status).to.equal(204);
    expect((await call('GET')).body.items[0].offset).to.equal('001-0001-000000000000000003');
  });

  it('refuse to reset while another reset is under way', async () => {
    await store.coordination.closeSession(subscription.id, streamId);
    await store.coordination.beginReset(subscription.id);
    const { status, body } = await call('PATCH', JSON.stringify({ items: [cursor(3)] }));
    expect([status, body.detail]).to.deep.equal([
      409,
      'Cursors reset is already in progress for provided subscription',
    ]);
    await store.coordination.finishReset(subscription.id, []);
    expect((await call('PATCH', JSON.stringify({ items: [cursor(3)] }))).status).to.equal(204);
  });

  it('record how long commits take', async () => {
    await commit([7]);
    const { values } = await store.metrics.commitSeconds.get();
    const count = values.find(({ metricName }) => metricName === 'lendstream_commit_seconds_count');
    expect(count?.value).to.be.greaterThan(0);
  });

  it('store many concurrent commits', async () => {
    const responses = await Promise.all(Array.from({ length: 100 }, (_, offset) => commit([offset])));
    expect(responses.every(({ status }) => status === 204 || status === 200)).to.equal(true);
    expect((await call('GET')).body.items[0].offset).to.equal('001-0001-000000000000000099');
  });
});
