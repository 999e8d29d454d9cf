import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const hour = 3_600_000;

describe('the limits of the streaming API that are settings', () => {
  let folder = '';
  let service: ServiceHere;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder, {
      EVENT_TYPE_PARTITIONS_MAXIMUM: '3',
      SUBSCRIPTION_PARTITIONS_MAXIMUM: '5',
      EVENT_RETENTION_HOURS_MAXIMUM: '200',
      COMMIT_TIMEOUT_SECONDS_MAXIMUM: '90',
      FLUSH_SECONDS_MINIMUM: '2',
      FLUSH_SECONDS_MAXIMUM: '25',
    });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const define = (name: string, changes: Record<string, unknown>): Promise<HttpResponse> =>
    call(`${service.url}/event-types`, 'POST', eventTypeBody(name, changes));
  const statistic = (read: number) => ({
    default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: read, write_parallelism: 1 },
  });
  const partitionsOf = async (name: string): Promise<number> =>
    (JSON.parse((await call(`${service.url}/event-types/${name}/partitions`, 'GET')).text) as unknown[]).length;

  it('hold for the partitions of an event type, when it is created and when it gets more', async () => {
    await define('wide', statistic(4));
    expect(await partitionsOf('wide')).to.equal(3);
    await define('narrow', statistic(1));
    const set = (count: number): Promise<HttpResponse> =>
      call(`${service.url}/event-types/narrow/partition-count`, 'PUT', { partition_count: count });
    const refused = await set(4);
    expect([refused.status, refused.body['detail']]).to.deep.equal([
      422,
      'Number of partitions should not be more than 3',
    ]);
    expect((await set(3)).status).to.equal(204);
    expect(await partitionsOf('narrow')).to.equal(3);
  });

  it('hold for the positions of which the list of partitions shows what follows', async () => {
    const another = await temporaryFolder();
    const wide = await startServiceHere(another, { EVENT_TYPE_PARTITIONS_MAXIMUM: '101' });
    try {
      await call(`${wide.url}/event-types`, 'POST', eventTypeBody('wide', statistic(101)));
      const ask = (count: number): Promise<HttpResponse> => {
        const cursors = Array.from({ length: count }, (_, partition) => ({
          partition: String(partition),
          offset: 'BEGIN',
        }));
        const text = encodeURIComponent(JSON.stringify(cursors));
        return call(`${wide.url}/event-types/wide/partitions?cursors=${text}`, 'GET');
      };
      const { status, text } = await ask(101);
      expect(status).to.equal(200);
      const shown = JSON.parse(text) as { unconsumed_events?: number }[];
      expect(shown.map(({ unconsumed_events: count }) => count)).to.deep.equal(Array.from({ length: 101 }, () => 0));
      const refused = await ask(102);
      expect([refused.status, refused.body['detail']]).to.deep.equal([422, 'cursors may have at most 101 positions']);
    } finally {
      await wide.stop();
      await removeFolder(another);
    }
  });

  it('hold for the partitions of a subscription', async () => {
    for (const [name, count] of [
      ['two', 2],
      ['three', 3],
      ['more', 3],
    ] as const)
      await define(name, statistic(count));
    const subscribe = (...names: string[]): Promise<HttpResponse> =>
      call(`${service.url}/subscriptions`, 'POST', { owning_application: 'tests', event_types: names });
    expect((await subscribe('two', 'three')).status).to.equal(201);
    const refused = await subscribe('more', 'three');
    expect([refused.status, refused.body['detail']]).to.deep.equal([
      422,
      'total partition count for subscription is 6, but the maximum partition count is 5',
    ]);
    expect((await subscribe('a', 'b', 'c', 'd', 'e', 'f')).body['detail']).to.match(/"event_types" .* 5 /);
  });

  it('hold for the retention of an event type, also when it is only tried out', async () => {
    const kept = (milliseconds: number) => ({ options: { retention_time: milliseconds } });
    expect((await define('long', kept(200 * hour))).status).to.equal(201);
    const refused = await define('longer', kept(200 * hour + 1));
    expect([refused.status, refused.body['detail']]).to.deep.equal([
      422,
      'Field "options.retention_time" can not be more than 720000000\n',
    ]);
    for (const [milliseconds, valid] of [
      [200 * hour, true],
      [200 * hour + 1, false],
    ] as const) {
      const definition = eventTypeBody('tried', kept(milliseconds));
      const { body } = await call(`${service.url}/registry/event-type-checks`, 'POST', { event_type: definition });
      expect(body['valid'], `${milliseconds}`).to.equal(valid);
    }
  });

  it('hold for the parameters of streams, with and without a subscription', async () => {
    await define('streamed', {});
    const { body } = await call(`${service.url}/subscriptions`, 'POST', {
      owning_application: 'tests',
      event_types: ['streamed'],
    });
    const open = async (path: string): Promise<string> => {
      const closing = new AbortController();
      const response = await fetch(`${service.url}${path}`, { signal: closing.signal });
      const detail = response.status === 200 ? '' : ((await response.json()) as { detail: string }).detail;
      closing.abort();
      return `${response.status} ${detail}`;
    };
    const ofSubscription = `/subscriptions/${String(body['id'])}/events?stream_timeout=1`;
    for (const [path, parameter, outcome] of [
      [ofSubscription, 'commit_timeout=90', '200 '],
      [ofSubscription, 'commit_timeout=91', '422 commit_timeout can not be more than 90'],
      [ofSubscription, 'batch_flush_timeout=1', "422 batch_flush_timeout can't be lower than 2"],
      [ofSubscription, 'batch_flush_timeout=2', '200 '],
      [ofSubscription, 'batch_flush_timeout=25', '200 '],
      [ofSubscription, 'batch_flush_timeout=26', "422 batch_flush_timeout can't be higher than 25"],
      // The default of 30 seconds is above the limit, so the limit is the default.
      [ofSubscription, '', '200 '],
      ['/event-types/streamed/events?', 'batch_flush_timeout=1', "422 batch_flush_timeout can't be lower than 2"],
      ['/event-types/streamed/events?', 'batch_flush_timeout=25', '200 '],
      ['/event-types/streamed/events?', 'batch_flush_timeout=26', "422 batch_flush_timeout can't be higher than 25"],
      ['/event-types/streamed/events?', '', '200 '],
    ] as const) {
      let opened = await open(`${path}&${parameter}`);
      // A stream that was just closed may still have the partition.
      for (let tries = 0; opened.startsWith('409') && tries < 50; tries += 1)
        opened = await open(`${path}&${parameter}`);
      expect(opened, parameter).to.equal(outcome);
    }
  });
});
