import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { eventTypeBody, exampleMetadata, serveBroker, type Broker } from '../../support/broker-on-embedded-log.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';

describe('the routes of partitions', () => {
  let broker: Broker & { readonly url: string };
  beforeEach(async () => {
    broker = await serveBroker();
  });
  afterEach(() => broker.close());

  function request(method: string, path: string, body?: unknown): Promise<HttpResponse> {
    return call(`${broker.url}${path}`, method, body);
  }

  it('list partitions with their oldest and newest available offsets', async () => {
    const statistic = { messages_per_minute: 1, message_size: 1, read_parallelism: 2, write_parallelism: 1 };
    const changes = { default_statistic: statistic, partition_strategy: 'user_defined' };
    await request('POST', '/event-types', eventTypeBody('orders', changes));
    const empty = '"oldest_available_offset":"001-0001-000000000000000000","newest_available_offset":"001-0001--1"';
    expect((await request('GET', '/event-types/orders/partitions')).text).to.equal(
      `[{${empty},"partition":"0"},{${empty},"partition":"1"}]`,
    );
    const events = ['1', '1'].map((partition) => ({ metadata: exampleMetadata({ partition }) }));
    expect((await request('POST', '/event-types/orders/events', events)).status).to.equal(200);
    expect((await request('GET', '/event-types/orders/partitions/1')).body).to.deep.equal({
      oldest_available_offset: '001-0001-000000000000000000',
      newest_available_offset: '001-0001-000000000000000001',
      partition: '1',
    });
    const consumed = async (offset: string) =>
      (await request('GET', `/event-types/orders/partitions/1?consumed_offset=${offset}`)).body['unconsumed_events'];
    expect([await consumed('BEGIN'), await consumed('001-0001-000000000000000000')]).to.deep.equal([2, 1]);
    for (const [path, detail] of [
      ['/event-types/orders/partitions/2', 'partition not found'],
      ['/event-types/orders/partitions/x', 'partition not found'],
      ['/event-types/unknown/partitions', 'EventType "unknown" does not exist.'],
    ]) {
      const response = await request('GET', path ?? '');
      expect([response.status, response.body['detail']]).to.deep.equal([404, detail]);
    }
    const unreadable = await request('GET', '/event-types/orders/partitions/1?consumed_offset=here');
    expect([unreadable.status, unreadable.body['detail']]).to.deep.equal([422, 'invalid offset here']);
    const withCursors = await request('GET', '/event-types/orders/partitions?cursors=[]');
    expect([withCursors.status, withCursors.body['detail']]).to.deep.equal([
      422,
      'The parameter cursors is not supported: POST /event-types/orders/cursors-lag returns it.',
    ]);
  });
});
