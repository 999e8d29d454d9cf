import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { setTimeout as sleep } from 'node:timers/promises';
import { cursor, numbersOf, offset, startStreamingApi, withEvents, type StreamingApi } from './streaming-api.ts';
import type { Batch } from '../../support/http/client.ts';
import { eventually } from '../../support/eventually.ts';

const offsetsOf = (batches: readonly Batch[]): string[] => batches.map((batch) => batch.cursor.offset);

const textsOf = (batches: readonly Batch[]): (string | undefined)[] => batches.map(({ info }) => info?.debug);

describe('streams of a subscription', () => {
  let api: StreamingApi;
  let type: string;
  let id: string;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  beforeEach(async () => {
    type = await api.createEventType();
    id = await api.subscribe([type]);
  });

  const stats = async () => (await api.call('GET', `/subscriptions/${id}/stats`)).body['items'];

  it('accept a commit a second after their client closed them', async () => {
    await api.publish(type, [0, 1]);
    const stream = await api.open(id);
    await stream.until(() => stream.numbers.length > 0);
    stream.destroy();
    await sleep(1_000);
    expect((await api.commit(id, stream, cursor(type, 0))).status).to.equal(204);
    expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(0) });
  });

  it('deliver from all partitions of an event type that got more before the subscription was created', async () => {
    const grown = await api.call('PUT', `/event-types/${type}/partition-count`, { partition_count: 2 });
    expect(grown.status).to.equal(204);
    await api.publish(type, [0], 0);
    await api.publish(type, [1], 1);
    const stream = await api.open(await api.subscribe([type]));
    await stream.until(() => stream.numbers.length === 2);
    expect(withEvents(stream.batches).map((batch) => batch.cursor.partition)).to.have.members(['0', '1']);
  });

  it('send what waits when their timeout is reached, and then a last line that says so', async () => {
    await api.publish(type, [0, 1, 2, 3]);
    const query = '?batch_limit=1000&batch_flush_timeout=600&stream_timeout=2&max_uncommitted_events=1000';
    const stream = await api.open(id, `${query}&commit_timeout=1`);
    await stream.ended;
    expect(stream.batches.map(({ events }) => events?.length ?? 0)).to.deep.equal([4, 0]);
    expect(textsOf(stream.batches)).to.deep.equal(['Stream started', 'Stream timeout reached']);
  });

  it('end when as many events as their limit are committed, and the next one begins after the last of them', async () => {
    await api.publish(type, [0, 1, 2, 3]);
    const stream = await api.open(id, '?stream_limit=2');
    await stream.until(() => stream.batches.length === 2);
    expect(offsetsOf(stream.batches)).to.deep.equal([offset(0), offset(1)]);
    expect(textsOf(stream.batches)).to.deep.equal(['Stream started', undefined]);
    expect((await api.commit(id, stream, cursor(type, 1))).status).to.equal(204);
    await stream.ended;
    const next = await api.open(id);
    await next.until(() => next.batches.length > 0);
    expect(next.batches[0]).to.deep.include({ info: { debug: 'Stream started' } });
    expect(next.batches[0]?.cursor.offset).to.equal(offset(2));
  });

  it('have the position before the first event in the first line of an empty partition', async () => {
    const stream = await api.open(id, '?batch_flush_timeout=1');
    await stream.until(() => stream.batches.length > 0);
    expect(stream.batches[0]?.events).to.equal(undefined);
    expect(stream.batches[0]?.cursor.offset).to.equal('001-0001--1');
  });

  it('make the position before the first event the committed one, which may be committed again', async () => {
    const stream = await api.open(id, '?batch_flush_timeout=1');
    await stream.until(() => stream.batches.length > 0);
    expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: '001-0001--1' });
    const { status, body } = await api.commit(id, stream, cursor(type, 'BEGIN'));
    expect(status).to.equal(200);
    expect((body['items'] as { result: string }[]).map(({ result }) => result)).to.deep.equal(['outdated']);
  });

  it('accept a commit of the very first event, with a plain number as offset and any token', async () => {
    await api.publish(type, [0]);
    const stream = await api.open(id);
    await stream.until(() => stream.numbers.length === 1);
    expect((await api.commit(id, stream, cursor(type, '0'))).status).to.equal(204);
    expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(0) });
  });

  it('send no more events than their window, which commits open by as many as they cover', async () => {
    await api.publish(
      type,
      Array.from({ length: 15 }, (_, number) => number),
    );
    const stream = await api.open(id, '?max_uncommitted_events=5');
    await stream.until(() => stream.numbers.length === 5);
    await sleep(300);
    expect(stream.batches).to.have.length(5);
    await api.commit(id, stream, cursor(type, 4));
    await stream.until(() => stream.numbers.length === 10);
    await api.commit(id, stream, cursor(type, 6));
    await stream.until(() => stream.numbers.length === 12);
    await sleep(300);
    expect(stream.batches).to.have.length(12);
  });

  it('end with a last line that says so when nothing is committed within the commit timeout', async () => {
    await api.publish(type, [0]);
    const stream = await api.open(id, '?commit_timeout=1');
    await stream.ended;
    expect(stream.batches.map(({ events }) => events?.length ?? 0)).to.deep.equal([1, 0]);
    expect(textsOf(stream.batches)).to.deep.equal(['Stream started', 'Commit timeout reached']);
  });

  it('end soon after their timeout when everything is committed', async () => {
    await api.publish(type, [0]);
    const openedAt = performance.now();
    const stream = await api.open(id, '?stream_timeout=3');
    await stream.until(() => stream.numbers.length === 1);
    await api.commit(id, stream, cursor(type, 0));
    await stream.ended;
    expect(performance.now() - openedAt).to.be.within(2_900, 30_000);
    expect(stream.lastInfo?.debug).to.equal('Stream timeout reached');
  });

  it('send full batches at once, and what is left after the flush timeout', async () => {
    await api.publish(
      type,
      Array.from({ length: 12 }, (_, number) => number),
    );
    const stream = await api.open(id, '?batch_limit=5&batch_flush_timeout=1&max_uncommitted_events=20');
    await stream.until(() => withEvents(stream.batches).length === 3);
    const batches = withEvents(stream.batches);
    expect(batches.map(({ events = [] }) => events.length)).to.deep.equal([5, 5, 2]);
    expect(offsetsOf(batches)).to.deep.equal([offset(4), offset(9), offset(11)]);
  });

  it('are refused with 409 while there is no partition for them', async () => {
    await api.open(id, '?batch_flush_timeout=1');
    const second = await api.open(id, '?batch_flush_timeout=1');
    const { status, detail } = await second.problem();
    expect(status).to.equal(409);
    expect(detail).to.equal(`No free slots for streaming available for subscription ${id}. Total slots: 1`);
  });

  it('give up their partitions when their client has gone', async () => {
    await api.publish(type, [0]);
    const first = await api.open(id, '?batch_flush_timeout=1&max_uncommitted_events=20');
    await first.until(() => first.numbers.length === 1);
    first.destroy();
    let second = await api.open(id, '?batch_flush_timeout=1');
    await eventually(async () => {
      if (second.status === 409) second = await api.open(id, '?batch_flush_timeout=1');
      return second.status === 200;
    });
    await second.until(() => second.numbers.length === 1);
  });

  it('are shown in the statistics with what is left of each partition', async () => {
    await api.publish(
      type,
      Array.from({ length: 15 }, (_, number) => number),
    );
    const stream = await api.open(id, '?max_uncommitted_events=20');
    await stream.until(() => stream.numbers.length === 15);
    const shown = (unconsumed: number) => {
      const holder = { state: 'assigned', stream_id: stream.streamId, assignment_type: 'auto' };
      return [{ event_type: type, partitions: [{ partition: '0', ...holder, unconsumed_events: unconsumed }] }];
    };
    expect(await stats()).to.deep.equal(shown(15));
    expect((await api.commit(id, stream, cursor(type, '9'))).status).to.equal(204);
    expect(await stats()).to.deep.equal(shown(5));
  });

  it('are shown in the statistics as direct when they requested their partitions', async () => {
    const body = { partitions: [{ event_type: type, partition: '0' }] };
    const stream = await api.open(id, '', { body });
    const holder = { state: 'assigned', stream_id: stream.streamId, assignment_type: 'direct' };
    const partition = { partition: '0', ...holder, unconsumed_events: 0 };
    await eventually(async () => JSON.stringify(await stats()).includes('assigned'));
    expect(await stats()).to.deep.equal([{ event_type: type, partitions: [partition] }]);
  });

  it('are counted by event type in the statistics, from where they began', async () => {
    const other = await api.createEventType();
    await api.publish(type, [0]);
    await api.publish(other, [0]);
    id = await api.subscribe([type, other], { read_from: 'end' });
    const stream = await api.open(id, '?batch_flush_timeout=1');
    await stream.until(() => new Set(stream.batches.map((batch) => batch.cursor.event_type)).size === 2);
    await api.publish(type, [1]);
    await api.publish(other, [1, 2]);
    await stream.until(() => stream.numbers.length === 3);
    const items = (await stats()) as { event_type: string; partitions: { unconsumed_events: number }[] }[];
    const counts = items.map(({ event_type, partitions }) => [event_type, partitions[0]?.unconsumed_events]);
    expect(Object.fromEntries(counts)).to.deep.equal({ [type]: 1, [other]: 2 });
  });

  it('do not end by time with a stream_timeout of 0', async () => {
    const stream = await api.open(id, '?stream_timeout=0&batch_flush_timeout=1&commit_timeout=5');
    const short = await api.open(await api.subscribe([type]), '?stream_timeout=2&batch_flush_timeout=1');
    await short.ended;
    await api.publish(type, [7]);
    await stream.until(() => stream.numbers.length === 1);
    expect(textsOf(stream.batches)).not.to.include('Stream timeout reached');
    expect(textsOf(short.batches)).to.include('Stream timeout reached');
  });

  it('end before a reset of the cursors returns, and the next one begins where it was reset to', async () => {
    await api.publish(
      type,
      Array.from({ length: 10 }, (_, number) => number),
    );
    const stream = await api.open(id, '?max_uncommitted_events=20');
    await stream.until(() => stream.numbers.length === 10);
    await api.commit(id, stream, cursor(type, 9));
    const { cursor_token: _token, ...fifth } = cursor(type, 4);
    const reset = await api.call('PATCH', `/subscriptions/${id}/cursors`, { items: [fifth] });
    expect(reset.status).to.equal(204);
    await stream.ended;
    expect(stream.lastInfo?.debug).to.equal('Resetting subscription cursors');
    const next = await api.open(id);
    await next.until(() => next.batches.length > 0);
    expect(next.batches[0]?.cursor.offset).to.equal(offset(5));
  });

  it('begin at the end as it was at an empty reset', async () => {
    await api.publish(type, [0, 1]);
    id = await api.subscribe([type], { read_from: 'end' });
    expect((await api.call('PATCH', `/subscriptions/${id}/cursors`, { items: [] })).status).to.equal(204);
    expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(1) });
    await api.publish(type, [2]);
    const stream = await api.open(id);
    await stream.until(() => stream.batches.length > 0);
    expect(numbersOf(stream.batches)).to.deep.equal([[2]]);
  });

  it('begin where a reset of one partition said, and at the end of the others', async () => {
    const two = await api.createEventType(2);
    for (const partition of [0, 1]) await api.publish(two, [0, 1, 2], partition);
    id = await api.subscribe([two], { read_from: 'end' });
    const { cursor_token: _token, ...first } = cursor(two, 0);
    expect((await api.call('PATCH', `/subscriptions/${id}/cursors`, { items: [first] })).status).to.equal(204);
    expect(await api.committed(id)).to.deep.equal({ [`${two}:0`]: offset(0), [`${two}:1`]: offset(2) });
  });
});
