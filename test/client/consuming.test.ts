import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  type Consumer,
  type ConsumeOptions,
  ExactNumber,
  filterFor,
  Lendstream,
  LendstreamError,
  newEvent,
  type Notice,
} from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { defineNumbered, type Numbered } from './numbered-events.ts';
import { type ServiceBehindProxy, startServiceBehindProxy } from './service-behind-proxy.ts';

describe('the client as a consumer', function () {
  this.timeout(120_000);
  let system: ServiceBehindProxy;
  let lendstream: Lendstream;
  let groups = 0;

  before(async () => {
    system = await startServiceBehindProxy();
    lendstream = system.lendstream;
  });

  after(() => system?.close());

  async function publish(eventType: string, from: number, count: number, fields: object = {}): Promise<void> {
    const numbers = Array.from({ length: count }, (_, index) => from + index);
    const events = numbers.map((number) => newEvent({ number, key: String(number), ...fields }));
    await lendstream.publish(eventType, events);
  }

  async function subscribe(eventType: string): Promise<string> {
    groups += 1;
    const { id } = await lendstream.subscribe({
      owning_application: 'tests',
      consumer_group: `group ${groups}`,
      event_types: [eventType],
      read_from: 'begin',
    });
    return id;
  }

  async function subscribed(count: number, partitions = 1): Promise<[eventType: string, subscription: string]> {
    const eventType = await defineNumbered(lendstream, partitions);
    if (count > 0) await publish(eventType, 0, count);
    return [eventType, await subscribe(eventType)];
  }

  async function unconsumed(subscription: string): Promise<number> {
    const statistics = await lendstream.lag(subscription);
    return statistics
      .flatMap(({ partitions }) => partitions)
      .reduce((sum, each) => sum + (each.unconsumed_events ?? 0), 0);
  }

  /** Consumes in the background, and stops when there are enough numbers. */
  function collect(
    subscription: string,
    enough: number,
    options: ConsumeOptions = {},
    from = lendstream,
  ): { readonly numbers: number[]; readonly consumer: Consumer<Numbered>; readonly done: Promise<void> } {
    const consumer = from.consume<Numbered>(subscription, { backOff: { maximumMilliseconds: 200 }, ...options });
    const numbers: number[] = [];
    const run = async (): Promise<void> => {
      for await (const { events } of consumer) {
        numbers.push(...events.map(({ number }) => number));
        if (new Set(numbers).size >= enough) consumer.stop();
      }
    };
    return { numbers, consumer, done: run() };
  }

  const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);
  const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

  async function failure(attempt: Promise<unknown>): Promise<LendstreamError> {
    return attempt.then(
      () => expect.fail('It did not fail'),
      (error: LendstreamError) => error,
    );
  }

  it('delivers everything once, and commits what the loop has finished', async () => {
    const [, subscription] = await subscribed(250, 2);
    const { numbers, done } = collect(subscription, 250);
    await done;
    expect(sorted(numbers)).to.deep.equal(upTo(250));
    expect(await unconsumed(subscription)).to.equal(0);
  });

  it('stops after the batch in hand, which it commits', async () => {
    const [, subscription] = await subscribed(100);
    const consumer = lendstream.consume<Numbered>(subscription, { stream: { batch_limit: 10 } });
    let batches = 0;
    for await (const { events } of consumer) {
      expect(events).to.have.length(10);
      batches += 1;
      if (batches === 3) consumer.stop();
    }
    expect(batches).to.equal(3);
    expect(await unconsumed(subscription)).to.equal(70);
  });

  it('stops at once while it waits for events, for a free partition and for the service', async () => {
    const [, subscription] = await subscribed(0);
    const first = new AbortController();
    const waitingForEvents = collect(subscription, 1, { signal: first.signal });
    await eventually(() => waitingForEvents.consumer.streamId !== '');
    const second = collect(subscription, 1);
    const nowhere = collect(subscription, 1, {}, new Lendstream({ url: 'http://127.0.0.1:1' }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const startedAt = performance.now();
    second.consumer.stop();
    nowhere.consumer.stop();
    first.abort();
    await Promise.all([waitingForEvents.done, second.done, nowhere.done]);
    expect(performance.now() - startedAt).to.be.below(10_000);
  });

  it('commits nothing of a batch that the loop leaves, unless it was asked to', async () => {
    const [, subscription] = await subscribed(30);
    const options = { stream: { batch_limit: 10 } };
    for await (const batch of lendstream.consume(subscription, options)) {
      expect(batch.events).to.have.length(10);
      break;
    }
    expect(await unconsumed(subscription)).to.equal(30);
    for await (const batch of lendstream.consume(subscription, options)) {
      await batch.commit();
      break;
    }
    expect(await unconsumed(subscription)).to.equal(20);
    const leaving = async (): Promise<void> => {
      for await (const batch of lendstream.consume(subscription, options)) throw new Error(batch.cursor.partition);
    };
    const thrown = await failure(leaving());
    expect(thrown.message).to.equal('0');
    expect(await unconsumed(subscription)).to.equal(20);
  });

  it('commits each event with batches of one, and several batches together with a commit interval', async () => {
    const [, subscription] = await subscribed(20);
    const commits: number[] = [];
    const counting = (list: number[]): Lendstream =>
      new Lendstream({
        url: system.url,
        fetch: (url, init) => {
          if (url.endsWith('/cursors') && init.method === 'POST') list.push(1);
          return fetch(url, init);
        },
      });
    await collect(subscription, 20, { stream: { batch_limit: 1 } }, counting(commits)).done;
    expect(commits).to.have.length(20);
    const together: number[] = [];
    const second = await subscribe((await lendstream.subscription(subscription)).event_types[0] ?? '');
    await collect(second, 20, { stream: { batch_limit: 1 }, commitMilliseconds: 5_000 }, counting(together)).done;
    expect(together.length).to.be.within(1, 10);
    expect(await unconsumed(second)).to.equal(0);
  });

  it('delivers single events, with all digits of their numbers', async () => {
    const eventType = await defineNumbered(lendstream);
    const exact = ['12.50', '9007199254740993', '0.10000000000000000001'];
    await lendstream.publish(
      eventType,
      exact.map((text) => newEvent({ key: 'same', number: new ExactNumber(text) })),
    );
    const seen: string[] = [];
    const consumer = lendstream.consume(await subscribe(eventType));
    for await (const { number } of consumer.events()) {
      seen.push(String(number));
      if (seen.length === 3) consumer.stop();
    }
    expect(seen).to.deep.equal(exact);
  });

  it('ends by itself at the limits that it was given, also over several streams', async () => {
    const [, subscription] = await subscribed(50);
    const { numbers, done } = collect(subscription, 1_000, { stream: { stream_limit: 30, batch_limit: 7 } });
    await done;
    expect(numbers).to.deep.equal(upTo(30));
    expect(await unconsumed(subscription)).to.equal(20);
    await collect(subscription, 1_000, { stream: { stream_timeout: 1 } }).done;
    await collect(subscription, 1_000, { stream: { stream_keep_alive_limit: 1 } }).done;
    expect(await unconsumed(subscription)).to.equal(0);
  });

  it('delivers only what filters let through, and commits what they pass over', async () => {
    const eventType = await defineNumbered(lendstream);
    await publish(eventType, 0, 40);
    const subscription = await subscribe(eventType);
    const filter = [filterFor(['number'], 17)];
    const { numbers, consumer, done } = collect(subscription, 2, { stream: { filter } });
    await eventually(async () => numbers.length === 1 && (await unconsumed(subscription)) === 0, 10_000);
    consumer.stop();
    await done;
    expect(numbers).to.deep.equal([17]);
  });

  it('reads nothing while the loop works', async () => {
    const eventType = await defineNumbered(lendstream);
    const padding = 'x'.repeat(50_000);
    for (let round = 0; round < 8; round += 1) await publish(eventType, round * 80, 80, { padding });
    const subscription = await subscribe(eventType);
    let read = 0;
    // The pieces as they are taken from fetch: beyond them are only the buffers of fetch and of the system.
    const counting = new Lendstream({
      url: system.url,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (!url.endsWith('/events')) return response;
        const count = new TransformStream<Uint8Array, Uint8Array>({
          transform(piece, controller) {
            read += piece.length;
            controller.enqueue(piece);
          },
        });
        return new Response(response.body?.pipeThrough(count), response);
      },
    });
    const consumer = counting.consume<Numbered>(subscription, {
      stream: { batch_limit: 1, max_uncommitted_events: 10_000 },
    });
    let taken = 0;
    for await (const { events } of consumer) {
      taken += events.length;
      if (taken === 3) {
        const before = read;
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        expect(read).to.equal(before);
        // Of 32 MB, one piece of the connection.
        expect(consumer.bytesReadAhead).to.be.below(256 * 1024);
        break;
      }
    }
    expect(read).to.be.below(1024 * 1024);
  });

  it('continues after the service was killed in the middle of a stream', async () => {
    const [eventType, subscription] = await subscribed(100, 2);
    const notices: Notice[] = [];
    const { numbers, done } = collect(subscription, 300, {
      stream: { batch_limit: 5 },
      skipRepeated: true,
      onNotice: (notice) => notices.push(notice),
    });
    await eventually(() => numbers.length >= 20, 20_000);
    await system.kill();
    await eventually(() => notices.some(({ kind }) => kind === 'waiting'));
    await system.start();
    await publish(eventType, 100, 200);
    await done;
    expect(sorted(numbers)).to.deep.equal(upTo(300));
    expect(await unconsumed(subscription)).to.equal(0);
  });

  for (const how of ['breaks off', 'ends'] as const) {
    it(`continues after a connection that ${how} within a line`, async () => {
      const [, subscription] = await subscribed(60);
      let cuts = 0;
      const cutting = new Lendstream({
        url: system.url,
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          if (!url.endsWith('/events') || cuts === 5) return response;
          cuts += 1;
          let left = 2_000 + cuts * 333;
          const cut = new TransformStream<Uint8Array, Uint8Array>({
            transform(piece, controller) {
              controller.enqueue(piece.subarray(0, left));
              left -= piece.length;
              if (left > 0) return;
              if (how === 'ends') controller.terminate();
              else controller.error(new TypeError('terminated'));
            },
          });
          return new Response(response.body?.pipeThrough(cut), response);
        },
      });
      const { numbers, done } = collect(subscription, 60, { skipRepeated: 100, stream: { batch_limit: 3 } }, cutting);
      await done;
      expect(numbers).to.deep.equal(upTo(60));
      expect(cuts).to.equal(5);
      expect(await unconsumed(subscription)).to.equal(0);
    });
  }

  it('shares partitions with a second consumer, and gets them back', async () => {
    const [eventType, subscription] = await subscribed(0, 4);
    const options = { stream: { batch_limit: 5 } };
    const first = collect(subscription, 10_000, options);
    await eventually(() => first.consumer.streamId !== '');
    const second = collect(subscription, 10_000, options);
    const shares = async (): Promise<string[]> => {
      const partitions = (await lendstream.lag(subscription)).flatMap((each) => each.partitions);
      return partitions.map(({ stream_id: streamId }) => streamId);
    };
    await eventually(async () => {
      const owners = await shares();
      return owners.filter((owner) => owner === second.consumer.streamId).length === 2;
    }, 20_000);
    await publish(eventType, 0, 200);
    await eventually(() => first.numbers.length + second.numbers.length >= 200, 20_000);
    expect(first.numbers.length).to.be.greaterThan(0);
    expect(second.numbers.length).to.be.greaterThan(0);
    first.consumer.stop();
    await first.done;
    await publish(eventType, 200, 100);
    await eventually(() => first.numbers.length + second.numbers.length >= 300, 20_000);
    second.consumer.stop();
    await second.done;
    // Both finished and committed what they had, so that nothing came twice.
    expect(sorted([...first.numbers, ...second.numbers])).to.deep.equal(upTo(300));
    expect(await unconsumed(subscription)).to.equal(0);
  });

  it('waits for the partition of a consumer that ends', async () => {
    const [, subscription] = await subscribed(10);
    const first = collect(subscription, 1_000);
    await eventually(() => first.numbers.length === 10);
    const waiting = collect(subscription, 1, { stream: { wait_for_slot: 1 } });
    // Longer than the service lets it wait: it comes again.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    first.consumer.stop();
    await first.done;
    await eventually(() => waiting.consumer.streamId !== '');
    waiting.consumer.stop();
    await waiting.done;
  });

  it('keeps a batch with heart-beats that takes longer than the commit timeout', async () => {
    const [, subscription] = await subscribed(2);
    const numbers: number[] = [];
    const stream = { commit_timeout: 4, batch_limit: 1 };
    const consumer = lendstream.consume<Numbered>(subscription, { stream });
    for await (const { events, lost } of consumer) {
      numbers.push(...events.map(({ number }) => number));
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      expect(lost.aborted).to.equal(false);
      if (numbers.length === 2) consumer.stop();
    }
    expect(numbers).to.deep.equal([0, 1]);
    expect(await unconsumed(subscription)).to.equal(0);
  });

  it('loses a batch to another consumer a commit timeout after that has come, however long it takes', async () => {
    const [, subscription] = await subscribed(40, 2);
    const stream = { commit_timeout: 4, batch_limit: 1 };
    const ends: Notice[] = [];
    const onNotice = (notice: Notice): void => void (notice.kind === 'ended' && ends.push(notice));
    const slow = lendstream.consume<Numbered>(subscription, { stream, onNotice });
    let isTaken = false;
    let isLost = false;
    const consuming = (async () => {
      for await (const { lost } of slow) {
        isTaken = true;
        await eventually(() => lost.aborted, 60_000);
        isLost = true;
        slow.stop();
      }
    })();
    await eventually(() => isTaken);
    const other = collect(subscription, 40, { stream, onNotice });
    await other.done;
    await consuming;
    expect(isLost).to.equal(true);
    expect(sorted(new Set(other.numbers))).to.deep.equal(upTo(40));
    expect(ends.map((notice) => 'code' in notice && notice.code)).not.to.include('no_partitions');
  });

  it('gets a batch again whose commit is refused, and skips what it has processed', async () => {
    const [, subscription] = await subscribed(20);
    const notices: Notice[] = [];
    const numbers: number[] = [];
    const stream = { commit_timeout: 3, batch_limit: 10 };
    const consumer = lendstream.consume<Numbered>(subscription, {
      stream,
      processingMilliseconds: 0,
      onNotice: (notice) => notices.push(notice),
    });
    let slow = true;
    for await (const { events } of consumer) {
      numbers.push(...events.map(({ number }) => number));
      if (slow) await new Promise((resolve) => setTimeout(resolve, 5_000));
      slow = false;
      if (new Set(numbers).size === 20) consumer.stop();
    }
    expect(numbers).to.deep.equal([...upTo(10), ...upTo(20)]);
    expect(notices.map(({ kind }) => kind)).to.include('refused');
    expect(await unconsumed(subscription)).to.equal(0);

    const [, again] = await subscribed(20);
    slow = true;
    const repeated: Notice[] = [];
    const careful = lendstream.consume<Numbered>(again, {
      stream,
      processingMilliseconds: 0,
      skipRepeated: true,
      onNotice: (notice) => repeated.push(notice),
    });
    const once: number[] = [];
    for await (const { events } of careful) {
      once.push(...events.map(({ number }) => number));
      if (slow) await new Promise((resolve) => setTimeout(resolve, 5_000));
      slow = false;
      if (once.length === 20) careful.stop();
    }
    expect(once).to.deep.equal(upTo(20));
    expect(repeated).to.deep.include({ kind: 'repeated', events: 10 });
    expect(await unconsumed(again)).to.equal(0);
  });

  it('processes events again after a reset, although it skips what it has processed', async () => {
    const [eventType, subscription] = await subscribed(10);
    const { numbers, consumer, done } = collect(subscription, 1_000, { skipRepeated: true });
    await eventually(async () => numbers.length === 10 && (await unconsumed(subscription)) === 0);
    await lendstream.moveCursors(subscription, [{ event_type: eventType, partition: '0', offset: 'BEGIN' }]);
    await eventually(async () => numbers.length === 20 && (await unconsumed(subscription)) === 0, 20_000);
    consumer.stop();
    await done;
    expect(numbers).to.deep.equal([...upTo(10), ...upTo(10)]);
  });

  it('ends with an error when nothing is left to consume', async () => {
    const unknown = await failure(collect('00000000-0000-4000-8000-000000000000', 1).done);
    expect(unknown).to.include({ name: 'LendstreamError', status: 404, code: 'NOT_FOUND', isRetryable: false });
    const [, subscription] = await subscribed(0);
    const open = collect(subscription, 1);
    const ended = failure(open.done);
    await eventually(() => open.consumer.streamId !== '');
    await lendstream.request('DELETE', `/subscriptions/${subscription}`);
    expect((await ended).detail).to.equal('Subscription was deleted');
    const [, other] = await subscribed(0);
    const wrong = await failure(collect(other, 1, { stream: { batch_limit: 0 } }).done);
    expect(wrong.status).to.equal(422);
  });

  it('refuses a second loop at the same time, and allows another one afterwards', async () => {
    const [, subscription] = await subscribed(2);
    const consumer = lendstream.consume(subscription, { stream: { batch_limit: 1 } });
    const loop = consumer[Symbol.asyncIterator]();
    await loop.next();
    expect((await failure(consumer[Symbol.asyncIterator]().next())).message).to.include('a loop already');
    await loop.return();
    for await (const { events } of consumer) {
      expect(events).to.have.length(1);
      break;
    }
  });
});

