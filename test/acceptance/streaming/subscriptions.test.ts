import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { cursor, newName, numbersOf, offset, startStreamingApi, type StreamingApi } from './streaming-api.ts';

interface SubscriptionView {
  readonly id: string;
  readonly status?: unknown;
}

describe('subscriptions', () => {
  let api: StreamingApi;
  let type: string;

  before(async () => {
    api = await startStreamingApi();
    type = await api.createEventType();
  });

  after(() => api.stop());

  const list = async (query: string) => {
    const { body } = await api.call('GET', `/subscriptions?${query}`);
    return body as unknown as { items: SubscriptionView[]; _links: Record<string, { href: string }> };
  };

  it('are created once: the second request gets what the first one created', async () => {
    const body = { owning_application: newName('app'), event_types: [type], consumer_group: 'group' };
    const created = await api.call('POST', '/subscriptions', body);
    expect(created.status).to.equal(201);
    expect(created.headers.get('location')).to.equal(`/subscriptions/${String(created.body['id'])}`);
    expect(created.body).to.deep.include({ ...body, read_from: 'end' });
    expect(created.body['created_at']).to.equal(created.body['updated_at']);
    const again = await api.call('POST', '/subscriptions', body);
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal(created.body);
    const shown = await api.call('GET', `/subscriptions/${String(created.body['id'])}`);
    expect(shown.status).to.equal(200);
    expect(shown.body).to.deep.equal(created.body);
  });

  it('are listed by one of their readers, the newest first, with a link to the next page', async () => {
    const reader = { data_type: 'service', value: newName('reader') };
    const authorization = { admins: [{ data_type: 'user', value: 'me' }], readers: [reader] };
    const ids = [await api.subscribe([type], { authorization })];
    ids.push(await api.subscribe([type], { authorization }));
    await api.subscribe([type]);
    const query = `event_type=${type}&reader=service:${reader.value}`;
    const { items, _links } = await list(`${query}&limit=2`);
    expect(items.map(({ id }) => id)).to.deep.equal(ids.toReversed());
    expect(_links).to.deep.equal({ next: { href: `/subscriptions?${query}&offset=2&limit=2` } });
  });

  it('are refused with empty lists of admins and readers', async () => {
    const body = { owning_application: newName('app'), event_types: [type] };
    const authorization = { admins: [], readers: [] };
    const { status, body: problem } = await api.call('POST', '/subscriptions', { ...body, authorization });
    expect(status).to.equal(422);
    expect(problem['title']).to.equal('Unprocessable Entity');
  });

  it('may name ten event types', async () => {
    const types = await Promise.all(Array.from({ length: 10 }, () => api.createEventType()));
    const id = await api.subscribe(types);
    const { body } = await api.call('GET', `/subscriptions/${id}`);
    expect(body['event_types']).to.deep.equal(types.toSorted());
  });

  it('are refused with more partitions in total than the maximum, and accepted with the maximum', async () => {
    const types = await Promise.all(Array.from({ length: 13 }, () => api.createEventType(8)));
    const atMaximum = [...types.slice(0, 12), await api.createEventType(4)];
    expect(await api.subscribe(atMaximum)).not.to.equal('');
    const body = { owning_application: newName('app'), event_types: types };
    const { status, body: problem } = await api.call('POST', '/subscriptions', body);
    expect(status).to.equal(422);
    expect(problem['detail']).to.equal(
      'total partition count for subscription is 104, but the maximum partition count is 100',
    );
  });

  it('are listed by owning application, the newest first, without links when they fit on a page', async () => {
    const owner = newName('app');
    const ids = [await api.subscribe([type], { owning_application: owner, consumer_group: 'a' })];
    ids.push(await api.subscribe([type], { owning_application: owner, consumer_group: 'b' }));
    const { items, _links } = await list(`owning_application=${owner}`);
    expect(items.map(({ id }) => id)).to.deep.equal(ids.toReversed());
    expect(_links).to.deep.equal({});
  });

  it('show changed annotations and labels', async () => {
    const id = await api.subscribe([type], { annotations: { 'a.b/c': '1' }, labels: { team: 'x' } });
    const { body } = await api.call('GET', `/subscriptions/${id}`);
    const changes = { annotations: { 'a.b/c': '2' }, labels: { team: 'y', kind: 'z' } };
    const put = await api.call('PUT', `/subscriptions/${id}`, { ...body, ...changes });
    expect([put.status, put.text]).to.deep.equal([204, '']);
    expect((await api.call('GET', `/subscriptions/${id}`)).body).to.deep.include(changes);
  });

  it('show changed annotations and labels without labels that are null, as event types do', async () => {
    const sent = { annotations: { 'a.b/c': null, d: '1' }, labels: { team: null, kind: 'z' } };
    const kept = { annotations: sent.annotations, labels: { kind: 'z' } };
    const id = await api.subscribe([type], sent);
    const { body } = await api.call('GET', `/subscriptions/${id}`);
    expect(body).to.deep.include(kept);
    const changed = { annotations: { e: null }, labels: { team: null, kind: 'y' } };
    expect((await api.call('PUT', `/subscriptions/${id}`, { ...body, ...changed })).status).to.equal(204);
    const after = (await api.call('GET', `/subscriptions/${id}`)).body;
    expect(after).to.deep.include({ ...changed, labels: { kind: 'y' } });
    const name = await api.createEventType(1, sent);
    expect((await api.call('GET', `/event-types/${name}`)).body).to.deep.include(kept);
  });

  it('accept commits of plain numbers, ignore those that move nothing, and keep the offset in its full form', async () => {
    await api.publish(
      type,
      Array.from({ length: 30 }, (_, number) => number),
    );
    const id = await api.subscribe([type]);
    const stream = await api.open(id, '?max_uncommitted_events=1');
    await stream.until(() => stream.numbers.length === 1);
    expect((await api.commit(id, stream, cursor(type, '-1'))).status).to.equal(200);
    expect((await api.commit(id, stream, cursor(type, '25'))).status).to.equal(204);
    expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(25) });
  });

  it('that read from cursors are refused without one for each partition', async () => {
    const body = { owning_application: newName('app'), event_types: [type], read_from: 'cursors' };
    const { status, body: problem } = await api.call('POST', '/subscriptions', body);
    expect(status).to.equal(422);
    expect(problem['detail']).to.equal('initial_cursors should contain cursors for all partitions of subscription');
  });

  it('that read from cursors begin after those, which may be plain numbers', async () => {
    const types = [await api.createEventType(2), await api.createEventType(2)] as const;
    for (const name of types) {
      for (const partition of [0, 1]) await api.publish(name, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], partition);
    }
    const id = await api.subscribe(types, {
      read_from: 'cursors',
      initial_cursors: [
        { event_type: types[0], partition: '0', offset: '7' },
        { event_type: types[0], partition: '1', offset: '2' },
        { event_type: types[1], partition: '0', offset: 'BEGIN' },
        { event_type: types[1], partition: '1', offset: '9' },
      ],
    });
    const stream = await api.open(id, '?max_uncommitted_events=100&batch_flush_timeout=1');
    await stream.until(() => stream.numbers.length === 19 && stream.partitions.length === 2);
    const firsts = new Map<string, number>();
    for (const batch of stream.batches) {
      const key = `${batch.cursor.event_type}:${batch.cursor.partition}`;
      if (!firsts.has(key) && batch.events !== undefined) firsts.set(key, numbersOf([batch])[0]?.[0] ?? -1);
    }
    expect(Object.fromEntries(firsts)).to.deep.equal({
      [`${types[0]}:0`]: 8,
      [`${types[0]}:1`]: 3,
      [`${types[1]}:0`]: 0,
    });
    expect(stream.numbers).to.have.length(19);
  });

  it('show their committed cursors', async () => {
    const own = await api.createEventType();
    await api.publish(
      own,
      Array.from({ length: 30 }, (_, number) => number),
    );
    const id = await api.subscribe([own]);
    const stream = await api.open(id);
    await api.commit(id, stream, cursor(own, '25'));
    const { status, body } = await api.call('GET', `/subscriptions/${id}/cursors`);
    expect(status).to.equal(200);
    const [shown, ...others] = body['items'] as Record<string, string>[];
    expect(others).to.deep.equal([]);
    expect(shown).to.include({ event_type: own, partition: '0', offset: offset(25) });
    expect(shown?.['cursor_token']).to.match(/^[0-9a-f-]{36}$/);
  });

  it('have no cursors before the first stream', async () => {
    const { status, body } = await api.call('GET', `/subscriptions/${await api.subscribe([type])}/cursors`);
    expect([status, body]).to.deep.equal([200, { items: [] }]);
  });

  it('have no cursors when they do not exist', async () => {
    expect((await api.call('GET', '/subscriptions/unknown/cursors')).status).to.equal(404);
  });

  it('are deleted with their open streams', async () => {
    const id = await api.subscribe([type]);
    const stream = await api.open(id);
    const deleted = await api.call('DELETE', `/subscriptions/${id}`);
    expect([deleted.status, deleted.text]).to.deep.equal([204, '']);
    await stream.ended;
    for (const path of ['', '/cursors', '/stats', '/events']) {
      expect((await api.call('GET', `/subscriptions/${id}${path}`)).status, path).to.equal(404);
    }
  });

  it('keep their event types from being deleted', async () => {
    const own = await api.createEventType();
    await api.subscribe([own]);
    const { status, body } = await api.call('DELETE', `/event-types/${own}`);
    expect(status).to.equal(409);
    expect(body['detail']).to.equal(`Can't remove event type ${own}, as it has subscriptions`);
  });

  const unassigned = { partition: '0', state: 'unassigned', stream_id: '' };

  it('have statistics before their first stream', async () => {
    const { status, body } = await api.call(
      'GET',
      `/subscriptions/${await api.subscribe([type], { read_from: 'end' })}/stats`,
    );
    expect(status).to.equal(200);
    // Nakadi leaves the number out.
    const partitions = [{ ...unassigned, unconsumed_events: 0 }];
    expect(body['items']).to.deep.equal([{ event_type: type, partitions }]);
  });

  it('have a status in lists before their first stream', async () => {
    const owner = newName('app');
    await api.subscribe([type], { owning_application: owner });
    const { items } = await list(`owning_application=${owner}&show_status=true`);
    expect(items[0]?.status).to.deep.equal([{ event_type: type, partitions: [unassigned] }]);
  });

  it('have the holders of their partitions in lists', async () => {
    const owner = newName('app');
    const id = await api.subscribe([type], { owning_application: owner });
    const stream = await api.open(id, '?batch_flush_timeout=1');
    await stream.until(() => stream.batches.length > 0);
    const { items } = await list(`owning_application=${owner}&show_status=true`);
    const holder = { state: 'assigned', stream_id: stream.streamId, assignment_type: 'auto' };
    expect(items[0]?.status).to.deep.equal([{ event_type: type, partitions: [{ partition: '0', ...holder }] }]);
  });

  it('refuse a stream that requests a partition twice', async () => {
    const requested = { event_type: type, partition: '0' };
    const stream = await api.open(await api.subscribe([type]), '', { body: { partitions: [requested, requested] } });
    const { status, detail } = await stream.problem();
    expect(status).to.equal(422);
    expect(detail).to.match(/^Duplicated partition specified/);
  });

  it('refuse a stream that requests partitions which they do not have, and name those', async () => {
    const partitions = [
      { event_type: type, partition: '0' },
      { event_type: type, partition: '1' },
      { event_type: 'other', partition: '0' },
    ];
    const stream = await api.open(await api.subscribe([type]), '', { body: { partitions } });
    const { status, detail } = await stream.problem();
    expect(status).to.equal(422);
    expect(detail).to.equal(
      "Wrong partitions specified - some partitions don't belong to subscription: " +
        `EventTypePartition{eventType='${type}', partition='1'}, EventTypePartition{eventType='other', partition='0'}`,
    );
  });
});
