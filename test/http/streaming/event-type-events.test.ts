import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { eventually } from '../../support/eventually.ts';
import { hasZstd } from '../../../src/http/edge/compression/zstd.ts';
import { eventTypeStreamsMaximum } from '../../../src/http/streaming/open-streams.ts';
import { expectAllAfterPause, pausedBatchEvents } from '../../support/http/paused-reader.ts';
import { streamEncodings } from '../../support/http/stream-encodings.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('GET /event-types/{name}/events', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  afterEach(() => server.disconnectAll());

  after(() => server.stop());

  for (const encoding of streamEncodings) {
    it(`sends everything, and then keep-alives, to a reader that paused for a while (${encoding ?? 'identity'})`, async () => {
      const type = await server.defineEventType(1);
      const client = await server.openEventType(type, {
        query: `?batch_limit=${pausedBatchEvents}&batch_flush_timeout=1`,
        headers: { 'Accept-Encoding': encoding ?? 'identity' },
        paused: true,
      });
      await expectAllAfterPause(server, client, type);
      client.destroy();
    });
  }

  it('sends a keep-alive for each partition at its end when there were no events, the last with the reason', async () => {
    const type = await server.defineEventType(3);
    const client = await server.openEventType(type, { query: '?stream_timeout=1&batch_flush_timeout=1' });
    await client.ended;
    expect(client.batches.map(({ cursor, events, info }) => [cursor.partition, events, info])).to.deep.equal([
      ['0', undefined, undefined],
      ['1', undefined, undefined],
      ['2', undefined, { debug: 'Stream timeout reached', code: 'stream_timeout' }],
    ]);
  });

  it('ends when the type gets more partitions, if it reads all of them', async () => {
    const type = await server.defineEventType(1);
    const all = await server.openEventType(type);
    const cursors = JSON.stringify([{ partition: '0', offset: 'BEGIN' }]);
    const one = await server.openEventType(type, { headers: { 'X-Nakadi-Cursors': cursors } });
    await server.eventTypes.setPartitionCount(type, 2);
    await all.ended;
    expect(all.lastInfo?.code).to.equal('repartitioned');
    await server.publish(type, 0, [7]);
    await one.until(() => one.numbers.length === 1);
    one.destroy();
  });

  it('is compressed only when the client accepts that', async () => {
    const type = await server.defineEventType(1);
    /** What a client gets that prefers zstd, by the version of Node. */
    const zstdOr = (other: 'gzip' | undefined) => (hasZstd ? 'zstd' : other);
    for (const [accepted, encoding] of [
      ['gzip, deflate', 'gzip'],
      ['GZIP', 'gzip'],
      ['x-gzip', 'gzip'],
      ['br, gzip;q=0.001', 'gzip'],
      ['zstd', zstdOr(undefined)],
      ['zstd, gzip', zstdOr('gzip')],
      ['gzip, deflate, br, zstd', 'gzip'],
      ['gzip;q=0.8, ZSTD;q=0.9', zstdOr('gzip')],
      ['zstd;q=0.8, gzip;q=0.9', 'gzip'],
      ['zstd;q=0, gzip', 'gzip'],
      ['zstd;q=0', undefined],
      ['zstd;q=0.5, identity', undefined],
      ['gzip;q=0.5, identity', undefined],
      ['*', 'gzip'],
      ['gzip;q=0, *', undefined],
      ['gzip;q=0', undefined],
      ['gzip;q=0.000, br', undefined],
      ['*;q=0', undefined],
      ['identity', undefined],
      ['', undefined],
      ['br', undefined],
    ] as const) {
      const query = '?stream_limit=1';
      const client = await server.openEventType(type, { query, headers: { 'Accept-Encoding': accepted } });
      expect(client.response.headers).to.include({ vary: 'Accept, Accept-Encoding' });
      expect(client.response.headers['content-encoding']).to.equal(encoding);
      await server.publish(type, 0, [7]);
      await client.until(() => client.numbers.length === 1);
      expect(client.numbers).to.deep.equal([7]);
      expect(client.lastInfo?.code).to.equal('stream_limit');
      await client.ended;
      expect(client.error).to.equal(undefined);
    }
  });

  it('returns 404 for an unknown name, with the text that clients know', async () => {
    const client = await server.openEventType('nobody');
    expect(await client.problem()).to.include({ status: 404, detail: 'topic not found' });
  });

  it('ends at its timeout even when the reader does not read', async () => {
    const type = await server.defineEventType(1);
    const value = Buffer.from(`{"number":1,"text":"${'x'.repeat(900_000)}"}`);
    for (let batch = 0; batch < 12; batch += 1) await server.append(type, 0, [{ key: null, value }]);
    const client = await server.openEventType(type, {
      query: '?stream_timeout=1&batch_flush_timeout=1',
      headers: { 'X-Nakadi-Cursors': '[{"partition":"0","offset":"BEGIN"}]' },
      paused: true,
    });
    await eventually(() => server.unsentBytes() > 0);
    await eventually(() => server.openEventTypeStreams() === 0, 10_000);
    client.destroy();
  });

  it('ends every stream with a last line at shutdown, and accepts no more', async () => {
    const other = await startStreamServer();
    const type = await other.defineEventType(1);
    const client = await other.openEventType(type);
    await other.eventTypeStreams.closeAll();
    await client.ended;
    expect(client.lastInfo).to.deep.equal({ debug: 'The server is shutting down', code: 'server_shutdown' });
    expect(client.error).to.equal(undefined);
    expect((await other.openEventType(type)).status).to.equal(503);
    await other.stop();
  });

  it('allows two hundred at once, and refuses one more until one of them ends', async () => {
    const type = await server.defineEventType(1);
    const clients = await Promise.all(
      Array.from({ length: eventTypeStreamsMaximum }, () => server.openEventType(type, { query: '' })),
    );
    expect(clients.every(({ status }) => status === 200)).to.equal(true);
    expect((await server.openEventType(type)).status).to.equal(503);
    clients.pop()?.destroy();
    await eventually(() => server.openEventTypeStreams() < eventTypeStreamsMaximum);
    const again = await server.openEventType(type);
    expect(again.status).to.equal(200);
    for (const client of [...clients, again]) client.destroy();
    await eventually(() => server.openEventTypeStreams() === 0);
  });

  describe('accepts', () => {
    const accepted = [
      'batch_limit=1&batch_flush_timeout=1',
      'batch_limit=2147483647&batch_flush_timeout=2147483647',
      'stream_limit=2147483647&batch_limit=2147483647',
      'stream_limit=0&stream_timeout=0&stream_keep_alive_limit=0',
      'stream_keep_alive_limit=2147483647',
      'stream_timeout=4200&batch_flush_timeout=4200',
      'stream_timeout=4201&batch_flush_timeout=4202',
      'stream_timeout=-1',
      'stream_timeout=99999',
      'batch_limit=%2B2&batch_limit=x',
      'batch_limit=',
    ];
    for (const query of accepted) {
      it(query, async () => {
        const type = await server.defineEventType(1);
        const client = await server.openEventType(type, { query: `?${query}` });
        expect(client.status).to.equal(200);
        client.destroy();
      });
    }
  });

  describe('refuses', () => {
    const refused: [query: string, status: number, detail: string][] = [
      ['batch_limit=0', 422, "batch_limit can't be lower than 1"],
      ['batch_flush_timeout=0', 422, "batch_flush_timeout can't be lower than 1"],
      ['stream_limit=-1', 422, "stream_limit can't be lower than 0"],
      ['stream_limit=4&batch_limit=5', 422, "stream_limit can't be lower than batch_limit"],
      ['stream_timeout=4199&batch_flush_timeout=4200', 422, "stream_timeout can't be lower than batch_flush_timeout"],
      ['stream_timeout=1&batch_flush_timeout=2', 422, "stream_timeout can't be lower than batch_flush_timeout"],
      ['stream_keep_alive_limit=-1', 422, "stream_keep_alive_limit can't be lower than 0"],
      ...['batch_limit', 'batch_flush_timeout', 'stream_keep_alive_limit'].map((name): [string, number, string] => [
        `${name}=2147483648`,
        400,
        `'${name}' parameter should be a whole number, but was '2147483648'`,
      ]),
      ['batch_limit=one', 400, "'batch_limit' parameter should be a whole number, but was 'one'"],
      ['stream_limit=1.5', 400, "'stream_limit' parameter should be a whole number, but was '1.5'"],
    ];
    for (const [query, status, detail] of refused) {
      it(query, async () => {
        const type = await server.defineEventType(1);
        const client = await server.openEventType(type, { query: `?${query}` });
        expect(await client.problem()).to.include({ status, detail });
      });
    }

    const cursor = (partition: string, offset: string): string => JSON.stringify([{ partition, offset }]);
    const positions: [what: string, header: string, status: number][] = [
      ['a header that is no JSON', 'here', 400],
      ['no cursors', '[]', 400],
      ['a cursor without an offset', '[{"partition":"0"}]', 400],
      ['a partition after the last one', cursor('2', 'BEGIN'), 412],
      ['a partition that is no number', cursor('first', 'BEGIN'), 412],
      ['a partition twice', '[{"partition":"0","offset":"BEGIN"},{"partition":"0","offset":"BEGIN"}]', 412],
      ['a position after the last event', cursor('0', '001-0001-000000000000000003'), 412],
      ['a position in another format', cursor('0', '3'), 412],
    ];
    for (const [what, header, status] of positions) {
      it(what, async () => {
        const type = await server.defineEventType(2);
        await server.publish(type, 0, [0, 1, 2]);
        const client = await server.openEventType(type, { headers: { 'X-Nakadi-Cursors': header } });
        expect((await client.problem()).status).to.equal(status);
      });
    }
  });

  it('begins after the requested position: before the first event, at the last but one, and at the last', async () => {
    const type = await server.defineEventType(1);
    await server.publish(type, 0, [0, 1, 2]);
    for (const [offset, first] of [
      ['BEGIN', 0],
      ['001-0001--1', 0],
      ['001-0001-000000000000000001', 2],
      ['001-0001-000000000000000002', 3],
    ] as const) {
      const headers = { 'X-Nakadi-Cursors': JSON.stringify([{ partition: '0', offset }]) };
      const client = await server.openEventType(type, { headers });
      if (first === 3) await server.publish(type, 0, [3]);
      await client.until(() => client.numbers.length > 0);
      expect(client.numbers[0]).to.equal(first);
      client.destroy();
    }
  });
});
