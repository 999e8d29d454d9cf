import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { offset, startStreamingApi, type StreamingApi } from './streaming-api.ts';

/** The original moves to another topic half way. Here an event type has one topic for good. */
describe('arithmetic with cursors', () => {
  let api: StreamingApi;
  let type: string;

  before(async () => {
    api = await startStreamingApi();
    type = await api.createEventType();
    await api.publish(type, [0, 1, 2, 3, 4, 5, 6]);
  });

  after(() => api.stop());

  it('counts the events that follow each of them', async () => {
    for (const [position, unconsumed] of [
      ['BEGIN', 7],
      [offset(-1), 7],
      [offset(0), 6],
      [offset(2), 4],
      [offset(4), 2],
      [offset(6), 0],
    ] as const) {
      const cursors = [{ partition: '0', offset: position }];
      const { status, body } = await api.call('POST', `/event-types/${type}/cursors-lag`, cursors);
      expect(status).to.equal(200);
      expect(body, position).to.deep.equal([
        {
          partition: '0',
          oldest_available_offset: offset(0),
          newest_available_offset: offset(6),
          unconsumed_events: unconsumed,
        },
      ]);
    }
  });

  it('moves them forwards and backwards, and not beyond the position before the first event', async () => {
    const shifted = (position: string, shift: number) =>
      api.call('POST', `/event-types/${type}/shifted-cursors`, [{ partition: '0', offset: position, shift }]);
    for (const [from, shift, to] of [
      [2, 3, 5],
      [5, -3, 2],
      [2, -3, -1],
      [-1, 4, 3],
      [3, 0, 3],
    ] as const) {
      const { status, body } = await shifted(offset(from), shift);
      expect(status).to.equal(200);
      expect(body, `${from} by ${shift}`).to.deep.equal([{ partition: '0', offset: offset(to) }]);
    }
    expect((await shifted(offset(2), -4)).status).to.equal(422);
  });
});
