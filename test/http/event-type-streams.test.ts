import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { eventually } from '../support/eventually.ts';
import { eventTypeStreamsMaximum } from '../../src/http/event-type-streams.ts';
import { expectAllAfterPause, pausedBatchEvents } from '../support/paused-reader.ts';
import { startStreamServer, type StreamServer } from '../support/stream-server.ts';

describe('GET /event-types/{name}/events', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  for (const encoding of ['identity', 'gzip']) {
    it(`sends everything, and then keep-alives, to a reader that stopped reading for a while (${encoding})`, async () => {
      const type = await server.defineEventType(1);
      const client = await server.openEventType(type, {
        query: `?batch_limit=${pausedBatchEvents}&batch_flush_timeout=1`,
        headers: { 'Accept-Encoding': encoding },
        paused: true,
      });
      await expectAllAfterPause(server, client, type);
      client.destroy();
    });
  }

  it('sends a keep-alive of each partition before it ends where nothing came, the last with the reason', async () => {
    const type = await server.defineEventType(3);
    const client = await server.openEventType(type, { query: '?stream_timeout=1&batch_flush_timeout=1' });
    await client.ended;
    expect(client.batches.map(({ cursor, events, info }) => [cursor.partition, events, info])).to.deep.equal([
      ['0', undefined, undefined],
      ['1', undefined, undefined],
      ['2', undefined, { debug: 'Stream timeout reached', code: 'stream_timeout' }],
    ]);
  });

  it('is compressed when the client can read that, and only then', async () => {
    const type = await server.defineEventType(1);
    for (const [accepted, encoding] of [
      ['gzip, deflate', 'gzip'],
      ['gzip;q=0', undefined],
      ['br', undefined],
    ] as const) {
      const query = '?stream_limit=1';
      const client = await server.openEventType(type, { query, headers: { 'Accept-Encoding': accepted } });
      expect(client.response.headers).to.include({ vary: 'Accept-Encoding' });
      expect(client.response.headers['content-encoding']).to.equal(encoding);
      await server.publish(type, 0, [7]);
      await client.until(() => client.numbers.length === 1);
      expect(client.numbers).to.deep.equal([7]);
      expect(client.lastInfo?.code).to.equal('stream_limit');
      await client.ended;
      expect(client.error).to.equal(undefined);
    }
  });

  it('is not found under a name that nobody has, in the words that clients know', async () => {
    const client = await server.openEventType('nobody');
    expect(await client.problem()).to.include({ status: 404, detail: 'topic not found' });
  });

  it('ends at its time also when the reader does not read', async () => {
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

  it('ends every stream with a last line at shutdown, and takes no more', async () => {
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

  it('is served two hundred times at once, and refused the time after that, until one of them ends', async () => {
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
});