const [rightKey, wrongKey] = ['right-key-of-this-test', 'wrong-key-of-this-test'];

describe('the client with an API key', function () {
  this.timeout(60_000);
  let system: ServiceBehindProxy;

  before(async () => {
    system = await startServiceBehindProxy({ API_KEYS: rightKey, ROLES: 'serve' });
  });

  after(() => system?.close());

  it('is refused without one and with a wrong one, and asks for it before each request', async () => {
    const eventType = async (apiKey?: string | (() => Promise<string>)): Promise<unknown> =>
      new Lendstream({ url: system.url, apiKey }).eventType('loan_balance_changed').then(
        ({ name }) => name,
        ({ status }: LendstreamError) => status,
      );
    expect(await eventType()).to.equal(401);
    expect(await eventType(wrongKey)).to.equal(401);
    expect(await eventType(rightKey)).to.equal('loan_balance_changed');
    let key = wrongKey;
    const changing = async (): Promise<string> => key;
    expect(await eventType(changing)).to.equal(401);
    key = rightKey;
    expect(await eventType(changing)).to.equal('loan_balance_changed');
  });

  it('ends its loop when the key is refused', async () => {
    const right = new Lendstream({ url: system.url, apiKey: rightKey });
    const { id } = await right.subscribe({ owning_application: 'tests', event_types: ['loan_balance_changed'] });
    const wrong = new Lendstream({ url: system.url, apiKey: wrongKey }).consume(id);
    const error = await wrong[Symbol.asyncIterator]()
      .next()
      .catch((each: LendstreamError) => each);
    expect(error).to.be.instanceOf(LendstreamError).and.to.include({ status: 401 });
  });
});
