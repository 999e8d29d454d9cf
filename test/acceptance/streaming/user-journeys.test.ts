import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  eventOf,
  eventTypeOf,
  newName,
  offset,
  startStreamingApi,
  withEvents,
  type StreamingApi,
} from './streaming-api.ts';

describe('what a user does from the definition to the end', () => {
  let api: StreamingApi;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  it('works without a subscription: define, change, publish, look at partitions and read', async () => {
    const name = newName();
    const definition = eventTypeOf(name, 1, {
      category: 'undefined',
      enrichment_strategies: [],
      partition_strategy: 'random',
    });
    expect((await api.call('POST', '/event-types', definition)).status).to.equal(201);
    const schema = '{"type":"object","properties":{"number":{"type":"integer"},"name":{"type":"string"}}}';
    const changed = { ...definition, schema: { type: 'json_schema', schema }, owning_application: 'changed' };
    expect((await api.call('PUT', `/event-types/${name}`, changed)).status).to.equal(200);
    const { body: shown } = await api.call('GET', `/event-types/${name}`);
    expect(shown['owning_application']).to.equal('changed');
    expect(shown['schema']).to.deep.include({ version: '1.1.0', schema });
    const events = [{ number: 1 }, { number: 2 }];
    expect((await api.call('POST', `/event-types/${name}/events`, events)).status).to.equal(200);
    const partition = { partition: '0', oldest_available_offset: offset(0), newest_available_offset: offset(1) };
    expect((await api.call('GET', `/event-types/${name}/partitions`)).body).to.deep.equal([partition]);
    expect((await api.call('GET', `/event-types/${name}/partitions/0`)).body).to.deep.equal(partition);

    const headers = { 'X-Nakadi-Cursors': JSON.stringify([{ partition: '0', offset: 'BEGIN' }]) };
    const response = await fetch(`${api.url}/event-types/${name}/events?batch_limit=2&stream_limit=2`, { headers });
    const [line = ''] = (await response.text()).split('\n');
    expect(line).to.match(
      /^\{"cursor":\{"partition":"0","offset":"001-0001-000000000000000001"\},"events":\[\{"number":1\},\{"number":2\}\]/,
    );

    const post = async (operation: string, body: unknown) =>
      (await api.call('POST', `/event-types/${name}/${operation}`, body)).body as unknown as Record<string, unknown>[];
    const [first, last] = [0, 1].map((number) => ({ partition: '0', offset: offset(number) }));
    const [distance] = await post('cursor-distances', [{ initial_cursor: first, final_cursor: last }]);
    expect(distance?.['distance']).to.equal(1);
    expect(await post('shifted-cursors', [{ ...first, shift: 1 }])).to.deep.equal([last]);
    expect((await post('cursors-lag', [first]))[0]?.['unconsumed_events']).to.equal(1);
  });

  it('works when an event type gets more partitions, however often it is asked for', async () => {
    const name = await api.createEventType();
    for (let request = 0; request < 2; request += 1) {
      const grown = await api.call('PUT', `/event-types/${name}/partition-count`, { partition_count: 3 });
      expect(grown.status).to.equal(204);
      const { body } = await api.call('GET', `/event-types/${name}/partitions`);
      expect(body).to.have.length(3);
    }
  });

  it('works to the end: a deleted event type is gone', async () => {
    const name = await api.createEventType();
    expect((await api.call('DELETE', `/event-types/${name}`)).status).to.equal(200);
    expect((await api.call('GET', `/event-types/${name}`)).status).to.equal(404);
  });

  it('works with a subscription: create, list, stream, watch the lag, commit and delete', async () => {
    const name = await api.createEventType();
    const id = await api.subscribe([name]);
    const { body: listed } = await api.call('GET', `/subscriptions?event_type=${name}`);
    expect((listed['items'] as { id: string }[]).map((item) => item.id)).to.deep.equal([id]);
    for (const number of [0, 1, 2, 3]) {
      expect((await api.call('POST', `/event-types/${name}/events`, [eventOf(number)])).status).to.equal(200);
    }
    const stream = await api.open(id, '?batch_limit=1&max_uncommitted_events=10');
    await stream.until(() => stream.numbers.length === 4);
    const batches = withEvents(stream.batches);
    expect(batches.map(({ cursor }) => cursor.offset)).to.deep.equal([0, 1, 2, 3].map(offset));
    expect(batches[0]?.events?.[0]?.['metadata']).to.include({ event_type: name, partition: '0', version: '1.0.0' });

    const partitionStats = async (): Promise<Record<string, unknown> | undefined> => {
      const { body } = await api.call('GET', `/subscriptions/${id}/stats?show_time_lag=true`);
      return (body['items'] as { partitions: Record<string, unknown>[] }[])[0]?.partitions[0];
    };
    expect((await partitionStats())?.['unconsumed_events']).to.equal(4);
    expect((await api.commit(id, stream, ...stream.cursors)).status).to.equal(204);
    expect(await partitionStats()).to.include({ unconsumed_events: 0, consumer_lag_seconds: 0 });
    expect(await api.committed(id)).to.deep.equal({ [`${name}:0`]: offset(3) });
    expect((await api.call('DELETE', `/subscriptions/${id}`)).status).to.equal(204);
    expect((await api.call('GET', `/subscriptions/${id}`)).status).to.equal(404);
  });
});
