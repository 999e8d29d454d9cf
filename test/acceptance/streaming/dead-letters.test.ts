import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { Batch, Cursor } from '../../support/http/client.ts';
import type { StreamClient } from '../../support/http/stream-server.ts';
import { cursor, eventOf, numbersOf, offset, startStreamingApi, type StreamingApi } from './streaming-api.ts';

/** The annotations of a policy for events that the consumer cannot process. */
const policy = (action: 'SKIP_EVENT' | 'DEAD_LETTER_QUEUE', sends: number) => ({
  'nakadi.zalando.org/subscription-max-event-send-count': String(sends),
  'nakadi.zalando.org/subscription-unprocessable-event-policy': action,
});

const sizesOf = (batches: readonly Batch[]): number[] => batches.map(({ events }) => events?.length ?? 0);

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

describe('events that a consumer cannot process', () => {
  let api: StreamingApi;
  let type: string;

  before(async () => {
    api = await startStreamingApi();
  });

  after(() => api.stop());

  beforeEach(async () => {
    type = await api.createEventType();
  });

  const subscribe = (sends = 3): Promise<string> => api.subscribe([type], { annotations: policy('SKIP_EVENT', sends) });

  /** A stream of which nothing is committed. */
  async function fail(id: string, query: string): Promise<StreamClient> {
    const stream = await api.open(id, query);
    await stream.ended;
    expect(stream.lastInfo?.debug).to.equal('Commit timeout reached');
    return stream;
  }

  async function failThreeTimes(id: string, query: string): Promise<void> {
    for (let failures = 0; failures < 3; failures += 1) await fail(id, query);
  }

  /** A stream of which each batch is committed. */
  async function readAndCommit(id: string, query: string): Promise<StreamClient> {
    const stream = await api.open(id, query);
    const committed = new Set<Batch>();
    for (;;) {
      const next = stream.batches.find((batch) => batch.events !== undefined && !committed.has(batch));
      if (next === undefined) {
        const isOver = await Promise.race([
          stream.ended.then(() => true),
          stream
            .until(() => stream.batches.some((batch) => batch.events !== undefined && !committed.has(batch)))
            .then(
              () => false,
              () => true,
            ),
        ]);
        if (isOver) return stream;
        continue;
      }
      committed.add(next);
      expect((await api.commit(id, stream, next.cursor)).status).to.equal(204);
    }
  }

  it('come one by one after their batch failed three times, and one that fails three times alone is passed over', async () => {
    await api.publish(type, numbers(50));
    const id = await subscribe();
    const query = '?batch_limit=3&commit_timeout=1';
    for (let failures = 0; failures < 3; failures += 1) {
      expect(sizesOf((await fail(id, query)).batches)[0]).to.equal(3);
    }
    for (let failures = 0; failures < 3; failures += 1) {
      const alone = await fail(id, query);
      expect(sizesOf(alone.batches)).to.deep.equal([1, 0]);
      expect(alone.batches[0]?.cursor.offset).to.equal(offset(0));
    }
    const next = await fail(id, query);
    expect(next.batches[0]?.cursor.offset).to.equal(offset(1));
    expect(await api.committed(id)).to.deep.equal({ [`${type}:0`]: offset(0) });
  });

  it('come in whole batches again when the cursors are reset', async () => {
    const id = await subscribe();
    const query = '?batch_limit=3&commit_timeout=1';
    await api.publish(type, numbers(50));
    await failThreeTimes(id, query);
    expect(sizesOf((await fail(id, query)).batches)).to.deep.equal([1, 0]);
    const items = [cursor(type, -1)];
    expect((await api.call('PATCH', `/subscriptions/${id}/cursors`, { items })).status).to.equal(204);
    expect(sizesOf((await fail(id, query)).batches)[0]).to.equal(3);
  });

  it('are searched for with one event after the other, each when the one before is committed or passed over', async () => {
    const id = await subscribe();
    const query = '?batch_limit=10&commit_timeout=1';
    await api.publish(type, numbers(50));
    for (let failures = 0; failures < 3; failures += 1) {
      const [first] = (await fail(id, query)).batches;
      expect([first?.events?.length, first?.cursor.offset]).to.deep.equal([10, offset(9)]);
    }
    const searching = await api.open(id, query);
    await searching.until(() => searching.batches.length === 1);
    expect([sizesOf(searching.batches), searching.batches[0]?.cursor.offset]).to.deep.equal([[1], offset(0)]);
    await api.commit(id, searching, searching.batches[0]?.cursor as Cursor);
    await searching.until(() => searching.batches.length === 2);
    expect([searching.batches[1]?.events?.length, searching.batches[1]?.cursor.offset]).to.deep.equal([1, offset(1)]);
    await searching.ended;
    for (let failures = 0; failures < 2; failures += 1) {
      const [alone] = (await fail(id, query)).batches;
      expect([alone?.events?.length, alone?.cursor.offset]).to.deep.equal([1, offset(1)]);
    }
    const rest = await readAndCommit(id, `${query}&stream_limit=20`);
    expect(sizesOf(rest.batches)).to.deep.equal([1, 1, 1, 1, 1, 1, 1, 1, 10, 2, 0]);
    expect(numbersOf(rest.batches)[0], 'the event after the one that was passed over').to.deep.equal([2]);
    expect(rest.lastInfo?.debug).to.include('Stream limit in events reached');
    const [normal] = (await fail(id, query)).batches;
    expect(normal?.events).to.have.length(10);
  });

  it('are searched for up to the end of the batch, and then whole batches come again', async () => {
    const id = await subscribe();
    await api.publish(type, numbers(50));
    await failThreeTimes(id, '?batch_limit=10&commit_timeout=1');
    const stream = await readAndCommit(id, '?batch_limit=10&commit_timeout=1&stream_limit=20');
    expect(sizesOf(stream.batches)).to.deep.equal([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10, 0]);
  });

  it('are found in the queue of dead letters when they were passed over', async () => {
    const poison = 10;
    type = await api.createEventType(4);
    for (let number = 0; number < 50; number += 1) await api.publish(type, [number], number % 4);
    const id = await api.subscribe([type], { annotations: policy('DEAD_LETTER_QUEUE', 3) });
    const queue = await api.subscribe(['nakadi.dead.letter.queue'], { read_from: 'end' });
    const letters = await api.open(queue, '?batch_limit=1&batch_flush_timeout=1');
    await letters.until(() => letters.batches.length === 4);

    const delivered = new Set<number>();
    for (let isPast = false; !isPast;) {
      const stream = await api.open(id, '?batch_limit=3&commit_timeout=2&stream_timeout=3&batch_flush_timeout=1');
      let handled = 0;
      let hasFailed = false;
      while (!hasFailed && !isPast) {
        const isOver = await Promise.race([
          stream.ended.then(() => true),
          stream
            .until(() => stream.batches.length > handled)
            .then(
              () => false,
              () => true,
            ),
        ]);
        if (isOver && stream.batches.length === handled) break;
        const batch = stream.batches[handled];
        handled += 1;
        if (batch?.events === undefined) continue;
        if (batch.events.some(({ number }) => number === poison)) {
          hasFailed = true;
          continue;
        }
        for (const { number } of batch.events) delivered.add(Number(number));
        await api.commit(id, stream, batch.cursor);
        isPast = delivered.size === 49;
      }
      stream.destroy();
    }
    await letters.until(() => letters.batches.some(({ events }) => events?.[0]?.['subscription_id'] === id), 15_000);
    const [letter] = letters.batches
      .flatMap(({ events = [] }) => events)
      .filter((each) => each['subscription_id'] === id);
    expect(letter).to.deep.include({ event_type: type, partition: '2', offset: offset(2) });
    expect(letter?.['event']).to.deep.include({ number: poison });
    expect([...delivered].toSorted((left, right) => left - right)).to.deep.equal(
      numbers(50).filter((each) => each !== poison),
    );
  });

  it('come alone while they are searched for, with nothing but keep-alives until they are committed', async () => {
    const id = await subscribe(2);
    await api.call(
      'POST',
      `/event-types/${type}/events`,
      numbers(50).map((number) => eventOf(number)),
    );
    const query = '?batch_limit=3&commit_timeout=5&batch_flush_timeout=2';
    for (let failures = 0; failures < 2; failures += 1) await fail(id, query);
    for (let failures = 0; failures < 2; failures += 1) {
      const alone = await fail(id, query);
      expect(sizesOf(alone.batches)).to.deep.equal([1, 0, 0, 0]);
      expect(alone.batches[0]?.cursor.offset).to.equal(offset(0));
    }
    const next = await api.open(id, query);
    await next.until(() => next.batches.length > 0);
    expect(next.batches[0]?.cursor.offset).to.equal(offset(1));
  });
});
