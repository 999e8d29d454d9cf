import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventually } from '../../support/eventually.ts';
import { eventOf, startStreamingApi, type StreamingApi } from './streaming-api.ts';

describe('dead letters of keys that are deleted', () => {
  let api: StreamingApi;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  it('show the event until its key is deleted, and its place from then on', async () => {
    const type = await api.createEventType(1, { cleanup_policy: 'compact' });
    const { metadata } = eventOf(1) as { metadata: object };
    const event = { metadata: { ...metadata, partition_compaction_key: 'k1' }, number: 1, name: 'Ada Secret' };
    expect((await api.call('POST', `/event-types/${type}/events`, [event])).status).to.equal(200);
    const annotations = {
      'nakadi.zalando.org/subscription-max-event-send-count': '2',
      'nakadi.zalando.org/subscription-unprocessable-event-policy': 'DEAD_LETTER_QUEUE',
    };
    const id = await api.subscribe([type], { annotations });
    type Letter = { readonly offset: string; readonly event?: object; readonly error: { readonly message: string } };
    const letter = async (): Promise<Letter | undefined> => {
      const { body } = await api.call('GET', '/event-types/nakadi.dead.letter.queue/retained-events?limit=100');
      const { items } = body as { items: { event: Letter & { subscription_id: string } }[] };
      return items.map((item) => item.event).find((each) => each.subscription_id === id);
    };
    while ((await letter()) === undefined) {
      const stream = await api.open(
        id,
        '?commit_timeout=1&max_uncommitted_events=1&batch_flush_timeout=1&stream_timeout=3',
      );
      await stream.ended;
    }
    expect((await letter())?.event).to.include({ name: 'Ada Secret' });
    const remove = async (key: string): Promise<void> => {
      const deletion = { metadata: { partition_compaction_key: key, partition: '0' } };
      expect((await api.call('POST', `/event-types/${type}/deleted-events`, [deletion])).status).to.equal(200);
    };
    await remove('k2');
    expect((await letter())?.event).to.include({ name: 'Ada Secret' });
    await remove('k1');
    await eventually(async () => (await letter())?.event === undefined);
    const { offset, error } = (await letter()) as Letter;
    expect([offset, error.message]).to.deep.equal(['001-0001-000000000000000000', 'The key of the event was deleted.']);
  });
});
