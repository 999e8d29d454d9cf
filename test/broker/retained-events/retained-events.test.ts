import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { readToken, writeToken, type Place } from '../../../src/broker/retained-events/page-token.ts';
import {
  findEvents,
  pageBytesMaximum,
  type EventPage,
  type EventQuery,
} from '../../../src/broker/retained-events/retained-events.ts';
import { searchBounds, type SearchBounds } from '../../../src/broker/retained-events/search-budget.ts';
import { readFilter } from '../../../src/broker/streaming/filters/filter-parameter.ts';
import { systemClock } from '../../../src/clock.ts';
import type { EventLog, LogRecord } from '../../../src/ports/event-log.ts';
import { openLogUnderTest } from '../../support/backend-under-test.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

interface Item {
  readonly partition: string;
  readonly offset: string;
  readonly timestamp: string;
  readonly key?: string;
  readonly event: { readonly number: number };
}

describe('events that the log holds', () => {
  let folder: string;
  let log: EventLog;
  const never = new AbortController().signal;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lendstream-retained-'));
    log = await openLogUnderTest(folder);
  });

  after(async () => {
    await log.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function createTopic(partitionCount: number, cleanupPolicy: 'delete' | 'compact' = 'delete'): Promise<string> {
    const name = `events-${randomUUID()}`;
    await log.createTopic({ name, partitionCount, cleanupPolicy, retentionMilliseconds: 3_600_000 });
    return name;
  }

  async function append(topic: string, partition: number, ...records: readonly LogRecord[]): Promise<void> {
    const [result] = await log.append([{ topic, partition, records }]);
    expect(result?.outcome).to.equal('appended');
  }

  const event = (number: number, more: Record<string, unknown> = {}, key: string | null = null): LogRecord => {
    return { key, value: Buffer.from(JSON.stringify({ number, ...more })) };
  };

  const find = (query: Partial<EventQuery> & { topic: string }, bounds?: SearchBounds): Promise<EventPage> =>
    findEvents(
      { log, clock: systemClock },
      { partitions: [0], place: { direction: 'forward', from: undefined }, searchedFor: {}, limit: 100, ...query },
      never,
      bounds,
    );

  const itemsOf = ({ items }: EventPage): Item[] => items.map((item) => JSON.parse(item.toString()) as Item);
  const numbersOf = (page: EventPage): number[] => itemsOf(page).map(({ event }) => event.number);

  /** Follows the pages to the end, through the text of their tokens. */
  async function pagesOf(query: Partial<EventQuery> & { topic: string }, bounds?: SearchBounds): Promise<EventPage[]> {
    const pages: EventPage[] = [];
    let place = query.place;
    for (;;) {
      const page = await find({ ...query, ...(place === undefined ? {} : { place }) }, bounds);
      pages.push(page);
      if (page.endedBy === 'end' || page.next === undefined) return pages;
      place = readToken(writeToken(page.next));
    }
  }

  it('are returned with their places and keys, byte for byte', async () => {
    const topic = await createTopic(1);
    const text = '{"number":7,"amount":1.10,"far":12345678901234567890.5}';
    await append(topic, 0, { key: 'A-7', value: Buffer.from(text) }, event(8));
    const page = await find({ topic });
    const [first, second] = itemsOf(page);
    expect(page.items[0]?.toString()).to.contain(`"key":"A-7","event":${text}}`);
    expect(first?.offset).to.equal('001-0001-000000000000000000');
    expect(Date.parse(first?.timestamp ?? '')).to.be.closeTo(Date.now(), 60_000);
    expect(second).not.to.have.property('key');
    expect(page).to.include({ endedBy: 'end', read: 2, of: 2, unreadable: 0 });
  });

  it('are read in pages in both directions, and back again, with each event once', async () => {
    const topic = await createTopic(1);
    for (let first = 0; first < 300; first += 100) {
      await append(topic, 0, ...Array.from({ length: 100 }, (_, index) => event(first + index)));
    }
    const expected = Array.from({ length: 300 }, (_, number) => number);
    const forward = await pagesOf({ topic, limit: 70 });
    expect(forward.flatMap(numbersOf)).to.deep.equal(expected);
    expect(forward.map(({ endedBy }) => endedBy)).to.deep.equal(['limit', 'limit', 'limit', 'limit', 'end']);
    const backward = await pagesOf({ topic, limit: 70, place: { direction: 'backward', from: undefined } });
    expect(backward.flatMap(numbersOf)).to.deep.equal(expected.toReversed());
    expect(backward.at(-1)?.next).to.equal(undefined);
    const [, middle] = forward;
    const back = await find({ topic, limit: 70, place: middle?.previous as Place });
    expect(numbersOf(back)).to.deep.equal(expected.slice(0, 70).toReversed());
  });

  it('begin at an offset, at a time, at the beginning and at the end', async () => {
    const topic = await createTopic(1);
    await append(topic, 0, event(0), event(1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await append(topic, 0, event(2), event(3));
    const [, , third] = itemsOf(await find({ topic }));
    const at = async (direction: 'forward' | 'backward', from: string): Promise<number[]> =>
      numbersOf(await find({ topic, place: { direction, from } }));
    expect(await at('forward', '1')).to.deep.equal([1, 2, 3]);
    expect(await at('backward', '001-0001-000000000000000001')).to.deep.equal([1, 0]);
    expect(await at('forward', third?.timestamp ?? '')).to.deep.equal([2, 3]);
    expect(await at('backward', third?.timestamp ?? '')).to.deep.equal([1, 0]);
    expect(await at('backward', 'BEGIN')).to.deep.equal([]);
    expect(await at('forward', 'END')).to.deep.equal([]);
    expect(await at('forward', '99')).to.deep.equal([]);
    expect(await at('backward', '99')).to.deep.equal([3, 2, 1, 0]);
  });

  it('of several partitions come in the order of their times, in both directions', async () => {
    const topic = await createTopic(3);
    for (let number = 0; number < 60; number += 1) {
      await append(topic, number % 3, event(number));
      if (number % 3 === 2) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const partitions = [0, 1, 2];
    for (const direction of ['forward', 'backward'] as const) {
      const pages = await pagesOf({ topic, partitions, limit: 7, place: { direction, from: undefined } });
      const items = pages.flatMap(itemsOf);
      const times = items.map(({ timestamp }) => timestamp);
      expect(times).to.deep.equal(direction === 'forward' ? times.toSorted() : times.toSorted().toReversed());
      expect(new Set(items.map(({ event }) => event.number)).size).to.equal(60);
      expect(items).to.have.length(60);
    }
    const all = { topic, partitions, place: { direction: 'forward', from: '5' } as const };
    const refused = await find(all).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'UNPROCESSABLE' });
  });

  it('are found by a field, a text and a key, and only where all of them are met', async () => {
    const topic = await createTopic(1);
    await append(
      topic,
      0,
      event(0, { name: 'Ada', amount: 12.5 }, 'a'),
      event(1, { name: 'Ada', amount: 7 }, 'b'),
      event(2, { name: 'Bo \\ "Ada"' }, 'a'),
      event(3, { other: { name: 'Ada' } }, 'ab'),
    );
    const numbers = async (searchedFor: EventQuery['searchedFor']): Promise<number[]> => {
      const forward = numbersOf(await find({ topic, searchedFor }));
      const backward = await find({ topic, searchedFor, place: { direction: 'backward', from: undefined } });
      expect(numbersOf(backward).toReversed()).to.deep.equal(forward);
      return forward;
    };
    expect(await numbers({ filter: readFilter('/name=Ada') })).to.deep.equal([0, 1]);
    expect(await numbers({ filter: readFilter('/amount=12.50') })).to.deep.equal([0]);
    expect(await numbers({ texts: [Buffer.from('Ada')] })).to.deep.equal([0, 1, 2, 3]);
    expect(await numbers({ texts: [Buffer.from('ada')] })).to.deep.equal([]);
    expect(await numbers({ key: 'a' })).to.deep.equal([0, 2]);
    expect(await numbers({ key: 'a', texts: [Buffer.from('"Ada"')] })).to.deep.equal([0]);
    expect(await numbers({ key: 'a', filter: readFilter('/name=Ada'), texts: [Buffer.from('12')] })).to.deep.equal([0]);
  });

  it('do not contain a text that only two neighbours have together', async () => {
    const topic = await createTopic(1);
    await append(topic, 0, event(1), event(2));
    expect(numbersOf(await find({ topic, searchedFor: { texts: [Buffer.from('},{')] } }))).to.deep.equal([]);
    expect(numbersOf(await find({ topic, searchedFor: { texts: [Buffer.from('2}')] } }))).to.deep.equal([2]);
  });

  it('are searched up to the bounds of a page, which says how far it came, and the next one goes on', async () => {
    const topic = await createTopic(2);
    for (let number = 0; number < 40; number += 1) await append(topic, number % 2, event(number));
    const query = { topic, partitions: [0, 1], searchedFor: { filter: readFilter('/number=39') } };
    const tight = { ...searchBounds, events: 0 };
    const first = await find(query, tight);
    expect(first).to.include({ endedBy: 'search_limit', read: 0, of: 40 });
    expect(first.items).to.have.length(0);
    const whole = await find({ ...query, place: first.next as Place });
    expect(whole).to.include({ endedBy: 'end', read: 40, of: 40 });
    expect(numbersOf(whole)).to.deep.equal([39]);
    // A page of a single read at a time comes to the end as well.
    const pages = await pagesOf(
      { ...query, place: { direction: 'backward', from: undefined } },
      { ...searchBounds, events: 1 },
    );
    expect(pages.flatMap(numbersOf)).to.deep.equal([39]);
    expect(pages.reduce((sum, { read }) => sum + read, 0)).to.equal(40);
    expect((await find(query, { ...searchBounds, bytes: 0 })).endedBy).to.equal('search_limit');
  });

  it('are searched for a limited time', async () => {
    const topic = await createTopic(1);
    await append(topic, 0, event(0));
    const clock = new SimulatedClock();
    const query = {
      topic,
      partitions: [0],
      searchedFor: {},
      limit: 1,
      place: { direction: 'forward', from: '' },
    } as const;
    const bounds = { ...searchBounds, milliseconds: 0 };
    expect((await findEvents({ log, clock }, query, never, bounds)).endedBy).to.equal('search_limit');
    expect((await findEvents({ log, clock }, query, never)).endedBy).to.equal('limit');
  });

  it('are searched no further when the client has gone', async () => {
    const topic = await createTopic(1);
    await append(topic, 0, event(0));
    const query = {
      topic,
      partitions: [0],
      searchedFor: {},
      limit: 1,
      place: { direction: 'forward', from: '' },
    } as const;
    const page = await findEvents({ log, clock: systemClock }, query, AbortSignal.abort());
    expect(page.items).to.have.length(0);
  });

  it('fill a page up to its bytes, and one event more', async function () {
    this.timeout(60_000);
    const topic = await createTopic(1);
    const value = Buffer.from(JSON.stringify({ number: 0, text: 'x'.repeat(900_000) }));
    for (let number = 0; number < 12; number += 1) await append(topic, 0, { key: null, value });
    for (const direction of ['forward', 'backward'] as const) {
      const [first, second] = await pagesOf({ topic, place: { direction, from: undefined } });
      const bytes = (first?.items ?? []).reduce((sum, { length }) => sum + length, 0);
      expect(first?.endedBy).to.equal('limit');
      expect(bytes).to.be.within(pageBytesMaximum, pageBytesMaximum + value.length + 200);
      expect((first?.items.length ?? 0) + (second?.items.length ?? 0)).to.equal(12);
    }
  });

  it('leave out what was deleted from a compacted topic', async () => {
    const topic = await createTopic(1, 'compact');
    await append(topic, 0, event(1, {}, 'a'), event(2, {}, 'b'), { key: 'c', value: null });
    const page = await find({ topic });
    expect(numbersOf(page)).to.deep.equal([1, 2]);
    expect(page.read).to.equal(3);
  });

  it('that are published later are found by the next page of a forward search', async () => {
    const topic = await createTopic(1);
    const first = await find({ topic });
    expect(first).to.include({ endedBy: 'end', of: 0 });
    await append(topic, 0, event(1));
    expect(numbersOf(await find({ topic, place: first.next as Place }))).to.deep.equal([1]);
  });
});
