import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { bodiesInFlight } from '../../../src/http/edge/bodies-in-flight.ts';
import { overriding } from '../../support/stepping-log.ts';
import { eventually } from '../../support/eventually.ts';
import { handedWritesOf } from '../../support/http/handed-writes.ts';
import { expectAllAfterPause, pausedBatchEvents } from '../../support/http/paused-reader.ts';
import { streamEncodings, wholeDecoder } from '../../support/http/stream-encodings.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

function offset(number: number): string {
  return number < 0 ? '001-0001--1' : `001-0001-${String(number).padStart(18, '0')}`;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe('GET and POST /subscriptions/{id}/events', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  afterEach(() => server.disconnectAll());

  after(() => server.stop());

  /** A subscription to a separate event type, with this many partitions and events in partition 0. */
  async function prepare(partitionCount = 1, events = 0): Promise<{ type: string; id: string }> {
    const type = await server.defineEventType(partitionCount);
    if (events > 0) await server.publish(type, 0, range(0, events - 1));
    return { type, id: await server.subscribe([type]) };
  }

  describe('the response', () => {
    it('begins immediately with both stream ids, before there is anything to send', async () => {
      const { id } = await prepare();
      const client = await server.open(id);
      expect(client.status).to.equal(200);
      expect(client.response.headers).to.include({
        'content-type': 'application/x-json-stream',
        'transfer-encoding': 'chunked',
      });
      expect(client.streamId).to.match(/^[0-9a-f-]{36}$/);
      expect(client.response.headers['x-mambu-streamid']).to.equal(client.streamId);
      expect(client.batches).to.deep.equal([]);
      client.destroy();
    });

    it('sends its headers before the first line, even when events are waiting', async () => {
      const { id } = await prepare(1, 1);
      const writes = handedWritesOf(server.server);
      const client = await server.open(id);
      await client.until(() => client.batches.length === 1);
      // From Node 24 on, the length of a chunk is a write of its own.
      const [headers = '', ...chunk] = writes;
      expect(headers)
        .to.match(/^HTTP\/1\.1 200 OK\r\n/)
        .and.to.match(/\r\n\r\n$/);
      expect(headers).to.not.contain('cursor');
      expect(chunk.join('')).to.contain('"cursor"').and.to.contain('"events"');
    });

    it('keeps its connection open, which then serves the next request', async () => {
      const { type, id } = await prepare();
      for (const path of [`/subscriptions/${id}/events`, `/event-types/${type}/events`]) {
        const query = '?stream_timeout=1&batch_flush_timeout=1';
        const socket = connect(server.port, '127.0.0.1', () =>
          socket.write(`GET ${path}${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
        );
        let received = '';
        let isEnded = false;
        socket.on('data', (bytes) => (received += bytes.toString()));
        socket.on('end', () => (isEnded = true));
        await eventually(() => received.includes('\r\n0\r\n\r\n'));
        const head = received.slice(0, received.indexOf('\r\n\r\n'));
        expect(head).to.match(/^HTTP\/1\.1 200 OK\r\n/);
        expect(head).not.to.match(/^Connection: close$/im);
        expect(received).to.contain('"code":"stream_timeout"');
        received = '';
        socket.write('GET /subscriptions/nobody/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
        await eventually(() => received.startsWith('HTTP/1.1 404 '));
        expect(isEnded).to.equal(false);
        socket.destroy();
      }
    });

    it('closes the connection at its end for an HTTP/1.0 client, and on request', async () => {
      const { id } = await prepare();
      for (const request of [
        `GET /subscriptions/${id}/events?stream_timeout=1 HTTP/1.0\r\n\r\n`,
        `GET /subscriptions/${id}/events?stream_timeout=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      ]) {
        const socket = connect(server.port, '127.0.0.1', () => socket.write(request));
        let received = '';
        socket.on('data', (bytes) => (received += bytes.toString()));
        await once(socket, 'close');
        expect(received).to.match(/\r\nConnection: close\r\n/);
        expect(received).to.contain('"code":"stream_timeout"');
      }
    });

    it('has a cursor and the events as they were published, and reports the start of the stream on its first line', async () => {
      const type = await server.defineEventType(1);
      await server.append(type, 0, [{ key: null, value: Buffer.from('{"amount":1.0,"name":"Zo\\u00eb ë"}') }]);
      const client = await server.open(await server.subscribe([type]));
      await client.until(() => client.batches.length === 1);
      const [{ cursor, events, info } = {}] = client.batches;
      expect(Object.keys(cursor ?? {})).to.deep.equal(['partition', 'offset', 'event_type', 'cursor_token']);
      expect(cursor).to.include({ partition: '0', offset: offset(0), event_type: type });
      expect(events).to.deep.equal([{ amount: 1, name: 'Zoë ë' }]);
      expect(info).to.deep.equal({ debug: 'Stream started' });
      client.destroy();
    });

    for (const encoding of streamEncodings) {
      if (encoding === undefined) continue;
      it(`is compressed with ${encoding} when the client accepts that, and each batch is readable when it was sent`, async () => {
        const { type, id } = await prepare(1, 1);
        const client = await server.open(id, { headers: { 'Accept-Encoding': `${encoding}, deflate` } });
        expect(client.response.headers['content-encoding']).to.equal(encoding);
        await client.until(() => client.numbers.length === 1);
        await server.publish(type, 0, [1]);
        await client.until(() => client.numbers.length === 2);
        client.destroy();
      });

      it(`ends a stream compressed with ${encoding} completely`, async () => {
        const { id } = await prepare(1, 1);
        const headers = { 'Accept-Encoding': encoding };
        const client = await server.open(id, { query: '?stream_timeout=1', headers, paused: true });
        const plain = client.response.pipe(wholeDecoder(encoding));
        plain.on('data', (bytes: Buffer) => client.receive(bytes.toString()));
        const ended = new Promise((resolve, reject) => plain.on('end', resolve).on('error', reject));
        await client.until(() => client.numbers.length === 1);
        await server.commit(id, client.streamId, client.cursors);
        await ended;
        expect(client.lastInfo?.code).to.equal('stream_timeout');
      });
    }

    it('is the same for a POST with its parameters in the body, and for a GET with an ignored body', async () => {
      const { id } = await prepare(1, 4);
      const post = await server.open(id, { body: { batch_limit: 3, stream_limit: 3 } });
      await post.until(() => post.batches.length === 1);
      expect(post.numbers).to.deep.equal([0, 1, 2]);
      // A stream may last for hours: its parameters are not counted as a body in flight.
      expect(bodiesInFlight.bytes).to.equal(0);
      post.destroy();
      await eventually(() => server.streams.openStreams.size === 0);
      const get = await server.open(id, {
        method: 'GET',
        query: '?batch_limit=4',
        body: { batch_limit: 1 },
        headers: { 'Content-Type': 'application/json', 'Content-Length': '17' },
      });
      await get.until(() => get.batches.length === 1);
      expect(get.numbers).to.deep.equal([0, 1, 2, 3]);
      get.destroy();
    });
  });

  describe('a refusal', () => {
    async function refusal(id: string, options: Parameters<StreamServer['open']>[1] = {}) {
      const client = await server.open(id, options);
      const { status, detail, contentType } = await client.problem();
      expect(contentType).to.equal('application/problem+json');
      return [status, detail];
    }

    it('names the invalid parts of the request', async () => {
      const { id, type } = await prepare();
      expect(await refusal('nobody')).to.deep.equal([404, 'Subscription with id "nobody" does not exist']);
      expect(await refusal(id, { query: '?batch_limit=0' })).to.deep.equal([422, "batch_limit can't be lower than 1"]);
      expect(await refusal(id, { query: '?stream_limit=many' })).to.deep.equal([
        400,
        "'stream_limit' parameter should be a whole number, but was 'many'",
      ]);
      expect(await refusal(id, { body: { partitions: [{ event_type: type, partition: '1' }] } })).to.deep.equal([
        422,
        `Wrong partitions specified - some partitions don't belong to subscription: ` +
          `EventTypePartition{eventType='${type}', partition='1'}`,
      ]);
      const [status] = await refusal(id, { body: [] });
      expect(status).to.equal(400);
      expect((await refusal(id, { method: 'DELETE' }))[0]).to.equal(405);
    });

    it('reports that no slot is free', async () => {
      const { id } = await prepare();
      const first = await server.open(id);
      expect(await refusal(id)).to.deep.equal([
        409,
        `No free slots for streaming available for subscription ${id}. Total slots: 1`,
      ]);
      first.destroy();
    });

    it('is sent to the first stream beyond the number of partitions, and not to one before it', async () => {
      const { id } = await prepare(3);
      const clients = [await server.open(id), await server.open(id), await server.open(id)];
      expect(clients.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      expect((await refusal(id))[0]).to.equal(409);
      clients.pop()?.destroy();
      await eventually(async () => (await server.coordination.topology(id)).sessions.length === 2);
      clients.push(await server.open(id));
      expect(clients.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      for (const client of clients) client.destroy();
    });

    it('names the requested partitions that are taken', async () => {
      const { id, type } = await prepare(2);
      const body = { partitions: [{ event_type: type, partition: '1' }] };
      const first = await server.open(id, { body });
      expect(await refusal(id, { body })).to.deep.equal([
        409,
        'The following partitions are already requested by other stream(s) of this subscription: ' +
          `EventTypePartition{eventType='${type}', partition='1'}`,
      ]);
      first.destroy();
    });

    it('is sent to exactly one of two concurrent first clients', async () => {
      const { id } = await prepare();
      const clients = await Promise.all([server.open(id), server.open(id)]);
      expect(clients.map(({ status }) => status)).to.have.members([200, 409]);
      for (const client of clients) client.destroy();
    });

    it('reports that the subscription was deleted while the stream was being opened, and leaves no session', async () => {
      let deleting = '';
      const own = await startStreamServer((coordination) =>
        overriding(coordination, {
          openSession: async (id, session) => {
            const result = await coordination.openSession(id, session);
            if (id === deleting) await own.registry.remove('subscription', id);
            return result;
          },
        }),
      );
      try {
        deleting = await own.subscribe([await own.defineEventType(1)]);
        const client = await own.open(deleting);
        expect(await client.problem()).to.include({
          status: 404,
          detail: `Subscription with id "${deleting}" does not exist`,
        });
        await eventually(async () => (await own.coordination.topology(deleting)).sessions.length === 0);
      } finally {
        await own.stop();
      }
    });

    it('leaves no session behind when the response cannot begin', async () => {
      const { id } = await prepare();
      server.server.once('request', (_request, response: ServerResponse) => {
        const writeHead = response.writeHead.bind(response);
        response.writeHead = () => {
          response.writeHead = writeHead;
          throw new Error('A header that is refused.');
        };
      });
      const [status] = await refusal(id);
      expect(status).to.equal(500);
      await eventually(async () => (await server.coordination.topology(id)).sessions.length === 0);
      expect(server.streams.openStreams.size).to.equal(0);
    });

    it('leaves no session behind when the stream cannot be created', async () => {
      const other = await startStreamServer((coordination) =>
        overriding(coordination, {
          watch: () => {
            throw new Error('No watch.');
          },
        }),
      );
      const id = await other.subscribe([await other.defineEventType(1)]);
      expect((await other.open(id)).status).to.equal(500);
      expect((await other.coordination.topology(id)).sessions).to.deep.equal([]);
      await other.stop();
    });

    it('reports that cursors are being reset', async () => {
      const { id } = await prepare();
      await server.coordination.beginReset(id);
      expect(await refusal(id)).to.deep.equal([409, 'Resetting subscription cursors request is still in progress']);
      await server.coordination.finishReset(id, []);
    });

    it('reports that a position is beyond the end of the log', async () => {
      const type = await server.defineEventType(1);
      const initial_cursors = [{ event_type: type, partition: '0', offset: offset(7) }];
      const id = await server.subscribe([type], { read_from: 'cursors', initial_cursors });
      const [status, detail] = await refusal(id);
      expect(status).to.equal(412);
      expect(detail).to.contain(`offset ${offset(7)} for partition 0 event type ${type} is unavailable`);
    });
  });

  describe('batches', () => {
    it('are cut at their limit, and the rest is sent after the flush timeout', async () => {
      const { id } = await prepare(1, 12);
      const client = await server.open(id, { query: '?batch_limit=5&batch_flush_timeout=1&max_uncommitted_events=20' });
      await client.until(() => client.numbers.length === 12);
      expect(client.batches.map(({ events }) => events?.length)).to.deep.equal([5, 5, 2]);
      expect(client.batches.map(({ cursor }) => cursor.offset)).to.deep.equal([offset(4), offset(9), offset(11)]);
      expect(client.numbers).to.deep.equal(range(0, 11));
      client.destroy();
    });

    it('pause when the window is full and resume with each commit', async () => {
      const { id } = await prepare(1, 30);
      const client = await server.open(id, { query: '?max_uncommitted_events=5&batch_flush_timeout=600' });
      await client.until(() => client.batches.length === 5);
      const commit = (index: number) => {
        const cursor = client.batches[index]?.cursor;
        return server.commit(id, client.streamId, cursor === undefined ? [] : [cursor]);
      };
      await commit(4);
      await client.until(() => client.batches.length === 10);
      await commit(6);
      await client.until(() => client.batches.length === 12);
      await commit(11);
      await client.until(() => client.batches.length === 17);
      expect(client.numbers).to.deep.equal(range(0, 16));
      client.destroy();
    });

    it('are sent when every parameter has the largest integer', async () => {
      const { id, type } = await prepare(1, 1);
      const names = ['batch_flush_timeout', 'max_uncommitted_events', 'stream_limit', 'stream_keep_alive_limit'];
      const query = names.map((name) => `${name}=2147483647`).join('&');
      const client = await server.open(id, { query: `?${query}` });
      await client.until(() => client.numbers.length === 1);
      await server.publish(type, 0, [1]);
      await client.until(() => client.numbers.length === 2);
      expect(client.batches).to.have.length(2);
      client.destroy();
    });

    it('are empty after the flush timeout without events, with the position before the first event', async () => {
      const { id } = await prepare();
      const client = await server.open(id, { query: '?batch_flush_timeout=1' });
      await client.until(() => client.batches.length === 1);
      const [{ cursor, ...rest } = {}] = client.batches;
      expect(cursor?.offset).to.equal(offset(-1));
      expect(rest).to.deep.equal({ info: { debug: 'Stream started' } });
      client.destroy();
    });

    it('continue as keep-alives with the last sent cursor while the window is full', async () => {
      const { id } = await prepare(1, 3);
      const client = await server.open(id, { query: '?batch_flush_timeout=1&max_uncommitted_events=2' });
      await client.until(() => client.batches.length === 3);
      expect(client.batches.map(({ events }) => events?.length)).to.deep.equal([1, 1, undefined]);
      expect(client.batches.at(-1)?.cursor.offset).to.equal(offset(1));
      client.destroy();
    });

    it('alternate among all partitions', async () => {
      const type = await server.defineEventType(3);
      for (const partition of [0, 1, 2]) await server.publish(type, partition, range(0, 19));
      const client = await server.open(await server.subscribe([type]), { query: '?max_uncommitted_events=30' });
      await client.until(() => client.batches.length === 30);
      const counts = ['0', '1', '2'].map(
        (partition) => client.batches.filter(({ cursor }) => cursor.partition === partition).length,
      );
      expect(Math.min(...counts)).to.be.at.least(1);
      client.destroy();
    });

    it('contain the events of a time span of appends', async () => {
      const { id, type } = await prepare(1, 2);
      const client = await server.open(id, {
        query: '?batch_limit=100&batch_timespan=1&batch_flush_timeout=600&max_uncommitted_events=100',
      });
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      expect(client.batches).to.deep.equal([]);
      await server.publish(type, 0, [2]);
      await client.until(() => client.batches.length === 1);
      expect(client.numbers).to.deep.equal([0, 1]);
      client.destroy();
    });

    it('leave out deletions, and the committed offset passes them', async () => {
      const type = await server.defineEventType(1, true);
      const id = await server.subscribe([type]);
      const value = (number: number) => Buffer.from(`{"number":${number}}`);
      await server.append(type, 0, [
        { key: 'a', value: value(1) },
        { key: 'b', value: null },
        { key: 'c', value: value(2) },
      ]);
      await server.append(type, 0, [{ key: 'd', value: null }]);
      const client = await server.open(id, { query: '?batch_limit=10&batch_flush_timeout=1' });
      await client.until(() => client.numbers.length === 2);
      expect(client.numbers).to.deep.equal([1, 2]);
      await server.commit(id, client.streamId, client.cursors);
      await server.append(type, 0, [{ key: 'e', value: null }]);
      await eventually(async () => (await server.coordination.committedOffsets(id))[0]?.offset === 4);
      client.destroy();
    });
  });

  describe('the position where a stream begins', () => {
    it('is the oldest event, the end, or after the initial cursors, fixed once for the subscription', async () => {
      const type = await server.defineEventType(2);
      await server.publish(type, 0, range(0, 9));
      await server.publish(type, 1, range(100, 109));
      const initial_cursors = [
        { event_type: type, partition: '0', offset: '7' },
        { event_type: type, partition: '1', offset: 'BEGIN' },
      ];
      const cursors = await server.subscribe([type], { read_from: 'cursors', initial_cursors });
      const end = await server.subscribe([type], { read_from: 'end' });
      const query = '?batch_limit=100&max_uncommitted_events=100&batch_flush_timeout=1';
      const fromCursors = await server.open(cursors, { query });
      const fromEnd = await server.open(end, { query });
      await fromCursors.until(() => fromCursors.numbers.length === 12);
      expect(fromCursors.numbers.toSorted((left, right) => left - right)).to.deep.equal([8, 9, ...range(100, 109)]);
      await fromEnd.until(() => fromEnd.batches.length === 2);
      expect(fromEnd.numbers).to.deep.equal([]);
      fromEnd.destroy();
      await eventually(async () => (await server.coordination.topology(end)).sessions.length === 0);
      await server.publish(type, 0, [10]);
      const later = await server.open(end, { query });
      await later.until(() => later.numbers.length === 1);
      expect(later.numbers).to.deep.equal([10]);
      fromCursors.destroy();
      later.destroy();
    });

    it('is the event after the committed one', async () => {
      const { id } = await prepare(1, 4);
      const first = await server.open(id, { query: '?stream_limit=2' });
      await first.until(() => first.batches.length === 2);
      expect(first.batches.map(({ cursor }) => cursor.offset)).to.deep.equal([offset(0), offset(1)]);
      await server.commit(id, first.streamId, first.cursors);
      await first.ended;
      expect(first.lastInfo).to.deep.equal({ debug: 'Stream limit in events reached: 2', code: 'stream_limit' });
      const second = await server.open(id);
      await second.until(() => second.batches.length >= 1);
      expect(second.batches[0]?.cursor.offset).to.equal(offset(2));
      expect(second.batches[0]?.info).to.deep.equal({ debug: 'Stream started' });
      second.destroy();
    });

    it('is the first event of a partition that was added later, and open streams end because of it', async () => {
      const type = await server.defineEventType(1);
      await server.publish(type, 0, [0]);
      const id = await server.subscribe([type], { read_from: 'end' });
      const first = await server.open(id);
      await eventually(async () => (await server.coordination.topology(id)).partitions[0]?.state === 'assigned');
      await server.log.alterTopic(type, { partitionCount: 2 });
      await server.publish(type, 1, [1]);
      await server.registry.put('event-type', type, {
        eventType: { name: type },
        partitionCount: 2,
        schemas: [],
        system: false,
      });
      await first.ended;
      expect(first.lastInfo).to.deep.equal({ debug: 'Resetting subscription cursors', code: 'repartitioned' });
      const second = await server.open(id);
      await second.until(() => second.numbers.length === 1);
      expect(second.batches.find(({ events }) => events !== undefined)?.cursor).to.include({
        partition: '1',
        offset: offset(0),
      });
      second.destroy();
    });

    it('is after an offset that was committed before it was sent', async () => {
      const { id, type } = await prepare(1, 10);
      const client = await server.open(id, { query: '?max_uncommitted_events=2&batch_flush_timeout=600' });
      await client.until(() => client.numbers.length === 2);
      const cursor = { event_type: type, partition: '0', offset: offset(7), cursor_token: '' };
      await server.commit(id, client.streamId, [cursor]);
      await client.until(() => client.numbers.length === 4);
      expect(client.numbers).to.deep.equal([0, 1, 8, 9]);
      client.destroy();
    });
  });

  describe('the end of a stream', () => {
    it('comes when its time is over: waiting events are sent first, then the reason', async () => {
      const { id } = await prepare(1, 4);
      const client = await server.open(id, { query: '?batch_limit=1000&batch_flush_timeout=600&stream_timeout=1' });
      await client.until(() => client.batches.length === 2);
      expect(client.numbers).to.deep.equal([0, 1, 2, 3]);
      expect(client.batches.map(({ events }) => events?.length)).to.deep.equal([4, undefined]);
      expect(client.lastInfo).to.deep.equal({ debug: 'Stream timeout reached', code: 'stream_timeout' });
      const result = await server.commit(id, client.streamId, client.cursors);
      expect(result).to.deep.equal({ outcome: 'committed', advanced: [true] });
      await client.ended;
      expect(client.error).to.equal(undefined);
    });

    it('comes soon after its time when everything is committed', async () => {
      const { id } = await prepare();
      const client = await server.open(id, { query: '?stream_timeout=1' });
      await client.ended;
      expect(client.lastInfo?.code).to.equal('stream_timeout');
      expect((await server.coordination.topology(id)).sessions).to.deep.equal([]);
    });

    it('comes when nothing is committed in time, and the events are delivered again', async () => {
      const { id } = await prepare(1, 1);
      const client = await server.open(id, { query: '?commit_timeout=1' });
      await client.ended;
      expect(client.batches).to.have.length(2);
      expect(client.lastInfo).to.deep.equal({ debug: 'Commit timeout reached', code: 'commit_timeout' });
      const late = await server.commit(id, client.streamId, client.cursors);
      expect(late.outcome).to.equal('session_not_found');
      expect(server.streams.endedStreamReason(client.streamId)).to.equal('Commit timeout reached');
      const again = await server.open(id);
      await again.until(() => again.numbers.length === 1);
      expect(again.numbers).to.deep.equal([0]);
      again.destroy();
    });

    it('is postponed by every commit', async () => {
      const { id } = await prepare(1, 3);
      const openedAt = performance.now();
      const client = await server.open(id, { query: '?commit_timeout=2' });
      await client.until(() => client.numbers.length === 3);
      for (const index of [0, 1]) {
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        const cursor = client.batches[index]?.cursor;
        await server.commit(id, client.streamId, cursor === undefined ? [] : [cursor]);
      }
      await client.ended;
      expect(performance.now() - openedAt).to.be.above(4_000);
      expect(client.lastInfo?.code).to.equal('commit_timeout');
    });

    it('comes when exactly the limit was sent and committed, and the next stream continues after it', async () => {
      const { id } = await prepare(1, 10);
      const client = await server.open(id, {
        query: '?stream_limit=7&batch_limit=3&max_uncommitted_events=100&batch_flush_timeout=600',
      });
      await client.until(() => client.numbers.length === 7);
      expect(client.batches.map(({ events }) => events?.length)).to.deep.equal([3, 3, 1]);
      const cursors = client.batches.map(({ cursor }) => cursor);
      await server.commit(id, client.streamId, cursors.slice(1, 2));
      expect((await server.coordination.topology(id)).sessions).to.have.length(1);
      expect(client.lastInfo?.code).to.equal(undefined);
      await server.commit(id, client.streamId, cursors.slice(2));
      await client.ended;
      expect(client.numbers).to.deep.equal(range(0, 6));
      expect(client.lastInfo).to.deep.equal({ debug: 'Stream limit in events reached: 7', code: 'stream_limit' });
      const next = await server.open(id, { query: '?batch_limit=3' });
      await next.until(() => next.numbers.length === 3);
      expect(next.numbers).to.deep.equal([7, 8, 9]);
      next.destroy();
    });

    it('comes when every partition had the maximum number of consecutive keep-alives', async () => {
      const { id, type } = await prepare(2);
      const client = await server.open(id, { query: '?batch_flush_timeout=1&stream_keep_alive_limit=2' });
      await client.until(() => client.batches.length >= 2);
      await server.publish(type, 0, [0]);
      await client.until(() => client.numbers.length === 1);
      await server.commit(id, client.streamId, client.cursors);
      await client.ended;
      expect(client.lastInfo).to.deep.equal({ debug: 'Keep-alive limit reached: 2', code: 'keep_alive_limit' });
      const afterEvent = client.batches.slice(client.batches.findIndex(({ events }) => events !== undefined) + 1);
      const keepAlives = afterEvent.filter(({ cursor, info }) => cursor.partition === '0' && info?.code === undefined);
      expect(keepAlives).to.have.length(2);
    });

    it('comes when cursors are reset, and commits are accepted until then', async () => {
      const { id } = await prepare(1, 2);
      const client = await server.open(id);
      await client.until(() => client.numbers.length === 2);
      await server.coordination.beginReset(id);
      await client.until(() => client.lastInfo?.code === 'cursors_reset');
      expect(client.lastInfo?.debug).to.equal('Resetting subscription cursors');
      expect((await server.coordination.topology(id)).sessions).to.have.length(1);
      await server.commit(id, client.streamId, client.cursors);
      await client.ended;
      expect((await server.coordination.topology(id)).sessions).to.deep.equal([]);
      await server.coordination.finishReset(id, []);
    });

    it('comes when the subscription is deleted', async () => {
      const { id } = await prepare(1, 1);
      const client = await server.open(id);
      await client.until(() => client.numbers.length === 1);
      await server.registry.remove('subscription', id);
      await client.ended;
      expect(client.lastInfo).to.deep.equal({ debug: 'Subscription was deleted', code: 'subscription_deleted' });
    });

    it('comes when the lease of its process has ended', async () => {
      const other = await startStreamServer();
      const type = await other.defineEventType(1);
      const id = await other.subscribe([type]);
      const client = await other.open(id);
      await other.coordination.closeSession(id, client.streamId);
      await client.ended;
      expect(client.lastInfo?.code).to.equal('session_lost');
      await other.stop();
    });

    it('comes when the process stops, and received events may still be committed', async () => {
      const other = await startStreamServer();
      const type = await other.defineEventType(1);
      const id = await other.subscribe([type]);
      await other.publish(type, 0, [0, 1]);
      const client = await other.open(id, { query: '?batch_limit=2' });
      await client.until(() => client.numbers.length === 2);
      await other.streams.closeAll();
      await client.ended;
      expect(client.lastInfo?.code).to.equal('server_shutdown');
      expect((await other.coordination.topology(id)).sessions).to.deep.equal([]);
      const result = await other.commit(id, client.streamId, client.cursors);
      expect(result).to.deep.equal({ outcome: 'committed', advanced: [true] });
      await other.stop();
    });

    it('closes the session immediately when the client closes the connection', async () => {
      const { id } = await prepare(1, 1);
      const client = await server.open(id, { query: '?batch_flush_timeout=30' });
      await client.until(() => client.numbers.length === 1);
      client.destroy();
      await eventually(async () => (await server.coordination.topology(id)).sessions.length === 0);
      const again = await server.open(id);
      expect(again.status).to.equal(200);
      await again.until(() => again.numbers.length === 1);
      again.destroy();
    });
  });

  it('closes the sessions of all streams on one connection when the client closes it', async () => {
    const prepared = [await prepare(1, 1), await prepare(1, 1), await prepare(1, 1)];
    const requests = prepared.map(({ id }) => `GET /subscriptions/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const sessions = async (): Promise<number[]> => {
      const topologies = await Promise.all(prepared.map(({ id }) => server.coordination.topology(id)));
      return topologies.map((topology) => topology.sessions.length);
    };
    const socket = connect(server.port, '127.0.0.1', () => socket.write(requests.join('')));
    await eventually(async () => (await sessions()).every((count) => count === 1));
    socket.destroy();
    await eventually(async () => (await sessions()).every((count) => count === 0));
    expect(server.streams.openStreams.size).to.equal(0);
  });

  it('serves others while one reader does not read, and frees its slot when its time is over', async () => {
    const type = await server.defineEventType(1);
    const value = Buffer.from(`{"number":1,"text":"${'x'.repeat(9_000)}"}`);
    for (let batch = 0; batch < 10; batch += 1) {
      await server.append(
        type,
        0,
        Array.from({ length: 200 }, () => ({ key: null, value })),
      );
    }
    const query = '?max_uncommitted_events=100000&batch_limit=10';
    const slowId = await server.subscribe([type]);
    const slow = await server.open(slowId, { query: `${query}&commit_timeout=2` });
    slow.response.pause();
    const fast = await server.open(await server.subscribe([type]), { query });
    await fast.until(() => fast.numbers.length === 2_000, 20_000);
    fast.destroy();
    await eventually(async () => (await server.coordination.topology(slowId)).sessions.length === 0);
    slow.destroy();
  });

  for (const encoding of streamEncodings) {
    it(`sends everything, and then keep-alives, to a reader that paused for a while (${encoding ?? 'identity'})`, async () => {
      const { type, id } = await prepare();
      const client = await server.open(id, {
        query: `?batch_limit=${pausedBatchEvents}&batch_flush_timeout=1&max_uncommitted_events=1000000`,
        headers: { 'Accept-Encoding': encoding ?? 'identity' },
        paused: true,
      });
      await expectAllAfterPause(server, client, type);
      client.destroy();
    });
  }

  it('lets timers run while a reader receives everything at once', async () => {
    const type = await server.defineEventType(1);
    const value = Buffer.from('{"number":1}');
    for (let batch = 0; batch < 60; batch += 1) {
      await server.append(
        type,
        0,
        Array.from({ length: 5_000 }, () => ({ key: null, value })),
      );
    }
    const client = await server.open(await server.subscribe([type]), {
      query: '?max_uncommitted_events=1000000&batch_limit=100',
    });
    let most = 0;
    let before = 0;
    // Counted in events, because a busy machine makes every wait long.
    const count = (): void => {
      most = Math.max(most, client.numbers.length - before);
      before = client.numbers.length;
    };
    const timer = setInterval(count, 1);
    await client.until(() => client.numbers.length === 300_000, 20_000);
    clearInterval(timer);
    count();
    client.destroy();
    expect(most).to.be.below(200_000);
  });

  it('sends a last line on every stream at shutdown, and accepts no more streams', async () => {
    const other = await startStreamServer();
    const type = await other.defineEventType(2);
    const id = await other.subscribe([type]);
    await other.publish(type, 0, [0]);
    const clients = [await other.open(id), await other.open(id)];
    await eventually(() => clients.some(({ numbers }) => numbers.length === 1));
    await other.streams.closeAll('server_shutdown');
    await Promise.all(clients.map(({ ended }) => ended));
    for (const { lastInfo, error } of clients) {
      expect(lastInfo).to.deep.equal({ debug: 'The server is shutting down', code: 'server_shutdown' });
      expect(error).to.equal(undefined);
    }
    expect((await other.open(id)).status).to.equal(503);
    await other.stop();
  });
});
