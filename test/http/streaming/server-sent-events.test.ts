import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { formatOffset } from '../../../src/broker/cursors/cursor-text.ts';
import { listedPartitionsMaximum } from '../../../src/broker/cursors/short-positions.ts';
import { reconnectMilliseconds } from '../../../src/http/streaming/stream-form.ts';
import { isClusterUnderTest } from '../../support/backend-under-test.ts';
import { EventStreamReader } from '../../support/http/event-stream-reader.ts';
import { streamEncodings } from '../../support/http/stream-encodings.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('streams as server-sent events', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  function open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<EventStreamReader> {
    return EventStreamReader.open(server.port, path, headers);
  }

  function cursors(...offsets: number[]): string {
    return JSON.stringify(offsets.map((offset, partition) => ({ partition: `${partition}`, offset: text(offset) })));
  }

  function text(offset: number): string {
    return formatOffset(offset);
  }

  describe('are sent', () => {
    for (const [accept, type] of [
      ['text/event-stream', 'text/event-stream'],
      ['text/event-stream, */*;q=0.1', 'text/event-stream'],
      ['TEXT/Event-Stream', 'text/event-stream'],
      ['text/event-stream; charset=utf-8', 'text/event-stream'],
      ['text/event-stream;charset=UTF-8', 'text/event-stream'],
      ['application/json, text/event-stream', 'application/x-json-stream'],
      ['application/x-json-stream, text/event-stream;q=0.9', 'application/x-json-stream'],
      ['text/event-stream;q=0', 'application/x-json-stream'],
      ['*/*', 'application/x-json-stream'],
      ['text/html', 'application/x-json-stream'],
    ] as const) {
      it(`as ${type} to a client that accepts ${accept}`, async () => {
        const name = await server.defineEventType(1);
        const id = await server.subscribe([name]);
        for (const path of [`/event-types/${name}/events`, `/subscriptions/${id}/events`]) {
          const reader = await open(path, { Accept: accept });
          expect(reader.response.statusCode).to.equal(200);
          expect(reader.response.headers).to.include({ 'content-type': type, vary: 'Accept, Accept-Encoding' });
          expect(reader.response.headers['x-accel-buffering']).to.equal(type.startsWith('text') ? 'no' : undefined);
          reader.close();
        }
      });
    }
  });

  describe('without a subscription', () => {
    it('begin with the time to wait and the position, before there is an event', async () => {
      const name = await server.defineEventType(2);
      await server.publish(name, 1, [1, 2]);
      const reader = await open(`/event-types/${name}/events`);
      await reader.until(({ retry }) => retry === reconnectMilliseconds);
      await reader.until(({ lastEventId }) => lastEventId === cursors(-1, 1));
      const data = `{"cursors":${cursors(-1, 1)}}`;
      expect(reader.events).to.deep.equal([{ type: 'start', data, lastEventId: cursors(-1, 1) }]);
      reader.close();
    });

    it('have each batch as the line of a JSON stream would have it, and the positions of all partitions', async () => {
      const name = await server.defineEventType(2);
      await server.append(name, 0, [{ key: null, value: Buffer.from('{"amount":1.0,"name":"Zo\\u00eb ë"}') }]);
      await server.publish(name, 1, [1]);
      const reader = await open(`/event-types/${name}/events?cursors=${cursors(-1, 0)}`);
      await reader.until(({ events }) => events.length === 2);
      expect(reader.events.slice(1)).to.deep.equal([
        {
          type: 'message',
          data: `{"cursor":{"partition":"0","offset":"${text(0)}"},"events":[{"amount":1.0,"name":"Zo\\u00eb ë"}]}`,
          lastEventId: cursors(0, 0),
        },
      ]);
      reader.close();
    });

    it('resume exactly after what was received, on every partition', async () => {
      const name = await server.defineEventType(2);
      await server.publish(name, 0, [0, 1, 2, 3]);
      await server.publish(name, 1, [10, 11, 12]);
      const received: unknown[] = [];
      const path = `/event-types/${name}/events?cursors=${cursors(-1, -1)}&batch_limit=1&stream_limit=`;
      let lastEventId = '';
      for (const limit of [1, 2, 3, 1]) {
        const headers = lastEventId === '' ? {} : { 'Last-Event-ID': lastEventId };
        const reader = await open(`${path}${limit}`, headers);
        await reader.until(({ isEnded }) => isEnded);
        expect(reader.numbers).to.have.length(limit);
        received.push(...reader.numbers);
        lastEventId = reader.lastEventId;
      }
      expect(received).to.have.members([0, 1, 2, 3, 10, 11, 12]);
      expect(lastEventId).to.equal(cursors(3, 2));
    });

    it('resume where they began when they had no event', async () => {
      const name = await server.defineEventType(1);
      await server.publish(name, 0, [0, 1]);
      const first = await open(`/event-types/${name}/events`);
      await first.until(({ lastEventId }) => lastEventId !== '');
      first.close();
      await server.publish(name, 0, [2]);
      const path = `/event-types/${name}/events`;
      for (const [url, headers] of [
        [path, { 'Last-Event-ID': first.lastEventId }],
        [`${path}?last_event_id=${first.lastEventId}`, {}],
      ] as const) {
        const second = await open(url, headers);
        await second.until(({ numbers }) => numbers.length === 1);
        expect(second.numbers).to.deep.equal([2]);
        second.close();
      }
    });

    it('read partitions that were added meanwhile from their first event', async () => {
      const name = await server.defineEventType(1);
      const first = await open(`/event-types/${name}/events`);
      await first.until(({ lastEventId }) => lastEventId === cursors(-1));
      await server.eventTypes.setPartitionCount(name, 2);
      await first.until(({ isEnded }) => isEnded);
      expect(first.ofType('end')[0]).to.include({ code: 'repartitioned' });
      await server.publish(name, 1, [7]);
      const second = await open(`/event-types/${name}/events`, { 'Last-Event-ID': first.lastEventId });
      await second.until(({ numbers }) => numbers.length === 1);
      expect(second.lastEventId).to.equal(cursors(-1, 0));
      second.close();
    });

    it('read only the partitions that the request names', async () => {
      const name = await server.defineEventType(2);
      await server.publish(name, 0, [0, 1]);
      await server.publish(name, 1, [10]);
      const headers = { 'X-Nakadi-Cursors': cursors(-1), 'Last-Event-ID': cursors(0, -1) };
      const reader = await open(`/event-types/${name}/events`, headers);
      await reader.until(({ numbers }) => numbers.length === 1);
      expect([reader.numbers, reader.lastEventId]).to.deep.equal([[1], cursors(1)]);
      reader.close();
    });

    for (const partitionCount of [listedPartitionsMaximum, listedPartitionsMaximum + 1]) {
      const form = partitionCount > listedPartitionsMaximum ? 'the short form of cursors' : 'a list of cursors';
      it(`have ${form} as ids with ${partitionCount} partitions, and resume at them`, async () => {
        const name = await server.defineEventType(partitionCount);
        const path = `/event-types/${name}/events`;
        const first = await open(path);
        await first.until(({ lastEventId }) => lastEventId !== '');
        const none = Array<number>(partitionCount).fill(-1);
        const isShort = partitionCount > listedPartitionsMaximum;
        const idOf = (offsets: readonly number[]): string =>
          isShort ? `p0.${offsets.join('.')}` : cursors(...offsets);
        expect(first.events[0]).to.deep.equal({
          type: 'start',
          data: `{"cursors":${cursors(...none)}}`,
          lastEventId: idOf(none),
        });
        await server.publish(name, partitionCount - 1, [1]);
        await first.until(({ numbers }) => numbers.length === 1);
        expect(first.lastEventId).to.equal(idOf([...none.slice(1), 0]));
        first.close();
        await server.publish(name, partitionCount - 1, [2]);
        await server.publish(name, 0, [3]);
        const all = isShort ? `p0${'.-1'.repeat(partitionCount)}` : cursors(...none);
        for (const [url, headers, numbers] of [
          [path, { 'Last-Event-ID': first.lastEventId }, [2, 3]],
          [`${path}?last_event_id=${encodeURIComponent(first.lastEventId)}`, {}, [2, 3]],
          // The list, as ids were before.
          [path, { 'Last-Event-ID': cursors(...none.slice(1), 0) }, [2, 3]],
          [path, { 'X-Nakadi-Cursors': all }, [1, 2, 3]],
          [`${path}?cursors=${encodeURIComponent(all)}`, {}, [1, 2, 3]],
        ] as const) {
          const second = await open(url, headers);
          await second.until((reader) => reader.numbers.length === numbers.length);
          expect(second.numbers).to.have.members(numbers);
          second.close();
        }
      });
    }

    // What is sent back is the same on every backend, and a broker needs long for a thousand partitions.
    const manyPartitions = isClusterUnderTest() ? 100 : 1_000;

    it(`of ${manyPartitions} partitions resume by their id, as a header and in the URL`, async function () {
      this.timeout(60_000);
      const name = await server.defineEventType(manyPartitions);
      const [beforeLast, last] = [String(manyPartitions - 2), String(manyPartitions - 1)];
      await server.publish(name, manyPartitions - 1, [1, 2]);
      const path = `/event-types/${name}/events?batch_limit=1`;
      const first = await open(`${path}&stream_limit=1`, { 'X-Nakadi-Cursors': `p${beforeLast}.-1.-1` });
      await first.until(({ isEnded }) => isEnded);
      expect(first.lastEventId).to.equal(cursors(-1, 0).replace('"0"', `"${beforeLast}"`).replace('"1"', `"${last}"`));
      const whole = await open(path);
      await whole.until(({ lastEventId }) => lastEventId !== '');
      whole.close();
      await server.publish(name, 50, [3]);
      for (const [url, headers] of [
        [path, { 'Last-Event-ID': whole.lastEventId }],
        [`${path}&last_event_id=${encodeURIComponent(whole.lastEventId)}`, {}],
      ] as const) {
        const second = await open(url, headers);
        expect(second.response.statusCode).to.equal(200);
        await second.until(({ numbers }) => numbers.length === 1);
        expect(second.numbers).to.deep.equal([3]);
        second.close();
      }
    });

    it('have comments as keep-alives, whose ids pass over what no event is left of', async () => {
      const name = await server.defineEventType(1, true);
      const reader = await open(`/event-types/${name}/events?batch_flush_timeout=1`);
      await server.append(name, 0, [{ key: 'a', value: null }]);
      await reader.until(({ lastEventId }) => lastEventId === cursors(0));
      expect(reader.comments).not.to.deep.equal([]);
      expect(reader.events.map(({ type }) => type)).to.deep.equal(['start']);
      reader.close();
    });

    it('end with an event of its own type, behind the last batch', async () => {
      const name = await server.defineEventType(1);
      await server.publish(name, 0, [1]);
      const path = `/event-types/${name}/events?cursors=${cursors(-1)}`;
      for (const [query, types, code] of [
        ['stream_limit=1', ['start', 'message', 'end'], 'stream_limit'],
        ['stream_timeout=1&batch_flush_timeout=1', ['start', 'message', 'end'], 'stream_timeout'],
        ['batch_flush_timeout=1&stream_keep_alive_limit=1', ['start', 'message', 'end'], 'keep_alive_limit'],
      ] as const) {
        const reader = await open(`${path}&${query}`);
        await reader.until(({ isEnded }) => isEnded);
        expect(reader.events.map(({ type }) => type)).to.deep.equal(types);
        expect(reader.ofType('end')[0]).to.include({ code });
      }
    });

    for (const [what, headers, status] of [
      ['text that is no list of cursors', { 'Last-Event-ID': 'here' }, 400],
      ['a position after the last event', { 'Last-Event-ID': cursors(0) }, 412],
      ['a partition that does not exist', { 'Last-Event-ID': cursors(-1, -1) }, 412],
      ['a partition that no number names', { 'Last-Event-ID': cursors(-1).replace('"0"', '"00"') }, 412],
      ['a partition twice', { 'Last-Event-ID': cursors(-1, -1).replace('"1"', '"0"') }, 412],
      [
        'a partition that does not exist beside one that the request names',
        { 'Last-Event-ID': cursors(-1, -1), 'X-Nakadi-Cursors': cursors(-1) },
        412,
      ],
      ['no text', { 'Last-Event-ID': '' }, 200],
      ['a position, to a stream of JSON', { 'Last-Event-ID': cursors(0), Accept: '*/*' }, 200],
    ] as const) {
      it(`answer ${status} when Last-Event-ID has ${what}`, async () => {
        const name = await server.defineEventType(1);
        const reader = await open(`/event-types/${name}/events`, headers);
        expect(reader.response.statusCode).to.equal(status);
        reader.close();
      });
    }
  });

  it('of a type refuse what was received on a subscription to another one, and resume after their own', async () => {
    const [name, other] = [await server.defineEventType(1), await server.defineEventType(1)];
    await server.publish(name, 0, [0, 1, 2]);
    await server.publish(other, 0, [10, 11]);
    const received: string[] = [];
    for (const type of [name, other]) {
      const reader = await open(`/subscriptions/${await server.subscribe([type])}/events?batch_limit=2`);
      await reader.until(({ numbers }) => numbers.length === 2);
      received.push(reader.lastEventId);
      reader.close();
    }
    const [own = '', foreign = ''] = received;
    const path = `/event-types/${name}/events`;
    for (const [url, headers] of [
      [path, { 'Last-Event-ID': foreign }],
      [`${path}?last_event_id=${encodeURIComponent(foreign)}`, {}],
    ] as const) {
      const refused = await fetch(`http://127.0.0.1:${server.port}${url}`, {
        headers: { Accept: 'text/event-stream', ...headers },
      });
      expect(refused.status).to.equal(412);
      expect(await refused.text()).to.include(`cursor of another event type ${other}`);
    }
    const resumed = await open(path, { 'Last-Event-ID': own });
    await resumed.until(({ numbers }) => numbers.length === 1);
    expect(resumed.numbers).to.deep.equal([2]);
    resumed.close();
  });

  describe('of a subscription', () => {
    it('begin with the id of the stream, and have cursors to commit as ids', async () => {
      const name = await server.defineEventType(1);
      const id = await server.subscribe([name]);
      await server.publish(name, 0, [0, 1]);
      const reader = await open(`/subscriptions/${id}/events?batch_limit=2`);
      await reader.until(({ numbers }) => numbers.length === 2);
      expect(reader.retry).to.equal(reconnectMilliseconds);
      const streamId = reader.response.headers['x-nakadi-streamid'];
      expect(reader.events[0]).to.deep.include({ type: 'start', data: JSON.stringify({ stream_id: streamId }) });
      const [batch] = reader.batches;
      const [cursor] = JSON.parse(reader.events[1]?.lastEventId ?? '') as never[];
      expect(cursor)
        .to.deep.equal(batch?.cursor)
        .and.to.include({ event_type: name, offset: text(1) });
      expect(reader.ofType('info')).to.deep.equal([{ debug: 'Stream started' }]);
      const committed = await server.commit(id, String(streamId), [cursor ?? ({} as never)]);
      expect(committed).to.deep.equal({ outcome: 'committed', advanced: [true] });
      reader.close();
    });

    it('are sent again what was received and not committed, whatever Last-Event-ID names', async () => {
      const name = await server.defineEventType(1);
      const id = await server.subscribe([name]);
      await server.publish(name, 0, [0, 1, 2]);
      const first = await open(`/subscriptions/${id}/events`);
      await first.until(({ numbers }) => numbers.length === 3);
      const [, cursor] = first.batches.map((batch) => batch.cursor);
      const streamId = String(first.response.headers['x-nakadi-streamid']);
      await server.commit(id, streamId, [cursor as never]);
      const { lastEventId } = first;
      first.close();
      const second = await open(`/subscriptions/${id}/events`, { 'Last-Event-ID': lastEventId });
      await second.until(({ numbers }) => numbers.length === 1);
      expect(second.numbers).to.deep.equal([2]);
      second.close();
    });

    it('have keep-alives as comments, and end with their reason', async () => {
      const name = await server.defineEventType(1);
      const id = await server.subscribe([name]);
      const reader = await open(`/subscriptions/${id}/events?batch_flush_timeout=1&stream_keep_alive_limit=2`);
      await reader.until(({ isEnded }) => isEnded);
      expect(reader.comments.length).to.be.at.least(2);
      expect(reader.events.map(({ type }) => type)).to.deep.equal(['start', 'info', 'end']);
      expect(reader.ofType('end')).to.deep.equal([{ debug: 'Keep-alive limit reached: 2', code: 'keep_alive_limit' }]);
    });

    it('end with the waiting events before the reason', async () => {
      const name = await server.defineEventType(1);
      const id = await server.subscribe([name]);
      await server.publish(name, 0, [0]);
      const query = '?batch_limit=10&stream_timeout=1&commit_timeout=1';
      const reader = await open(`/subscriptions/${id}/events${query}`);
      await reader.until(({ isEnded }) => isEnded);
      expect(reader.events.map(({ type }) => type)).to.deep.equal(['start', 'message', 'info', 'end']);
      expect(reader.ofType('end')[0]).to.include({ code: 'stream_timeout' });
    });

    it('may be opened with a POST', async () => {
      const name = await server.defineEventType(1);
      const id = await server.subscribe([name]);
      const client = await server.open(id, {
        body: { partitions: [{ event_type: name, partition: '0' }] },
        headers: { Accept: 'text/event-stream' },
        paused: true,
      });
      expect(client.response.headers['content-type']).to.equal('text/event-stream');
      client.destroy();
    });
  });

  for (const encoding of streamEncodings) {
    it(`are sent whole to a reader that paused, at its pace (${encoding ?? 'identity'})`, async function () {
      this.timeout(60_000);
      const name = await server.defineEventType(1);
      const padding = 'x'.repeat(100_000);
      const records = Array.from({ length: 12 }, (_, number) => ({
        key: null,
        value: Buffer.from(JSON.stringify({ number, padding })),
      }));
      for (let batch = 0; batch < 10; batch += 1) await server.append(name, 0, records);
      const path = `/event-types/${name}/events?batch_limit=7&batch_flush_timeout=1&cursors=${cursors(-1)}`;
      const reader = await EventStreamReader.open(
        server.port,
        path,
        { 'Accept-Encoding': encoding ?? 'identity' },
        false,
      );
      await new Promise((resolve) => setTimeout(resolve, 500));
      // The connection, and one write that waits for it: not the 12 MB of the log.
      expect(server.unsentBytes()).to.be.below(2_000_000);
      reader.read();
      await reader.until(({ lastEventId }) => lastEventId === cursors(119), 30_000);
      expect(reader.numbers).to.deep.equal(Array.from({ length: 120 }, (_, number) => number % 12));
      expect(reader.response.headers['content-encoding']).to.equal(encoding);
      reader.close();
    });
  }
});
