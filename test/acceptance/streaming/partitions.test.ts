import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { offset, startStreamingApi, type StreamingApi } from './streaming-api.ts';

describe('partitions of an event type', () => {
  let api: StreamingApi;
  let type: string;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  beforeEach(async () => {
    type = await api.createEventType(2);
  });

  const get = (path: string) => api.call('GET', `/event-types/${path}`);

  const partition = (number: number, oldest: number, newest: number) => ({
    oldest_available_offset: offset(oldest),
    newest_available_offset: offset(newest),
    partition: String(number),
  });

  it('are listed with their oldest and newest offsets', async () => {
    await api.publish(type, [0, 1, 2], 1);
    const { status, body } = await get(`${type}/partitions`);
    expect(status).to.equal(200);
    expect(body).to.have.deep.members([partition(0, 0, -1), partition(1, 0, 2)]);
  });

  it('have the position before the first event as the newest while they are empty', async () => {
    const { body } = await get(`${type}/partitions/0`);
    expect(body).to.deep.equal(partition(0, 0, -1));
    expect(body['newest_available_offset']).to.equal('001-0001--1');
  });

  it('are not listed for an event type that does not exist', async () => {
    const { status, body } = await get('unknown/partitions');
    expect([status, body['detail']]).to.deep.equal([404, 'EventType "unknown" does not exist.']);
  });

  it('are listed with a higher newest offset after each event', async () => {
    await api.publish(type, [0], 0);
    expect((await get(`${type}/partitions`)).body).to.deep.include(partition(0, 0, 0));
    await api.publish(type, [1], 0);
    expect((await get(`${type}/partitions`)).body).to.deep.include(partition(0, 0, 1));
  });

  it('are shown one by one', async () => {
    await api.publish(type, [0], 1);
    const { status, body } = await get(`${type}/partitions/1`);
    expect([status, body]).to.deep.equal([200, partition(1, 0, 0)]);
  });

  it('are shown with how many events follow a position', async () => {
    await api.publish(type, [0, 1, 2], 1);
    for (const [consumed, unconsumed] of [
      ['BEGIN', 3],
      [offset(0), 2],
      [offset(2), 0],
    ] as const) {
      const { body } = await get(`${type}/partitions/1?consumed_offset=${consumed}`);
      expect(body, consumed).to.deep.equal({ ...partition(1, 0, 2), unconsumed_events: unconsumed });
    }
  });

  it('are not shown for an event type that does not exist', async () => {
    expect((await get('unknown/partitions/0')).status).to.equal(404);
  });

  it('are not shown when the event type does not have them', async () => {
    const { status, body } = await get(`${type}/partitions/2`);
    expect([status, body['detail']]).to.deep.equal([404, 'partition not found']);
  });

  it('are shown with a higher newest offset after each event', async () => {
    await api.publish(type, [0], 0);
    await api.publish(type, [1], 0);
    expect((await get(`${type}/partitions/0`)).body).to.deep.equal(partition(0, 0, 1));
  });
});
