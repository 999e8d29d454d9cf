import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  commit,
  consume,
  cursorsAt,
  filterFor,
  openStream,
  resetTo,
  withHeartbeats,
  type Batch,
  type Stream,
} from '../../../scripts/examples/stream-options.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

describe('the example of what a stream offers beyond Nakadi', () => {
  let dataFolder: string;
  let service: Service;
  let groups = 0;

  before(async function () {
    this.timeout(60_000);
    dataFolder = await temporaryFolder();
    service = await startService(dataFolder);
    const schema = { type: 'json_schema', schema: '{}' };
    const type = { name: 'parcels', owning_application: 'shop', category: 'undefined', schema };
    expect((await call(`${service.url}/event-types`, 'POST', type)).status).to.equal(201);
    await publish({ parcel: 1, to: 'DE' }, { parcel: 2, to: 'FR' }, { parcel: 3, to: 'DE' });
  });

  after(async () => {
    await service.kill();
    await removeFolder(dataFolder);
  });

  async function publish(...events: unknown[]): Promise<void> {
    expect((await call(`${service.url}/event-types/parcels/events`, 'POST', events)).status).to.equal(200);
  }

  async function subscribe(changes: Record<string, unknown> = {}): Promise<string> {
    groups += 1;
    const identity = { owning_application: 'tracking', event_types: ['parcels'], consumer_group: `group ${groups}` };
    const body = { ...identity, read_from: 'begin', ...changes };
    const created = await call(`${service.url}/subscriptions`, 'POST', body);
    expect(created.status).to.equal(201);
    return `${service.url}/subscriptions/${String(created.body['id'])}`;
  }

  /** The next batches with events. Leaving a loop over all of them would close the connection. */
  async function read({ batches }: Stream, count: number): Promise<Batch[]> {
    const found: Batch[] = [];
    const iterator = batches[Symbol.asyncIterator]();
    while (found.length < count) {
      const next = await iterator.next();
      if (next.done === true) break;
      if (next.value.events !== undefined) found.push(next.value);
    }
    return found;
  }

  async function failure(attempt: Promise<unknown>): Promise<string> {
    return attempt.then(() => 'no failure', String);
  }

  it('commits what a strict stream was sent, and nothing else', async () => {
    const subscription = await subscribe();
    const stream = await openStream(subscription, { strict_commits: true, max_uncommitted_events: 1 });
    const [batch] = await read(stream, 1);
    if (batch === undefined) throw new Error('There is no batch');
    const ahead = { ...batch.cursor, offset: '001-0001-000000000000000001' };
    expect(await failure(commit(subscription, stream, ahead)))
      .to.include('422')
      .and.to.include('strict');
    await commit(subscription, stream, batch.cursor);
    stream.close();
  });

  it('waits for the stream of a consumer that is about to end', async () => {
    const subscription = await subscribe();
    const first = await openStream(subscription, {});
    const waiting = openStream(subscription, { wait_for_slot: 30 });
    first.close();
    const second = await waiting;
    expect(await read(second, 1)).to.have.length(1);
    second.close();
  });

  it('keeps a stream alive with heart-beats while a batch is processed', async () => {
    const annotations = { 'lendstream/commit-timeout-seconds-maximum': '120' };
    const subscription = await subscribe({ annotations });
    const stream = await openStream(subscription, { commit_heartbeat: true, commit_timeout: 3, batch_limit: 3 });
    const [batch] = await read(stream, 1);
    if (batch === undefined) throw new Error('There is no batch');
    const work = new Promise((resolve) => setTimeout(resolve, 5_000));
    await withHeartbeats(subscription, stream, 1_000, work);
    await commit(subscription, stream, batch.cursor);
    stream.close();
  });

  it('delivers the events of one value, and commits what it passes over', async () => {
    expect(filterFor(['a/b', 'c~d', 'e=f', '0'], 'x=y')).to.equal('/a~1b/c~0d/e~2f/0="x=y"');
    const subscription = await subscribe();
    const filter = [filterFor(['to'], 'FR'), filterFor(['parcel'], 2)];
    const stream = await openStream(subscription, { filter, batch_flush_timeout: 1, stream_timeout: 4 });
    const parcels: unknown[] = [];
    const consumption = consume(subscription, stream, async (events) => {
      parcels.push(...events.map(({ parcel }) => parcel));
    });
    await publish({ parcel: 0, to: 'FR' });
    await consumption;
    expect(parcels).to.deep.equal([2]);
    const statistics = await call(`${subscription}/stats`, 'GET');
    expect(statistics.text).to.include('"unconsumed_events":0');
  });

  it('begins at a time, when it is created and when it is reset', async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const time = new Date().toISOString();
    await publish({ parcel: 4, to: 'IT' });
    const [cursor] = await cursorsAt(service.url, 'parcels', time);
    const initial = { event_type: 'parcels', partition: '0', offset: `TIME:${time}` };
    const subscription = await subscribe({ read_from: 'cursors', initial_cursors: [initial] });
    const stored = (await call(subscription, 'GET')).body['initial_cursors'];
    expect(stored).to.deep.equal([{ ...initial, offset: cursor?.offset }]);
    const parcels = async (): Promise<unknown[]> => {
      const stream = await openStream(subscription, {});
      const [batch] = await read(stream, 1);
      stream.close();
      return (batch?.events ?? []).map(({ parcel }) => parcel);
    };
    expect(await parcels()).to.deep.equal([4]);
    await resetTo(subscription, 'parcels', '2020-01-01T00:00:00Z', 1);
    expect(await parcels()).to.deep.equal([1]);
    const header = { 'X-Nakadi-Cursors': JSON.stringify([{ partition: '0', offset: `TIME:${time}` }]) };
    const events = await call(`${service.url}/event-types/parcels/events?stream_limit=1`, 'GET', undefined, header);
    expect(events.text).to.include('"parcel":4');
    const wrong = { items: [{ ...initial, offset: 'TIME:noon' }] };
    expect((await call(`${subscription}/cursors`, 'PATCH', wrong)).status).to.equal(422);
  });
});
