import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { Responses } from '../../../src/contract.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';
import { call, lastCursors, openStream } from '../../support/http/client.ts';
import { eventually } from '../../support/eventually.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

type Streams = Responses['listSubscriptionStreams'];

describe('GET /subscriptions/{id}/streams', () => {
  let folder: string;
  let service: Service;

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder);
    const parallelism = { messages_per_minute: 1, message_size: 1, read_parallelism: 2, write_parallelism: 2 };
    const changes = { partition_strategy: 'user_defined', default_statistic: parallelism };
    await call(`${service.url}/event-types`, 'POST', eventTypeBody('orders', changes));
    const events = ['0', '1'].map((partition) => ({ metadata: exampleMetadata({ partition }) }));
    await call(`${service.url}/event-types/orders/events`, 'POST', events);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  async function subscribe(group: string): Promise<string> {
    const identity = { owning_application: 'core', event_types: ['orders'], consumer_group: group, read_from: 'begin' };
    return String((await call(`${service.url}/subscriptions`, 'POST', identity)).body['id']);
  }

  async function streamsOf(id: string): Promise<Streams> {
    return (await call(`${service.url}/subscriptions/${id}/streams`, 'GET')).body as unknown as Streams;
  }

  it('shows no streams before the first one is opened', async () => {
    const { items, last_commits, ended } = await streamsOf(await subscribe('nobody'));
    expect({ items, last_commits, ended }).to.deep.equal({ items: [], last_commits: [], ended: [] });
  });

  it('shows each stream with its partitions and start time, and the last commits', async () => {
    const id = await subscribe('somebody');
    const before = Date.now();
    const stream = await openStream(service.url, id);
    await stream.until((batches) => batches.filter(({ events }) => events !== undefined).length === 2);
    const [first, ...others] = (await streamsOf(id)).items;
    expect(others).to.deep.equal([]);
    expect(first).to.deep.include({ stream_id: stream.streamId, assignment_type: 'auto' });
    expect(Date.parse(first?.opened_at ?? '')).to.be.within(before - 1, Date.now());
    expect(first?.partitions).to.have.deep.members(
      ['0', '1'].map((partition) => ({ event_type: 'orders', partition, state: 'assigned' })),
    );
    const cursors = lastCursors(stream.batches);
    await stream.commit(cursors);
    const { last_commits: commits } = await streamsOf(id);
    expect(commits.map(({ committed_at: _at, ...commit }) => commit)).to.have.deep.members(
      cursors.map(({ event_type, partition, offset }) => ({ event_type, partition, offset })),
    );
    stream.close();
  });

  it('distinguishes streams that requested their partitions, and shows why a stream ended', async () => {
    const id = await subscribe('choosing');
    const partitions = [{ event_type: 'orders', partition: '1' }];
    const stopping = new AbortController();
    const response = await fetch(`${service.url}/subscriptions/${id}/events`, {
      method: 'POST',
      body: JSON.stringify({ partitions }),
      signal: stopping.signal,
    });
    const streamId = response.headers.get('x-nakadi-streamid');
    // The headers come before the partition is assigned.
    await eventually(async () => (await streamsOf(id)).items[0]?.partitions.length === 1);
    const [item] = (await streamsOf(id)).items;
    expect(item).to.deep.include({ stream_id: streamId, assignment_type: 'direct' });
    expect(item?.partitions).to.deep.equal([{ event_type: 'orders', partition: '1', state: 'assigned' }]);
    stopping.abort();
    await eventually(async () => (await streamsOf(id)).ended.length > 0);
    const { items, ended } = await streamsOf(id);
    expect(items).to.deep.equal([]);
    expect(ended.map(({ stream_id }) => stream_id)).to.deep.equal([streamId]);
    expect(ended[0]?.reason).not.to.equal('');
  });

  it('returns 404 for an unknown subscription', async () => {
    const response = await call(`${service.url}/subscriptions/00000000-0000-4000-8000-000000000000/streams`, 'GET');
    expect(response.status).to.equal(404);
    expect(response.body).to.include({ title: 'Not Found', status: 404 });
  });
});
