import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventOf, numbersOf, startStreamingApi, type StreamingApi } from './streaming-api.ts';

describe('a subscription of a compacted event type', () => {
  let api: StreamingApi;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  it('delivers its events, and nothing for the keys that were deleted between them', async () => {
    const type = await api.createEventType(1, { cleanup_policy: 'compact' });
    const publish = async (number: number, key: string): Promise<void> => {
      const { metadata } = eventOf(number) as { metadata: object };
      const event = { metadata: { ...metadata, partition_compaction_key: key }, number };
      const { status, text } = await api.call('POST', `/event-types/${type}/events`, [event]);
      expect(status, text).to.equal(200);
    };
    const remove = async (key: string): Promise<void> => {
      const deletion = { metadata: { partition_compaction_key: key, partition: '0' } };
      const { status, text } = await api.call('POST', `/event-types/${type}/deleted-events`, [deletion]);
      expect(status, text).to.equal(200);
    };
    const id = await api.subscribe([type]);
    for (const [number, key] of [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ] as const) {
      await publish(number, key);
    }
    await remove('a');
    await publish(4, 'a');
    await publish(5, 'd');
    await remove('d');
    await remove('b');
    await publish(7, 'e');
    const stream = await api.open(id, '?max_uncommitted_events=100&batch_flush_timeout=1&stream_limit=6');
    await stream.until(() => stream.numbers.length === 6);
    expect(numbersOf(stream.batches).flat()).to.deep.equal([1, 2, 3, 4, 5, 7]);
    await api.commit(id, stream, ...stream.cursors);
    await stream.ended;
    expect(stream.lastInfo?.debug).to.match(/^Stream limit in events reached/);
  });
});
