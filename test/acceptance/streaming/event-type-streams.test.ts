import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { numbersOf, offset, startStreamingApi, withEvents, type StreamingApi } from './streaming-api.ts';
import type { StreamClient } from '../../support/http/stream-server.ts';

const partitions = [0, 1, 2, 3, 4, 5, 6, 7];

describe('streams of an event type without a subscription', () => {
  let api: StreamingApi;
  let type: string;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  beforeEach(async () => {
    type = await api.createEventType(partitions.length);
  });

  const atBegin = (...named: readonly number[]): Record<string, string> => ({
    'X-Nakadi-Cursors': JSON.stringify(named.map((partition) => ({ partition: String(partition), offset: 'BEGIN' }))),
  });

  const refused = async (query: string, headers: Record<string, string> = {}, name = type) =>
    (await api.openEventType(name, query, { headers })).problem();

  it('are chunked lines, each with the events of one partition', async () => {
    for (const partition of partitions) await api.publish(type, [partition], partition);
    const headers = atBegin(...partitions);
    const stream = await api.openEventType(type, '?batch_limit=5&stream_timeout=2&batch_flush_timeout=1', { headers });
    await stream.ended;
    expect(stream.response.headers).to.include({ 'transfer-encoding': 'chunked' });
    expect(stream.response.headers['content-type']).to.match(/^application\/x-json-stream/);
    const batches = withEvents(stream.batches);
    expect(batches).to.have.length(partitions.length);
    for (const { cursor, events = [] } of batches) {
      expect(cursor).to.deep.equal({ partition: String(Number(events[0]?.['number'])), offset: offset(0) });
    }
  });

  it('are compressed for those who accept it', async () => {
    await api.publish(type, [1, 2], 3);
    const headers = { ...atBegin(3), 'Accept-Encoding': 'gzip' };
    const stream = await api.openEventType(type, '?stream_limit=2', { headers });
    await stream.ended;
    expect(stream.response.headers['content-encoding']).to.equal('gzip');
    expect(stream.numbers).to.deep.equal([1, 2]);
  });

  it('split what is longer than a batch', async () => {
    await api.publish(type, [0, 1, 2, 3, 4, 5, 6, 7], 0);
    const query = '?batch_limit=5&stream_timeout=2&batch_flush_timeout=1';
    const stream = await api.openEventType(type, query, { headers: atBegin(0) });
    await stream.ended;
    expect(numbersOf(stream.batches)).to.deep.equal([
      [0, 1, 2, 3, 4],
      [5, 6, 7],
    ]);
  });

  it('begin at the newest event of each partition without a position', async () => {
    for (const partition of partitions) await api.publish(type, [0, 1], partition);
    const stream = await api.openEventType(type, '?stream_timeout=1&batch_flush_timeout=1');
    await stream.ended;
    const offsets = new Map(stream.batches.map(({ cursor }) => [cursor.partition, cursor.offset]));
    expect([...offsets.keys()].sort()).to.deep.equal(partitions.map(String));
    expect([...new Set(offsets.values())]).to.deep.equal([offset(1)]);
    expect(withEvents(stream.batches)).to.deep.equal([]);
  });

  it('end after as many lines without events in a row as they may have', async () => {
    const stream = await api.openEventType(type, '?stream_keep_alive_limit=2&batch_flush_timeout=1');
    await stream.ended;
    for (const partition of partitions) {
      const lines = stream.batches.filter(({ cursor }) => cursor.partition === String(partition));
      expect(lines.length, `partition ${partition}`).to.be.at.least(2);
    }
  });

  it('are refused for an event type that does not exist', async () => {
    const { status, detail } = await refused('', {}, 'unknown');
    expect([status, detail]).to.deep.equal([404, 'topic not found']);
  });

  it('are refused with a stream limit below the batch limit', async () => {
    const { status, detail } = await refused('?batch_limit=20&stream_limit=10');
    expect([status, detail]).to.deep.equal([422, "stream_limit can't be lower than batch_limit"]);
  });

  it('are refused with a timeout below the flush timeout', async () => {
    const { status, detail } = await refused('?stream_timeout=10&batch_flush_timeout=20');
    expect([status, detail]).to.deep.equal([422, "stream_timeout can't be lower than batch_flush_timeout"]);
  });

  it('are refused with positions that cannot be read', async () => {
    const { status, detail } = await refused('', { 'X-Nakadi-Cursors': 'no JSON' });
    expect([status, detail]).to.deep.equal([400, 'incorrect syntax of X-nakadi-cursors header']);
  });

  it('are refused with positions that do not exist', async () => {
    for (const position of [
      { partition: '0', offset: offset(1_000) },
      { partition: '8', offset: 'BEGIN' },
    ]) {
      const { status } = await refused('', { 'X-Nakadi-Cursors': JSON.stringify([position]) });
      expect(status, JSON.stringify(position)).to.equal(412);
    }
  });

  it('send what they have before the batch is full when they hold as many bytes as they may', async () => {
    const text = 'x'.repeat(900_000);
    const schema = { type: 'json_schema', schema: '{"type":"object","properties":{"text":{"type":"string"}}}' };
    const long = await api.createEventType(1, { schema });
    for (let index = 0; index < 3; index += 1) {
      const metadata = {
        eid: `4ae5011e-eb01-11e5-8b4a-1c6f6546400${index}`,
        occurred_at: '2026-03-15T23:47:15Z',
        partition: '0',
      };
      const published = await api.call('POST', `/event-types/${long}/events`, [{ metadata, text }]);
      expect(published.status).to.equal(200);
    }
    const query = '?batch_limit=100&batch_flush_timeout=600&stream_timeout=600';
    const stream: StreamClient = await api.openEventType(long, query, { headers: atBegin(0) });
    await stream.until(() => withEvents(stream.batches).length > 0);
    expect(withEvents(stream.batches)[0]?.events?.length).to.be.lessThan(3);
  });
});
