import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { consumedCursorsMinimum } from '../../../src/http/streaming/partitions.ts';
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
  });

  it('show how many events follow the positions that the parameter cursors names', async () => {
    const statistic = { messages_per_minute: 1, message_size: 1, read_parallelism: 2, write_parallelism: 1 };
    const changes = { default_statistic: statistic, partition_strategy: 'user_defined' };
    await request('POST', '/event-types', eventTypeBody('orders', changes));
    const events = ['1', '1', '1'].map((partition) => ({ metadata: exampleMetadata({ partition }) }));
    expect((await request('POST', '/event-types/orders/events', events)).status).to.equal(200);
    const ask = (cursors: unknown) => {
      const text = typeof cursors === 'string' ? cursors : JSON.stringify(cursors);
      return request('GET', `/event-types/orders/partitions?cursors=${encodeURIComponent(text)}`);
    };
    const unconsumed = async (cursors: unknown) => {
      const { body } = await ask(cursors);
      return (body as unknown as { unconsumed_events?: number }[]).map(({ unconsumed_events: count }) => count);
    };
    const at = (partition: string, offset = 'BEGIN') => ({ partition, offset });
    expect(await unconsumed([at('1')])).to.deep.equal([undefined, 3]);
    expect(await unconsumed([at('1', '001-0001-000000000000000000'), at('0')])).to.deep.equal([0, 2]);
    for (const nothing of ['', []]) expect(await unconsumed(nothing)).to.deep.equal([undefined, undefined]);
    for (const [cursors, detail] of [
      [[at('1'), at('1')], /more than one cursor for partition 1/],
      [[at('2')], /non existing partition 2/],
      [[at('x')], /non existing partition x/],
      [[at('1', 'here')], /invalid offset here/],
      ['{', /cursors must be a JSON array/],
      [{}, /cursors must be a JSON array/],
      [[null], /cursors must be a JSON array/],
      [[{ partition: 1, offset: 'BEGIN' }], /cursors must be a JSON array/],
      [Array.from({ length: consumedCursorsMinimum + 1 }, () => at('1')), /at most 100 positions/],
      [Array.from({ length: consumedCursorsMinimum }, () => at('1')), /more than one cursor/],
    ] as const) {
      const { status, body } = await ask(cursors);
      expect(status, JSON.stringify(cursors)).to.equal(422);
      expect(body['detail']).to.match(detail);
    }
    expect((await request('GET', '/event-types/unknown/partitions?cursors=[]')).status).to.equal(404);
  });

  describe('PUT /event-types/{name}/partition-count', () => {
    const set = (value: unknown, name = 'orders'): Promise<HttpResponse> =>
      request('PUT', `/event-types/${name}/partition-count`, { partition_count: value });
    const partitionsOf = async (name = 'orders'): Promise<string[]> => {
      const { text } = await request('GET', `/event-types/${name}/partitions`);
      return (JSON.parse(text) as { partition: string }[]).map(({ partition }) => partition);
    };

    it('adds partitions, which take events at once', async () => {
      await request('POST', '/event-types', eventTypeBody('orders', { partition_strategy: 'user_defined' }));
      const sent = (partition: string) => [{ metadata: exampleMetadata({ partition }) }];
      expect((await request('POST', '/event-types/orders/events', sent('2'))).status).to.equal(422);
      for (const count of [3, 3]) {
        const response = await set(count);
        expect([response.status, response.text]).to.deep.equal([204, '']);
        expect(await partitionsOf()).to.deep.equal(['0', '1', '2']);
      }
      expect((await request('POST', '/event-types/orders/events', sent('2'))).status).to.equal(200);
      expect((await request('GET', '/event-types/orders/partitions/2')).body['newest_available_offset']).to.equal(
        '001-0001-000000000000000000',
      );
    });

    it('says what is wrong with a number, and adds nothing', async () => {
      await request('POST', '/event-types', eventTypeBody('orders'));
      for (const [value, status, detail] of [
        [0, 422, 'Number of partitions can not decrease'],
        [9, 422, 'Number of partitions should not be more than 8'],
        ['2', 400, 'Field "partition_count" must be a whole number'],
        [1.5, 400, 'Field "partition_count" must be a whole number'],
        [null, 422, 'Field "partition_count" must not be null\n'],
      ] as const) {
        const response = await set(value);
        expect([response.status, String(response.body['detail'])], `${value}`).to.deep.equal([status, detail]);
      }
      expect((await request('PUT', '/event-types/orders/partition-count', [])).status).to.equal(400);
      expect((await set(2, 'unknown')).status).to.equal(404);
      expect((await request('GET', '/event-types/orders/partition-count')).status).to.equal(405);
      expect(await partitionsOf()).to.deep.equal(['0']);
    });
  });
});
