import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventually } from '../../support/eventually.ts';
import { startStreamingApi, type StreamingApi } from './streaming-api.ts';

describe('an event type that gets more partitions', () => {
  let api: StreamingApi;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  const grow = async (type: string, partitionCount: number): Promise<void> => {
    const body = { partition_count: partitionCount };
    expect((await api.call('PUT', `/event-types/${type}/partition-count`, body)).status).to.equal(204);
  };

  interface PartitionStatistics {
    readonly partition: string;
    readonly state: string;
  }

  const partitionsOf = async (id: string): Promise<Record<string, PartitionStatistics[]>> => {
    const { body } = await api.call('GET', `/subscriptions/${id}/stats`);
    const items = body['items'] as { event_type: string; partitions: PartitionStatistics[] }[];
    return Object.fromEntries(items.map(({ event_type, partitions }) => [event_type, partitions]));
  };

  it('ends the streams of its subscriptions, and the next ones deliver from the new partitions', async () => {
    const type = await api.createEventType();
    await api.publish(type, [0]);
    const id = await api.subscribe([type]);
    const stream = await api.open(id, '?batch_flush_timeout=1');
    await stream.until(() => stream.numbers.length === 1);
    await api.commit(id, stream, ...stream.cursors);
    await grow(type, 2);
    await stream.ended;
    await api.publish(type, [1], 1);
    const next = await api.open(id, '?batch_flush_timeout=1');
    await next.until(() => next.numbers.length === 1);
    expect(next.cursors.map(({ partition }) => partition)).to.deep.equal(['1']);
  });

  it('adds its new partitions to a subscription, and keeps the position of the others', async () => {
    const type = await api.createEventType();
    await api.publish(type, [0, 1]);
    const id = await api.subscribe([type]);
    const stream = await api.open(id, '?max_uncommitted_events=10');
    await stream.until(() => stream.numbers.length === 2);
    await api.commit(id, stream, ...stream.cursors);
    const before = await api.committed(id);
    await grow(type, 2);
    const next = await api.open(id);
    await eventually(async () => (await partitionsOf(id))[type]?.every(({ state }) => state === 'assigned') ?? false);
    expect((await partitionsOf(id))[type]?.map(({ partition }) => partition)).to.deep.equal(['0', '1']);
    expect(await api.committed(id)).to.deep.equal({ ...before, [`${type}:1`]: '001-0001--1' });
    next.destroy();
  });

  it('adds its new partitions to a subscription from the end that never streamed, with what comes from then on', async () => {
    const type = await api.createEventType();
    await api.publish(type, [0, 1, 2, 3]);
    const id = await api.subscribe([type], { read_from: 'end' });
    await grow(type, 3);
    // The same number again moves nothing.
    await grow(type, 3);
    await api.publish(type, [4, 5]);
    await api.publish(type, [6, 7], 1);
    await api.publish(type, [8], 2);
    const stream = await api.open(id, '?batch_flush_timeout=1&max_uncommitted_events=100');
    await stream.until(() => stream.numbers.length >= 5);
    expect(stream.numbers).to.have.members([4, 5, 6, 7, 8]);
    stream.destroy();
  });

  it('leaves the partitions of the other event types of a subscription alone', async () => {
    const [type, other] = [await api.createEventType(), await api.createEventType()];
    const id = await api.subscribe([type, other]);
    const stream = await api.open(id);
    await grow(type, 2);
    await stream.ended;
    const partitions = await partitionsOf(id);
    expect(partitions[type]?.map(({ partition }) => partition)).to.deep.equal(['0', '1']);
    expect(partitions[other]?.map(({ partition }) => partition)).to.deep.equal(['0']);
  });
});
