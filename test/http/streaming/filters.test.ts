import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import {
  deadLetterQueue,
  policyAnnotation,
  sendCountAnnotation,
} from '../../../src/broker/definitions/unprocessable-events.ts';
import { formatOffset, parseOffset } from '../../../src/broker/cursors/cursor-text.ts';
import { filterLengthMaximum, filtersMaximum } from '../../../src/broker/streaming/filters/filter-parameter.ts';
import { systemClock } from '../../../src/clock.ts';
import { call, type Cursor, type HttpResponse } from '../../support/http/client.ts';
import { EventStreamReader } from '../../support/http/event-stream-reader.ts';
import { startStreamServer, type StreamClient, type StreamServer } from '../../support/http/stream-server.ts';
import { quickClock } from '../../support/values/quick-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { millisecondsSince } from '../../support/values/processor-time.ts';

/** A query with filters, each to be encoded. */
function filters(...texts: readonly string[]): string {
  return texts.map((text) => `&filter=${encodeURIComponent(text)}`).join('');
}

/** Most of the minute that these tests took, streams waited for timeouts of whole seconds. */
const streamTimeFactor = 3;

describe('a stream with filters', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer(undefined, quickClock(streamTimeFactor));
  });

  afterEach(() => server.disconnectAll());

  after(() => server.stop());

  function event(number: number, kind: string): Buffer {
    return Buffer.from(JSON.stringify({ number, kind, metadata: { event_type: kind } }));
  }

  /** Events in one batch, each with its place as its number. */
  async function append(type: string, kinds: readonly string[], partition = 0): Promise<void> {
    const records = kinds.map((kind, number) => ({ key: null, value: event(number, kind) }));
    await server.append(type, partition, records);
  }

  async function prepare(kinds: readonly string[], changes = {}): Promise<{ type: string; id: string }> {
    const type = await server.defineEventType(1);
    if (kinds.length > 0) await append(type, kinds);
    return { type, id: await server.subscribe([type], changes) };
  }

  async function committed(id: string): Promise<number | undefined> {
    const [first] = await server.coordination.committedOffsets(id);
    return first?.offset;
  }

  function commit({ streamId }: StreamClient, id: string, ...cursors: readonly Cursor[]): Promise<HttpResponse> {
    const url = `http://127.0.0.1:${server.port}/subscriptions/${id}/cursors`;
    return call(url, 'POST', { items: cursors }, { 'X-Nakadi-StreamId': streamId });
  }

  function lastCursor(client: StreamClient): Cursor {
    const last = client.batches.at(-1);
    if (last === undefined) throw new Error('Nothing was received.');
    return last.cursor;
  }

  function lastOffset(client: StreamClient): number {
    return client.batches.length === 0 ? -2 : parseOffset(lastCursor(client).offset);
  }

  /** Waits for a line without events whose cursor is this offset. */
  function untilMovedTo(client: StreamClient, offset: number): Promise<void> {
    return client.until(() => client.batches.at(-1)?.events === undefined && lastOffset(client) === offset);
  }

  it('delivers the events that meet all of them, byte for byte, asked for by GET and by POST', async () => {
    const kinds = ['a', 'b', 'a', 'c', 'a', 'b'];
    const both = ['/metadata/event_type=a', '/number=2'];
    for (const [request, expected] of [
      [{ query: `?batch_limit=3${filters('/metadata/event_type=a')}` }, [0, 2, 4]],
      [{ query: `?batch_limit=1${filters(...both)}` }, [2]],
      [{ body: { batch_limit: 3, filter: '/kind=a' } }, [0, 2, 4]],
      [{ body: { batch_limit: 1, filter: both } }, [2]],
      [{ query: `?x=1${filters('/kind=b')}`, body: { batch_limit: 3, filter: '/kind=a' } }, [0, 2, 4]],
      [{ query: '?batch_limit=6&filter=' }, [0, 1, 2, 3, 4, 5]],
      [{ body: { batch_limit: 6, filter: [] } }, [0, 1, 2, 3, 4, 5]],
    ] as const) {
      const { id } = await prepare(kinds);
      const client = await server.open(id, request);
      await client.until(() => client.numbers.length === expected.length);
      expect(client.numbers).to.deep.equal(expected);
      expect(client.batches[0]?.events?.[0]).to.deep.equal(
        JSON.parse(event(expected[0], kinds[expected[0]] ?? '').toString()),
      );
      client.destroy();
    }
  });

  it('counts events that it passed over as delivered up to the cursor of the next batch', async () => {
    const { type, id } = await prepare(['no', 'yes', 'no', 'yes', 'no', 'no']);
    const client = await server.open(id, { query: `?batch_limit=2${filters('/kind=yes')}` });
    await client.until(() => client.numbers.length === 2);
    expect(lastOffset(client)).to.equal(5);
    expect((await commit(client, id, lastCursor(client))).status).to.equal(204);
    client.destroy();
    await eventually(async () => (await server.coordination.topology(id)).sessions.length === 0);
    await append(type, ['next']);
    const next = await server.open(id);
    await next.until(() => next.numbers.length === 1);
    expect(next.batches[0]?.events?.[0]).to.include({ kind: 'next' });
  });

  it('sends batches without events, whose cursors move and can be committed, when nothing meets them', async () => {
    const { type, id } = await prepare(['no', 'no', 'no']);
    const client = await server.open(id, { query: `?batch_flush_timeout=1${filters('/kind=yes')}` });
    await untilMovedTo(client, 2);
    expect((await commit(client, id, lastCursor(client))).status).to.equal(204);
    expect(await committed(id)).to.equal(2);
    await append(type, ['no', 'no']);
    await untilMovedTo(client, 4);
    expect((await commit(client, id, lastCursor(client))).status).to.equal(204);
    expect(await committed(id)).to.equal(4);
    expect(client.numbers).to.deep.equal([]);
  });

  it('commits nothing by itself: what was passed over comes to the next stream', async () => {
    const { id } = await prepare(['no', 'no', 'no']);
    const query = `?batch_flush_timeout=1&commit_timeout=1${filters('/kind=yes')}`;
    const client = await server.open(id, { query });
    await untilMovedTo(client, 2);
    // Longer than positions after deletions wait until the service commits them, and than the commit timeout.
    await systemClock.sleep(6_500);
    expect(await committed(id)).to.equal(-1);
    expect(client.lastInfo?.code).to.equal(undefined);
    client.destroy();
    await eventually(async () => (await server.coordination.topology(id)).sessions.length === 0);
    const next = await server.open(id, { query: '?batch_limit=3' });
    await next.until(() => next.numbers.length === 3);
  }).timeout(30_000);

  it('fills its window, its limits and its batches with events that meet them only', async () => {
    const kinds = Array.from({ length: 40 }, (_, number) => (number % 10 === 9 ? 'yes' : 'no'));
    const { id } = await prepare(kinds);
    const query = '?batch_limit=2&max_uncommitted_events=2&stream_limit=4&batch_flush_timeout=1&commit_timeout=20';
    const client = await server.open(id, { query: query + filters('/kind=yes') });
    await client.until(() => client.numbers.length === 2);
    await client.until(() => client.batches.at(-1)?.events === undefined);
    expect(client.numbers).to.deep.equal([9, 19]);
    expect(lastOffset(client), 'the third waits').to.equal(19);
    expect((await commit(client, id, lastCursor(client))).status).to.equal(204);
    await client.until(() => client.numbers.length === 4);
    expect(client.numbers).to.deep.equal([9, 19, 29, 39]);
    expect((await commit(client, id, lastCursor(client))).status).to.equal(204);
    await client.ended;
    expect(client.lastInfo?.code).to.equal('stream_limit');
  });

  it('ends by its commit timeout if events that were sent are not committed', async () => {
    const { id } = await prepare(['no', 'yes', 'no']);
    const client = await server.open(id, { query: `?commit_timeout=1${filters('/kind=yes')}` });
    await client.ended;
    expect(client.lastInfo?.code).to.equal('commit_timeout');
    expect(client.numbers).to.deep.equal([1]);
  });

  it('counts no batch as a keep-alive whose cursor has moved', async () => {
    const { type, id } = await prepare(['no']);
    const query = `?batch_flush_timeout=1&stream_keep_alive_limit=2${filters('/kind=yes')}`;
    const client = await server.open(id, { query });
    const low = await server.openEventType(type, { query });
    await untilMovedTo(client, 0);
    for (let round = 1; round <= 3; round += 1) {
      await append(type, ['no']);
      await untilMovedTo(client, round);
    }
    await Promise.all([client.ended, low.ended]);
    for (const { lastInfo, batches } of [client, low]) {
      expect(lastInfo?.code).to.equal('keep_alive_limit');
      expect(batches.filter(({ cursor }) => cursor.offset === formatOffset(3)).length).to.be.at.least(3);
    }
  }).timeout(30_000);

  it('closes a span of publishing times with events that it passes over', async () => {
    const { type, id } = await prepare(['yes']);
    const query = `?batch_timespan=1&batch_limit=10&batch_flush_timeout=60${filters('/kind=yes')}`;
    const client = await server.open(id, { query });
    await systemClock.sleep(2_100);
    expect(client.numbers).to.deep.equal([]);
    await append(type, ['no']);
    await client.until(() => client.numbers.length === 1);
    expect(lastOffset(client)).to.equal(1);
  });

  it('passes over deletions, and commits their positions itself where nothing else was passed over', async () => {
    const type = await server.defineEventType(1, true);
    const keyed = (key: string, kind: string | undefined) => {
      return { key, value: kind === undefined ? null : event(0, kind) };
    };
    await server.append(type, 0, [keyed('a', undefined), keyed('b', undefined)]);
    const id = await server.subscribe([type]);
    const client = await server.open(id, { query: `?batch_flush_timeout=1${filters('/kind=yes')}` });
    await eventually(async () => (await committed(id)) === 1);
    await server.append(type, 0, [keyed('a', 'no'), keyed('c', undefined)]);
    await untilMovedTo(client, 3);
    expect(await committed(id)).to.equal(1);
    expect((await commit(client, id, lastCursor(client))).status).to.equal(204);
    await server.append(type, 0, [keyed('d', undefined)]);
    await eventually(async () => (await committed(id)) === 4);
    await server.append(type, 0, [keyed('a', 'yes'), keyed('e', undefined), keyed('f', 'no'), keyed('g', undefined)]);
    await client.until(() => client.numbers.length === 1);
    expect(lastOffset(client)).to.equal(8);
  }).timeout(30_000);

  it('lets strict commits reach what it passed over, and nothing behind', async () => {
    const { type, id } = await prepare(['no', 'no', 'no']);
    const client = await server.open(id, {
      query: `?strict_commits=true&batch_flush_timeout=1${filters('/kind=yes')}`,
    });
    await untilMovedTo(client, 2);
    const cursor = lastCursor(client);
    await append(type, ['no']);
    const beyond = { ...cursor, offset: formatOffset(3) };
    const early = await commit(client, id, beyond);
    expect([early.status, early.text.includes('was not sent it')]).to.deep.equal([422, true]);
    expect((await commit(client, id, cursor)).status).to.equal(204);
    await untilMovedTo(client, 3);
    expect((await commit(client, id, beyond)).status).to.equal(204);
  });

  it('has filters of its own: a partition that moves is filtered by those of its new stream', async () => {
    const type = await server.defineEventType(2);
    const kinds = ['a', 'b', 'a', 'b'];
    for (const partition of [0, 1]) await append(type, kinds, partition);
    const id = await server.subscribe([type]);
    const window = '?batch_limit=2&max_uncommitted_events=100&batch_flush_timeout=1&commit_timeout=3';
    const first = await server.open(id, { query: window + filters('/kind=a') });
    await first.until(() => first.numbers.length === 4);
    const second = await server.open(id, { query: window + filters('/kind=b') });
    // One of the partitions waits for its commits, and moves.
    await commit(first, id, ...first.cursors.map((cursor) => ({ ...cursor, offset: formatOffset(0) })));
    const moved = (await commit(first, id, ...first.cursors)).status;
    expect([200, 204]).to.include(moved);
    await append(type, kinds, 0);
    await append(type, kinds, 1);
    await second.until(() => second.numbers.length === 2);
    await first.until(() => first.numbers.length === 6);
    expect(new Set(first.numbers)).to.deep.equal(new Set([0, 2]));
    expect(new Set(second.numbers)).to.deep.equal(new Set([1, 3]));
  }).timeout(30_000);

  it('sends what the stream before it passed over and did not get committed', async () => {
    const { id } = await prepare(['a', 'b', 'a', 'b']);
    const first = await server.open(id, { query: `?batch_flush_timeout=1${filters('/kind=c')}` });
    await untilMovedTo(first, 3);
    await commit(first, id, { ...lastCursor(first), offset: formatOffset(1) });
    first.destroy();
    await eventually(async () => (await server.coordination.topology(id)).sessions.length === 0);
    const second = await server.open(id, { query: `?batch_limit=1${filters('/kind=b')}` });
    await second.until(() => second.numbers.length === 1);
    expect(second.numbers).to.deep.equal([3]);
  });

  it('takes out the event that cannot be processed after as many failures as allowed, and delivers all after it', async () => {
    for (const policy of ['SKIP_EVENT', 'DEAD_LETTER_QUEUE']) {
      const annotations = { [policyAnnotation]: policy, [sendCountAnnotation]: '2' };
      const { type, id } = await prepare(['no', 'yes', 'no', 'yes', 'no', 'yes', 'no'], { annotations });
      const query = `?batch_limit=2&max_uncommitted_events=2&batch_flush_timeout=1&commit_timeout=2${filters('/kind=yes')}`;
      const unprocessable = 3;
      const received: (readonly number[][])[] = [];
      const positions: (number | undefined)[] = [];
      let client: StreamClient | undefined;
      const numbersOf = ({ batches }: StreamClient): number[][] =>
        batches.flatMap(({ events }) => (events === undefined ? [] : [events.map(({ number }) => Number(number))]));
      const isOver = (): boolean => received.some((streams) => streams.flat().includes(5));
      while (!isOver() && received.length < 8) {
        const stream = await server.open(id, { query });
        client = stream;
        await stream.until(() => stream.numbers.length > 0);
        if (!stream.numbers.includes(unprocessable)) {
          expect((await commit(stream, id, lastCursor(stream))).status).to.equal(204);
          if (!stream.numbers.includes(5)) await stream.until(() => stream.numbers.includes(unprocessable));
        }
        received.push(numbersOf(stream));
        positions.push(await committed(id));
        if (!isOver()) await stream.ended;
      }
      // Its batch twice, the event alone twice, behind the one before it, and then all after it.
      expect(received, policy).to.deep.equal([[[1, 3]], [[1, 3]], [[1], [3]], [[3]], [[5]]]);
      expect(positions).to.deep.equal([-1, -1, 1, 1, 6]);
      client?.destroy();
      const skipped = (await server.metrics.skippedEvents.get()).values;
      expect(skipped.find(({ labels }) => labels.subscription_id === id)?.value).to.equal(1);
      const letters = await lettersOf(type);
      expect(letters).to.deep.equal(policy === 'SKIP_EVENT' ? [] : [`${formatOffset(unprocessable)} yes`]);
    }
  }).timeout(60_000);

  /** The dead letters of an event type: the position of each event and its kind. */
  async function lettersOf(type: string): Promise<string[]> {
    const id = await server.subscribe([deadLetterQueue]);
    const client = await server.open(id, { query: '?batch_flush_timeout=1&stream_timeout=2&commit_timeout=1' });
    await client.ended;
    const letters = client.batches.flatMap(({ events = [] }) => events);
    return letters.flatMap(({ event_type, offset, event: copy }) =>
      event_type === type ? [`${String(offset)} ${String((copy as { readonly kind: unknown }).kind)}`] : [],
    );
  }

  it('moves no cursor while the event that cannot be processed is with the consumer, so that its time runs out', async () => {
    const annotations = { [policyAnnotation]: 'SKIP_EVENT', [sendCountAnnotation]: '2' };
    const type = await server.defineEventType(2);
    await append(type, ['yes']);
    const id = await server.subscribe([type], { annotations });
    const query = `?batch_limit=1&batch_flush_timeout=1&commit_timeout=3${filters('/kind=yes')}`;
    for (const hasTraffic of [false, false, true]) {
      const client = await server.open(id, { query });
      await client.until(() => client.numbers.length === 1);
      const began = performance.now();
      const trafficUntil = hasTraffic ? began + 15_000 : began;
      // Another partition has events that are passed over, whose positions the consumer commits as they come.
      while (performance.now() < trafficUntil && client.lastInfo?.code === undefined) {
        await append(type, ['no'], 1);
        await systemClock.sleep(200);
        const moved = client.batches.findLast(({ cursor }) => cursor.partition === '1');
        if (moved !== undefined && parseOffset(moved.cursor.offset) >= 0) await commit(client, id, moved.cursor);
      }
      await client.ended;
      expect(client.lastInfo?.code).to.equal('commit_timeout');
      expect(performance.now() - began).to.be.below(15_000);
    }
    expect((await server.coordination.topology(id)).partitions[0]?.failureRecord).to.include({ failures: 1 });
  }).timeout(60_000);

  it('says the last positions of all partitions when it ends', async () => {
    const type = await server.defineEventType(2);
    for (const partition of [0, 1]) await append(type, ['no', 'no'], partition);
    const id = await server.subscribe([type]);
    const query = `?batch_flush_timeout=1&stream_timeout=1${filters('/kind=yes')}`;
    const client = await server.open(id, { query: query.replace('flush_timeout=1', 'flush_timeout=60') });
    const cursors =
      '&cursors=' + encodeURIComponent('[{"partition":"0","offset":"BEGIN"},{"partition":"1","offset":"BEGIN"}]');
    const low = await server.openEventType(type, { query: query + cursors });
    await Promise.all([client.ended, low.ended]);
    for (const { batches, lastInfo } of [client, low]) {
      expect(lastInfo?.code).to.equal('stream_timeout');
      const offsets = new Map(batches.map(({ cursor }) => [cursor.partition, cursor.offset]));
      expect(Object.fromEntries(offsets)).to.deep.equal({ 0: formatOffset(1), 1: formatOffset(1) });
    }
    expect((await commit(client, id, ...client.batches.slice(-2).map(({ cursor }) => cursor))).status).to.equal(204);
  });

  it('finds the one event in a big backlog, without holding up others or holding memory', async () => {
    const type = await server.defineEventType(1);
    const value = Buffer.from(JSON.stringify({ number: 1, kind: 'no', text: 'x'.repeat(900) }));
    const records = Array.from({ length: 1_000 }, () => ({ key: null, value }));
    for (let batch = 0; batch < 60; batch += 1) await server.append(type, 0, records);
    await server.append(type, 0, [{ key: null, value: event(77, 'yes') }, ...records]);
    const other = await prepare([]);
    const others = await server.open(other.id, { query: '?max_uncommitted_events=100000' });
    let published = 0;
    let longest = 0;
    let before = process.cpuUsage();
    const timer = setInterval(() => {
      longest = Math.max(longest, millisecondsSince(before));
      before = process.cpuUsage();
    }, 5);
    const memory = process.memoryUsage().arrayBuffers;
    let most = 0;
    const clients = await Promise.all(
      ['/kind=yes', '/number=77', '/kind="yes"'].map(async (filter) => {
        const id = await server.subscribe([type]);
        return server.open(id, { query: `?batch_limit=1${filters(filter)}` });
      }),
    );
    while (clients.some(({ numbers }) => numbers.length === 0)) {
      await server.publish(other.type, 0, [published]);
      published += 1;
      const expected = published;
      await others.until(() => others.numbers.length === expected);
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    clearInterval(timer);
    for (const client of clients) {
      expect(client.numbers).to.deep.equal([77]);
      expect(lastOffset(client)).to.be.at.least(60_000);
    }
    // A backlog in one piece would take longer.
    expect(longest, 'milliseconds of work between two turns of a timer').to.be.below(1_000);
    expect(published, 'events that came through meanwhile').to.be.greaterThan(3);
    expect((most - memory) / 1024 / 1024, 'MiB beyond the shared caches of the log').to.be.below(100);
  }).timeout(60_000);

  describe('without a subscription', () => {
    it('begins where its cursors say, delivers what meets them, and says how far it got', async () => {
      const { type } = await prepare(['no', 'yes', 'no', 'yes', 'no']);
      const cursor = (offset: string) => ({ 'X-Nakadi-Cursors': JSON.stringify([{ partition: '0', offset }]) });
      const query = `?batch_limit=5&batch_flush_timeout=1&stream_keep_alive_limit=1${filters('/kind=yes')}`;
      const client = await server.openEventType(type, { query, headers: cursor('BEGIN') });
      await client.ended;
      expect(client.numbers).to.deep.equal([1, 3]);
      expect(lastOffset(client)).to.equal(4);
      const later = await server.openEventType(type, { query, headers: cursor(formatOffset(1)) });
      await later.ended;
      expect(later.numbers).to.deep.equal([3]);
      const limited = await server.openEventType(type, {
        query: `?stream_limit=1${filters('/kind=yes')}`,
        headers: cursor('BEGIN'),
      });
      await limited.ended;
      expect(limited.numbers).to.deep.equal([1]);
    });
  });

  describe('as server-sent events', () => {
    it('shows pages the positions behind what it passed over, and only keep-alives as comments', async () => {
      const { type, id } = await prepare(['no', 'yes', 'no']);
      const path = `/subscriptions/${id}/events?batch_flush_timeout=1${filters('/kind=yes')}`;
      const reader = await EventStreamReader.open(server.port, path);
      const messages = (): { cursor: Cursor; events?: unknown[] }[] =>
        reader.events
          .filter(({ type: name }) => name === 'message')
          .map(({ data }) => JSON.parse(data) as { cursor: Cursor; events?: unknown[] });
      await reader.until(() => messages().length === 1);
      await append(type, ['no']);
      await reader.until(() => messages().length === 2);
      expect(messages().map(({ cursor, events }) => [parseOffset(cursor.offset), events?.length])).to.deep.equal([
        [2, 1],
        [3, undefined],
      ]);
      const { data } = reader.events.find(({ type: name }) => name === 'start') ?? { data: '{}' };
      const { stream_id: streamId } = JSON.parse(data) as { stream_id: string };
      const url = `http://127.0.0.1:${server.port}/subscriptions/${id}/cursors`;
      const body = { items: JSON.parse(reader.lastEventId) as unknown };
      expect((await call(url, 'POST', body, { 'X-Nakadi-StreamId': streamId })).status).to.equal(204);
      expect(await committed(id)).to.equal(3);
      await reader.until(() => reader.comments.length > 0);
      expect(messages().length).to.equal(2);
      reader.close();
    });

    it('resumes behind what it passed over, without a subscription', async () => {
      const { type } = await prepare(['no', 'yes', 'no']);
      const path = `/event-types/${type}/events?batch_flush_timeout=1${filters('/kind=yes')}`;
      const begin = encodeURIComponent('[{"partition":"0","offset":"BEGIN"}]');
      const reader = await EventStreamReader.open(server.port, `${path}&cursors=${begin}`);
      await reader.until(({ events }) => events.some(({ type: name }) => name === 'message'));
      reader.close();
      expect(reader.lastEventId).to.equal(JSON.stringify([{ partition: '0', offset: formatOffset(2) }]));
    });
  });

  describe('that are wrong', () => {
    async function refused(query: string, body?: unknown): Promise<string[]> {
      const { type, id } = await prepare([]);
      const paths = [`/subscriptions/${id}/events`, `/event-types/${type}/events`];
      const answers = await Promise.all(
        paths.slice(0, body === undefined ? 2 : 1).map(async (path) => {
          const client = await server.openPath(path, { query, ...(body === undefined ? {} : { body }) });
          if (client.status === 200) return '200';
          const { status, detail } = await client.problem();
          return `${status} ${detail}`;
        }),
      );
      return [...new Set(answers)];
    }

    it('is 400 with the filter and the character', async () => {
      expect(await refused(`?x=1${filters('/a=b', 'a=b')}`)).to.deep.equal([
        "400 Filter 2, 'a=b', is wrong at character 1: a JSON Pointer begins with /",
      ]);
      expect(await refused(`?x=1${filters('/a~b=c')}`)).to.deep.equal([
        "400 Filter 1, '/a~b=c', is wrong at character 3: ~ must be followed by 0 (for ~), 1 (for /) or 2 (for =)",
      ]);
      expect(await refused('', { filter: '/a="b' })).to.deep.equal([
        '400 Filter 1, \'/a="b\', is wrong at character 4: a value that begins with " is a JSON string',
      ]);
      expect((await refused('', { filter: { '/a': 1 } }))[0])
        .to.include('400')
        .and.to.include('filter 1 was {"/a":1}');
    });

    it('is 422 when there is one too many, or one too long by a character', async () => {
      const many = (count: number): string => filters(...Array<string>(count).fill('/a=b'));
      expect(await refused(`?x=1${many(filtersMaximum)}`)).to.deep.equal(['200']);
      expect(await refused(`?x=1${many(filtersMaximum + 1)}`)).to.deep.equal([
        '422 A stream has at most 10 filters, but 11 were given',
      ]);
      const long = (length: number): string => `/a=${'x'.repeat(length - 3)}`;
      expect(await refused(`?x=1${filters(long(filterLengthMaximum))}`)).to.deep.equal(['200']);
      expect(await refused(`?x=1${filters(long(filterLengthMaximum + 1))}`)).to.deep.equal([
        '422 Filter 1 has 1025 characters, and may have 1024',
      ]);
    });
  });
});
