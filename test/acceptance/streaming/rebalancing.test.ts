import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { setTimeout as sleep } from 'node:timers/promises';
import { startStreamingApi, type StreamingApi } from './streaming-api.ts';
import { eventually } from '../../support/eventually.ts';
import type { StreamClient } from '../../support/http/stream-server.ts';

const partitions = [0, 1, 2, 3, 4, 5, 6, 7];

describe('streams that share a subscription of eight partitions', () => {
  let api: StreamingApi;
  let type: string;
  let id: string;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  beforeEach(async () => {
    type = await api.createEventType(partitions.length);
    id = await api.subscribe([type]);
  });

  const publishToEach = async (...numbers: number[]): Promise<void> => {
    for (const partition of partitions) await api.publish(type, numbers, partition);
  };

  const requesting = (...requested: number[]) => ({
    body: {
      batch_flush_timeout: 1,
      partitions: requested.map((partition) => ({ event_type: type, partition: String(partition) })),
    },
  });

  const heldBy = async (...streams: readonly StreamClient[]): Promise<string[][]> => {
    const { body } = await api.call('GET', `/subscriptions/${id}/stats`);
    const [item] = body['items'] as { partitions: { partition: string; stream_id: string; state: string }[] }[];
    return streams.map(({ streamId }) =>
      (item?.partitions ?? [])
        .filter((partition) => partition.stream_id === streamId && partition.state === 'assigned')
        .map(({ partition }) => partition),
    );
  };

  const sharesAre = async (shares: readonly number[], ...streams: readonly StreamClient[]): Promise<void> => {
    await eventually(async () => (await heldBy(...streams)).map(({ length }) => length).join() === shares.join());
  };

  it('share the partitions equally, begin after what is committed, and take over from one that ends', async () => {
    await publishToEach(0, 1, 2, 3, 4);
    const first = await api.open(id, '?max_uncommitted_events=100&batch_flush_timeout=1');
    await first.until(() => first.numbers.length === 40);
    await api.commit(id, first, ...first.cursors);
    const second = await api.open(id, '?max_uncommitted_events=100&batch_flush_timeout=1&stream_limit=20');
    await sharesAre([4, 4], first, second);
    const [ofFirst = [], ofSecond = []] = await heldBy(first, second);
    expect([...ofFirst, ...ofSecond].sort()).to.deep.equal(partitions.map(String));
    await publishToEach(5, 6, 7, 8, 9);
    await Promise.all([
      first.until(() => first.numbers.length === 60),
      second.until(() => second.numbers.length === 20),
    ]);
    expect(second.numbers.every((number) => number >= 5)).to.equal(true);
    await Promise.all([api.commit(id, first, ...first.cursors), api.commit(id, second, ...second.cursors)]);
    await second.ended;
    await sharesAre([8], first);
    await publishToEach(10, 11, 12, 13, 14);
    await first.until(() => first.numbers.length === 100);
  });

  it('hold exactly the partitions that they request', async () => {
    await publishToEach(0);
    const stream = await api.open(id, '', requesting(5, 6));
    await stream.until(() => stream.numbers.length === 2);
    await sleep(1_100);
    expect(stream.partitions).to.deep.equal(['5', '6']);
  });

  it('leave requested partitions to those who requested them, and share the others', async () => {
    const shared = [await api.open(id), await api.open(id)];
    const direct = [await api.open(id, '', requesting(6)), await api.open(id, '', requesting(7))];
    await sharesAre([3, 3, 1, 1], ...shared, ...direct);
    expect((await heldBy(...direct)).flat()).to.deep.equal(['6', '7']);
  });

  it('give a partition to a stream that requests it, and get it back when that one ends', async () => {
    const shared = await api.open(id, '?batch_flush_timeout=1');
    await sharesAre([8], shared);
    const direct = await api.open(id, '', requesting(6));
    await sharesAre([7, 1], shared, direct);
    expect(await heldBy(direct)).to.deep.equal([['6']]);
    direct.destroy();
    await sharesAre([8], shared);
  });

  it('are refused with 409 when they request a partition that another one requested', async () => {
    await api.open(id, '', requesting(6));
    const second = await api.open(id, '', requesting(6));
    expect((await second.problem()).status).to.equal(409);
  });

  it('get the events again that the one before did not commit', async () => {
    await api.publish(type, [0], 0);
    await api.publish(type, [1], 7);
    const first = await api.open(id, '?batch_flush_timeout=1&commit_timeout=1&max_uncommitted_events=100');
    await first.until(() => first.numbers.length === 2);
    const second = await api.open(id, '?batch_flush_timeout=1&commit_timeout=20&max_uncommitted_events=100');
    await first.ended;
    await second.until(() => second.numbers.length === 2);
    expect(second.numbers).to.have.members([0, 1]);
  });

  it('are refused with 409 when the partitions that are not requested have a stream each', async () => {
    await api.open(id, '', requesting(0, 1, 2, 3, 4, 5, 6));
    expect((await api.open(id)).status).to.equal(200);
    expect((await (await api.open(id)).problem()).status).to.equal(409);
  });

  it('accept commits of the partitions that they requested', async () => {
    await publishToEach(0);
    const stream = await api.open(id, '', requesting(6));
    await stream.until(() => stream.numbers.length === 1);
    expect((await api.commit(id, stream, ...stream.cursors)).status).to.equal(204);
  });

  it('are not both accepted when they request the same partition at once', async () => {
    const both = await Promise.all([api.open(id, '', requesting(0)), api.open(id, '', requesting(0))]);
    const statuses = both.map(({ status }) => status);
    expect(statuses).to.include(409);
    for (const stream of both) if (stream.status === 409) await stream.problem();
  });
});
