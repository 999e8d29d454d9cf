import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { setTimeout as sleep } from 'node:timers/promises';
import { missedChangesMillisecondsMaximum } from '../../src/ports/coordination.ts';
import { call, eventsOf, lastCursors, openStream, type OpenStream } from '../support/http/client.ts';
import { eventually, soonEnough } from '../support/eventually.ts';
import type { System } from '../support/system.ts';

interface PartitionStatistics {
  readonly partition: string;
  readonly state: string;
  readonly stream_id: string;
}

/** How long the partitions of a dead process stay assigned to it. Milliseconds. */
const leaseMilliseconds = 10_000;

/** Time for detection on a busy machine. Milliseconds. */
const pollMilliseconds = 10_000;

/** The pause between two attempts to open a stream, which take processor time from the awaited work. Milliseconds. */
const attemptMilliseconds = 100;

/**
 * The tests of consumers that share a subscription.
 * @param system They may stream from different processes of it.
 * @param restart What happens to sessions when their process is killed.
 */
export function describeConsumers(system: () => System, restart: 'forgets sessions' | 'keeps sessions'): void {
  const open: OpenStream[] = [];

  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });

  const define = async (name: string): Promise<void> => {
    const response = await call(`${system().url()}/event-types`, 'POST', {
      name,
      owning_application: 'tests',
      category: 'undefined',
      partition_strategy: 'hash',
      partition_key_fields: ['account'],
      schema: { type: 'json_schema', schema: '{"type":"object","required":["account"]}' },
      default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 4, write_parallelism: 4 },
    });
    expect(response.status, response.text).to.equal(201);
  };

  const publish = async (name: string, from: number, count: number): Promise<void> => {
    const events = Array.from({ length: count }, (_, index) => ({
      account: `A-${from + index}`,
      number: from + index,
    }));
    expect((await call(`${system().url()}/event-types/${name}/events`, 'POST', events)).status).to.equal(200);
  };

  const subscribe = async (name: string): Promise<string> => {
    const { body } = await call(`${system().url()}/subscriptions`, 'POST', {
      owning_application: 'tests',
      event_types: [name],
      read_from: 'begin',
    });
    return String(body['id']);
  };

  const stream = async (subscription: string, query: string): Promise<OpenStream> => {
    const opened = await openStream(system().url(), subscription, query);
    open.push(opened);
    return opened;
  };

  const partitions = async (subscription: string): Promise<PartitionStatistics[]> => {
    const { body } = await call(`${system().url()}/subscriptions/${subscription}/stats`, 'GET');
    return (body['items'] as { partitions: PartitionStatistics[] }[]).flatMap((item) => item.partitions);
  };

  const owned = async (subscription: string, streamId: string): Promise<number> =>
    (await partitions(subscription)).filter(({ state, stream_id }) => state === 'assigned' && stream_id === streamId)
      .length;

  it('creates one subscription from fifty identical requests at once', async () => {
    await define('shared.fifty');
    const responses = await Promise.all(
      Array.from({ length: 50 }, () =>
        call(`${system().url()}/subscriptions`, 'POST', { owning_application: 'tests', event_types: ['shared.fifty'] }),
      ),
    );
    expect(responses.filter(({ status }) => status === 201)).to.have.length(1);
    expect(responses.filter(({ status }) => status === 200)).to.have.length(49);
    expect(new Set(responses.map(({ body }) => body['id'])).size).to.equal(1);
    const location = responses[0]?.headers.get('location');
    expect(location).to.equal(`/subscriptions/${String(responses[0]?.body['id'])}`);
    expect(new Set(responses.map(({ headers }) => headers.get('location'))).size).to.equal(1);
  });

  it('gives each of two consumers two of four partitions, and moves them within a second when one leaves', async () => {
    await define('shared.four');
    const subscription = await subscribe('shared.four');
    const first = await stream(subscription, '?batch_flush_timeout=1');
    const ownsAll = async (): Promise<boolean> => (await owned(subscription, first.streamId)) === 4;
    await eventually(ownsAll);
    await soonEnough(1_000, async () => {
      const second = await stream(subscription, '?batch_flush_timeout=1');
      await eventually(
        async () =>
          (await owned(subscription, first.streamId)) === 2 && (await owned(subscription, second.streamId)) === 2,
      );
      const began = performance.now();
      second.close();
      await eventually(ownsAll);
      return performance.now() - began;
    });
    first.close();
  });

  describe('a commit after the client closed its own stream', () => {
    /** A subscription with events in one of its partitions, and a stream that received a batch of three of them. */
    const receivedThree = async (name: string, query = ''): Promise<[string, OpenStream, () => Promise<string[]>]> => {
      await define(name);
      await call(
        `${system().url()}/event-types/${name}/events`,
        'POST',
        Array.from({ length: 5 }, (_, number) => ({ account: 'A', number })),
      );
      const subscription = await subscribe(name);
      const consumer = await stream(subscription, `?batch_limit=3&${query}`);
      await consumer.until((batches) => eventsOf(batches).length >= 3);
      const committed = async (): Promise<string[]> => {
        const { body } = await call(`${system().url()}/subscriptions/${subscription}/cursors`, 'GET');
        return (body['items'] as { offset: string }[]).map(({ offset }) => offset);
      };
      return [subscription, consumer, committed];
    };

    const firstCursors = ({ batches }: OpenStream) => lastCursors(batches.filter(({ events }) => events).slice(0, 1));

    const isFree = async (subscription: string): Promise<boolean> =>
      (await partitions(subscription)).every(({ state }) => state !== 'assigned');

    for (const milliseconds of [0, 50, 500]) {
      it(`is accepted after ${milliseconds} ms`, async () => {
        const [, consumer, committed] = await receivedThree(`late.after-${milliseconds}`);
        const cursors = firstCursors(consumer);
        consumer.close();
        await new Promise((resolve) => setTimeout(resolve, milliseconds));
        const response = await consumer.commit(cursors);
        expect([response.status, response.text]).to.deep.equal([204, '']);
        expect(await committed()).to.include('001-0001-000000000000000002');
        const again = await consumer.commit(cursors);
        expect([again.status, (again.body['items'] as { result: string }[])[0]?.result]).to.deep.equal([
          200,
          'outdated',
        ]);
      });
    }

    it('is accepted although its partitions are free at once, and the next stream begins after it', async () => {
      const [subscription, consumer] = await receivedThree('late.next');
      const cursors = firstCursors(consumer);
      consumer.close();
      await eventually(() => isFree(subscription));
      expect((await consumer.commit(cursors)).status).to.equal(204);
      const next = await stream(subscription, '?batch_limit=1');
      await next.until((batches) => eventsOf(batches).length >= 2);
      expect(eventsOf(next.batches).map(({ number }) => number)).to.deep.equal([3, 4]);
      next.close();
    });

    it('returns 422 with the reason once another stream holds the partition', async () => {
      const [subscription, consumer, committed] = await receivedThree('late.taken');
      const before = await committed();
      const cursors = firstCursors(consumer);
      consumer.close();
      const next = await stream(subscription, '?batch_limit=1');
      await next.until((batches) => eventsOf(batches).length >= 1);
      const response = await consumer.commit(cursors);
      expect(response.status).to.equal(422);
      expect(response.body['detail']).to.include(`Session with stream id ${consumer.streamId} not found`);
      expect(await committed()).to.deep.equal(before);
      next.close();
    });

    it('returns 422 when the commit timeout has passed, even without another stream', async () => {
      const [subscription, consumer, committed] = await receivedThree('late.too-late', 'commit_timeout=1');
      const before = await committed();
      const cursors = firstCursors(consumer);
      consumer.close();
      await eventually(() => isFree(subscription));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect((await consumer.commit(cursors)).status).to.equal(422);
      expect(await committed()).to.deep.equal(before);
    });

    it('is accepted when the stream had already reached its own timeout', async () => {
      const [, consumer, committed] = await receivedThree('late.stream-timeout', 'stream_timeout=1');
      await consumer.until((batches) => batches.at(-1)?.info?.code === 'stream_timeout');
      const cursors = lastCursors(consumer.batches);
      consumer.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect((await consumer.commit(cursors)).status).to.equal(204);
      expect(await committed()).to.include('001-0001-000000000000000004');
    });
  });

  it('frees the partitions of a killed process when its lease ends, and accepts commits of its streams until then', async function () {
    this.timeout(90_000);
    await define('shared.killed');
    const subscription = await subscribe('shared.killed');
    const consumers = await Promise.all([1, 2, 3, 4].map(() => stream(subscription, '?batch_flush_timeout=1')));
    await publish('shared.killed', 0, 40);
    await Promise.all(consumers.map((consumer) => consumer.until((batches) => eventsOf(batches).length > 0)));
    let killedAt = performance.now();
    for (const turn of restart === 'keeps sessions' ? [0, 1] : [0]) {
      killedAt = performance.now();
      await system().killAndRestart(turn);
    }
    const [first] = consumers;
    const freeBy = Math.max(killedAt + leaseMilliseconds, performance.now()) + pollMilliseconds;
    const late = await call(
      `${system().url()}/subscriptions/${subscription}/cursors`,
      'POST',
      { items: lastCursors(first?.batches ?? []) },
      { 'X-Nakadi-StreamId': first?.streamId ?? '' },
    );
    expect(late.status).to.equal(restart === 'keeps sessions' ? 204 : 422);
    let next: OpenStream | undefined;
    for (;;) {
      next = await stream(subscription, '?batch_flush_timeout=1&max_uncommitted_events=100').catch((error: Error) => {
        expect(error.message).to.include('refused: 409');
        return undefined;
      });
      if (next !== undefined) break;
      await sleep(attemptMilliseconds);
    }
    expect(performance.now()).to.be.below(freeBy);
    // It may have joined when one of the two processes was already dead; the partitions of the other follow.
    const allBy = freeBy + missedChangesMillisecondsMaximum;
    const { streamId } = next;
    await eventually(async () => (await owned(subscription, streamId)) === 4, allBy - performance.now());
    next.close();
  });

  it('adds a third consumer and refuses a fifth', async () => {
    await define('shared.slots');
    const subscription = await subscribe('shared.slots');
    const streams: OpenStream[] = [];
    for (let count = 1; count <= 4; count += 1) {
      streams.push(await stream(subscription, '?batch_flush_timeout=1'));
      await eventually(async () => {
        const counts = await Promise.all(streams.map(({ streamId }) => owned(subscription, streamId)));
        return counts.reduce((a, b) => a + b, 0) === 4 && Math.max(...counts) - Math.min(...counts) <= 1;
      });
    }
    const fifth = await call(`${system().url()}/subscriptions/${subscription}/events`, 'GET');
    expect(fifth.status).to.equal(409);
    expect(fifth.body['detail']).to.equal(
      `No free slots for streaming available for subscription ${subscription}. Total slots: 4`,
    );
    for (const each of streams) each.close();
  });

  it('delivers uncommitted events again and committed events never', async () => {
    await define('shared.again');
    const subscription = await subscribe('shared.again');
    await publish('shared.again', 0, 100);
    const query = '?batch_limit=10&max_uncommitted_events=1000&batch_flush_timeout=1';
    const first = await stream(subscription, query);
    await first.until((batches) => eventsOf(batches).length === 100);
    const half = first.batches.filter(({ events }) => events !== undefined).slice(0, 5);
    const committed = new Set(eventsOf(half).map((event) => event['number']));
    // A commit covers all earlier events of its partition.
    for (const { cursor } of lastCursors(half).map((cursor) => ({ cursor }))) {
      for (const batch of first.batches) {
        if (batch.cursor.partition !== cursor.partition || batch.cursor.offset > cursor.offset) continue;
        for (const event of batch.events ?? []) committed.add(event['number']);
      }
    }
    expect((await first.commit(lastCursors(half))).status).to.equal(204);
    first.close();
    const second = await stream(subscription, query);
    await second.until((batches) => eventsOf(batches).length === 100 - committed.size);
    expect(eventsOf(second.batches).some((event) => committed.has(event['number']))).to.equal(false);
    await publish('shared.again', 100, 20);
    await second.until((batches) => eventsOf(batches).length === 120 - committed.size);
    second.close();
  });
}
