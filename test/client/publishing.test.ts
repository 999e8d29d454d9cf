import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  ExactNumber,
  type Lendstream,
  LendstreamError,
  newEvent,
  PublishError,
  Lendstream as Client,
} from '../../src/client/client.ts';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { eventually } from '../support/eventually.ts';
import { defineNumbered } from './numbered-events.ts';
import { type ServiceBehindProxy, startServiceBehindProxy } from './service-behind-proxy.ts';

const deduplicated = { 'lendstream/deduplication-window-seconds': '600' };

describe('the client as a producer', function () {
  this.timeout(120_000);
  let system: ServiceBehindProxy;
  let lendstream: Lendstream;

  before(async () => {
    system = await startServiceBehindProxy();
    lendstream = system.lendstream;
  });

  after(() => system?.close());

  const event = (number: unknown, key = 'one'): object => newEvent({ number, key });

  /** Everything in the log, in its order within each partition. */
  async function stored(eventType: string, partition?: string): Promise<unknown[]> {
    const numbers: unknown[] = [];
    for await (const batch of lendstream.tail(eventType, { from: 'begin', quietSeconds: 1 })) {
      if (partition !== undefined && batch.partition !== partition) continue;
      numbers.push(...batch.events.map(({ number }) => String(number)));
    }
    return numbers;
  }

  async function failure(attempt: Promise<unknown>): Promise<unknown> {
    return attempt.then(
      () => expect.fail('It did not fail'),
      (error: unknown) => error,
    );
  }

  /** The service through a client that loses some of its answers. @param isLost by the number of the request, from 1 */
  function losing(isLost: (attempt: number) => boolean): { readonly client: Client; readonly attempts: () => number } {
    let attempts = 0;
    const client = new Client({
      url: system.url,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        attempts += 1;
        if (isLost(attempts)) throw new TypeError('the answer was lost');
        return response;
      },
    });
    return { client, attempts: () => attempts };
  }

  it('stores events with all digits of their numbers', async () => {
    const eventType = await defineNumbered(lendstream);
    await lendstream.publish(eventType, [event(new ExactNumber('12.50')), event(7)]);
    expect(await stored(eventType)).to.deep.equal(['12.50', '7']);
  });

  it('stores the events of a list that are valid, and says which are not', async () => {
    const eventType = await defineNumbered(lendstream);
    const wrong = event('seven') as { readonly metadata: { readonly eid: string } };
    const error = await failure(lendstream.publish(eventType, [event(1), wrong, event(3)]));
    expect(error).to.be.instanceOf(PublishError);
    expect((error as PublishError).events).to.deep.equal([
      {
        index: 1,
        eid: wrong.metadata.eid,
        outcome: 'rejected',
        detail: '#/number: expected type: Number, found: String',
      },
    ]);
    expect(await stored(eventType)).to.deep.equal(['1', '3']);
  });

  it('repeats a request whose answer was lost with the same ids: they are stored once with a deduplication window', async () => {
    const eventType = await defineNumbered(lendstream, 2, deduplicated);
    const { client, attempts } = losing((attempt) => attempt <= 2);
    await client.publish(eventType, [event(1, 'a'), event(2, 'b'), event(3, 'c')], { firstMilliseconds: 10 });
    expect(attempts()).to.equal(3);
    expect(await stored(eventType))
      .to.have.members(['1', '2', '3'])
      .and.to.have.length(3);
  });

  it('says that the outcome is unknown when no answer says more, and that nothing is stored when one does', async () => {
    const eventType = await defineNumbered(lendstream);
    const { client } = losing(() => true);
    const unknown = await failure(client.publish(eventType, [event(1)], { retryMilliseconds: 0 }));
    expect((unknown as PublishError).events.map(({ outcome }) => outcome)).to.deep.equal(['unknown']);
    expect((unknown as PublishError).message).to.include('the answer was lost');
    const missing = await failure(lendstream.publish('no-such-type', [event(1)]));
    expect(missing).to.be.instanceOf(LendstreamError).and.to.include({ status: 404 });
    const reserved = await failure(lendstream.publish('loan_balance_changed', [event(1)]));
    expect(reserved).to.include({ status: 403 });
    // The first attempt may have stored it, whatever the second one was told.
    const second = losing((attempt) => attempt === 1);
    const name = await defineNumbered(lendstream);
    const deleting = second.client.publish(name, [event(1)], {
      onRetry: () => void 0,
      firstMilliseconds: 2_000,
    });
    await eventually(() => second.attempts() === 1);
    await lendstream.request('DELETE', `/event-types/${name}`);
    expect(((await failure(deleting)) as PublishError).events[0]?.outcome).to.equal('unknown');
  });

  it('deletes keys of every strategy, and names the partition where producers do', async () => {
    for (const [strategy, more] of [
      ['random', {}],
      ['hash', { partition_key_fields: ['customer'] }],
      ['user_defined', {}],
    ] as const) {
      const name = `keys.${strategy.replace('_', '-')}`;
      await lendstream.createEventType({
        name,
        owning_application: 'tests',
        category: 'business',
        enrichment_strategies: ['metadata_enrichment'],
        cleanup_policy: 'compact',
        partition_strategy: strategy,
        schema: { type: 'json_schema', schema: '{"type":"object"}' },
        ...more,
      });
      await lendstream.publish(name, [
        newEvent({ customer: 'Ada' }, { partition_compaction_key: 'c-1', partition: '0' }),
      ]);
      const newest = async () => (await lendstream.partitions(name)).map((each) => each.newest_available_offset);
      const before = await newest();
      if (strategy === 'user_defined') {
        const unnamed = await failure(lendstream.deleteKeys(name, ['c-1']));
        expect((unnamed as PublishError).events[0]?.detail).to.match(/metadata.partition is not set/);
        expect(await newest()).to.deep.equal(before);
        await lendstream.deleteKeys(name, ['c-1'], { partition: '0' });
      } else await lendstream.deleteKeys(name, ['c-1']);
      expect(await newest(), strategy).not.to.deep.equal(before);
    }
  });

  it('ends its repetitions when it is told to', async () => {
    const eventType = await defineNumbered(lendstream);
    const { client, attempts } = losing(() => true);
    const stop = new AbortController();
    const publishing = failure(client.publish(eventType, [event(1)], { signal: stop.signal }));
    await eventually(() => attempts() === 2);
    stop.abort();
    expect(((await publishing) as PublishError).events[0]?.outcome).to.equal('unknown');
  });

  it('forms few requests from single events, in their order', async () => {
    const eventType = await defineNumbered(lendstream);
    const { client, attempts } = losing(() => false);
    const producer = client.producer(eventType, { lingerMilliseconds: 20, eventsMaximum: 100 });
    const all = Array.from({ length: 450 }, (_, number) => producer.publish(event(number)));
    await Promise.all(all);
    await producer.close();
    expect(attempts()).to.be.within(5, 6);
    expect(await stored(eventType)).to.deep.equal(Array.from({ length: 450 }, (_, number) => String(number)));
    expect(((await failure(producer.publish(event(1)))) as Error).message).to.equal('The producer is closed');
  });

  it('keeps requests and what waits within their bounds', async () => {
    const eventType = await defineNumbered(lendstream);
    const sizes: number[] = [];
    const client = new Client({
      url: system.url,
      fetch: (url, init) => {
        sizes.push((init.body as string).length);
        return fetch(url, init);
      },
    });
    const producer = client.producer(eventType, { charactersMaximum: 2_000, waitingCharactersMaximum: 5_000 });
    let most = 0;
    const publishing = Array.from({ length: 60 }, async (_, number) => {
      await producer.publish(event(number));
      most = Math.max(most, producer.waitingCharacters);
    });
    most = Math.max(most, producer.waitingCharacters);
    await Promise.all(publishing);
    expect(Math.max(...sizes)).to.be.within(1_000, 2_100);
    expect(most).to.be.within(1_000, 5_000);
    // A longer event than a request may have is sent alone, and waits for nothing when nothing else does.
    await producer.publish(newEvent({ number: 60, key: 'k', padding: 'x'.repeat(9_000) }));
    expect(producer.waitingCharacters).to.equal(0);
    expect((await stored(eventType)).length).to.equal(61);
  });

  it('fails the publication of an invalid event alone', async () => {
    const eventType = await defineNumbered(lendstream);
    const producer = lendstream.producer(eventType);
    const outcomes = await Promise.allSettled([1, 'two', 3].map((number) => producer.publish(event(number))));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(((outcomes[1] as PromiseRejectedResult).reason as PublishError).events[0]?.outcome).to.equal('rejected');
  });

  it('publishes through a service that is killed and started again', async () => {
    const eventType = await defineNumbered(lendstream, 1, deduplicated);
    const producer = lendstream.producer(eventType, { eventsMaximum: 10, maximumMilliseconds: 500 });
    const all = Array.from({ length: 200 }, (_, number) => producer.publish(event(number)));
    await Promise.race(all);
    await system.kill();
    await system.start();
    await Promise.all(all);
    expect(await stored(eventType)).to.deep.equal(Array.from({ length: 200 }, (_, number) => String(number)));
  });

  it('tails an event type from its beginning, its end, its latest events and a time', async () => {
    const eventType = await defineNumbered(lendstream, 2);
    await lendstream.publish(
      eventType,
      [1, 2, 3, 4, 5].map((number) => event(number, 'same')),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    const time = new Date().toISOString();
    await lendstream.publish(eventType, [event(6, 'same')]);
    const from = async (start: Parameters<Lendstream['tail']>[1]): Promise<string[]> => {
      const numbers: string[] = [];
      for await (const { events } of lendstream.tail(eventType, { quietSeconds: 1, ...start })) {
        numbers.push(...events.map(({ number }) => String(number)));
      }
      return numbers;
    };
    expect(await from({ from: 'begin' })).to.deep.equal(['1', '2', '3', '4', '5', '6']);
    expect(await from({ from: { last: 2 } })).to.deep.equal(['5', '6']);
    expect(await from({ from: { last: 99 } })).to.have.length(6);
    expect(await from({ from: { time } })).to.deep.equal(['6']);
    expect(await from({ from: 'begin', eventsMaximum: 3 })).to.deep.equal(['1', '2', '3']);
    expect(await from({ from: 'begin', filter: ['/number=4'] })).to.deep.equal(['4']);
    const asked: string[] = [];
    const watched = new Client({
      url: system.url,
      fetch: (url, init) => {
        asked.push(url);
        return fetch(url, init);
      },
    });
    const tail = watched.tail(eventType);
    const next = tail.next();
    // The position is fixed before the first event is waited for.
    await eventually(() => asked.some((url) => url.includes('/events?')));
    await lendstream.publish(eventType, [event(7, 'same')]);
    expect(
      ((await next).value as { readonly events: readonly { readonly number?: unknown }[] }).events[0]?.number,
    ).to.equal(7);
    await tail.return();
    expect(await failure(lendstream.tail('no-such-type').next())).to.include({ status: 404 });
  });

  it('continues a tail through a service that is killed, without a gap and nothing twice', async () => {
    const eventType = await defineNumbered(lendstream);
    const numbers: string[] = [];
    const stop = new AbortController();
    const tailing = (async () => {
      const options = { from: 'begin', signal: stop.signal, backOff: { maximumMilliseconds: 200 } } as const;
      for await (const { events } of lendstream.tail(eventType, options)) {
        numbers.push(...events.map(({ number }) => String(number)));
      }
    })();
    await lendstream.publish(eventType, [event(1), event(2)]);
    await eventually(() => numbers.length === 2);
    await system.kill();
    await system.start();
    await lendstream.publish(eventType, [event(3)]);
    await eventually(() => numbers.length === 3, 20_000);
    stop.abort();
    await tailing;
    expect(numbers).to.deep.equal(['1', '2', '3']);
  });

  it('posts loan commands, and learns what became of them', async () => {
    const product = { ...(annuityProduct('annuity') as object), id: 'annuity' };
    const run = (command: Parameters<Lendstream['commands']['run']>[0]): ReturnType<Lendstream['commands']['run']> =>
      lendstream.commands.run(command);
    await lendstream.request('POST', '/loanproducts', { body: product }).catch((error: LendstreamError) => {
      // On a cluster, an earlier run has it.
      if (error.status !== 409 && error.status !== 400) throw error;
    });
    const loan = `loan-${Date.now()}`;
    const created = await run({
      type: 'CREATE_LOAN',
      loanAccountId: loan,
      payload: { id: loan, productTypeKey: 'annuity', loanAmount: new ExactNumber('1000.00') },
    });
    expect(created.status, JSON.stringify(created)).to.equal('COMMITTED');
    const approval = { type: 'CHANGE_STATE', loanAccountId: loan, payload: { action: 'APPROVE' } } as const;
    const commandId = await lendstream.commands.post(approval);
    expect(await lendstream.commands.outcome(commandId)).to.include({ commandId, status: 'COMMITTED' });
    // Under the same id it changes nothing; under another one it is refused.
    expect(await run({ ...approval, commandId })).to.include({ status: 'COMMITTED' });
    const refused = await run(approval);
    expect(refused.status).to.equal('REFUSED');
    expect(refused.errors?.[0]?.errorReason).to.be.a('string');
    const incomplete = { type: 'REPAY' } as unknown as Parameters<typeof run>[0];
    expect(((await failure(run(incomplete))) as PublishError).events[0]?.outcome).to.equal('rejected');
    const unknown = lendstream.commands.outcome('00000000-0000-4000-8000-000000000000', { withinMilliseconds: 100 });
    expect(await failure(unknown)).to.include({ status: 404 });
  });

  it('lists event types, schemas, partitions and subscriptions', async () => {
    const eventType = await defineNumbered(lendstream, 2);
    expect((await lendstream.eventTypes()).map(({ name }) => name)).to.include(eventType);
    expect((await lendstream.schemas(eventType)).map(({ version }) => version)).to.deep.equal(['1.0.0']);
    expect((await lendstream.partitions(eventType)).map(({ partition }) => partition)).to.deep.equal(['0', '1']);
    const definition = { owning_application: 'tests', event_types: [eventType] };
    const ids = await Promise.all([1, 2, 3].map(async () => (await lendstream.subscribe(definition)).id));
    expect(new Set(ids).size).to.equal(1);
    const found: string[] = [];
    for await (const { id } of lendstream.subscriptions({ event_type: eventType })) found.push(id);
    expect(found).to.deep.equal([ids[0]]);
    const [statistics] = await lendstream.lag(ids[0] ?? '', { timeLag: true });
    expect(statistics?.event_type).to.equal(eventType);
    const [position] = await lendstream.cursorsAt(eventType, '2020-01-01T00:00:00Z');
    expect(position?.partition).to.equal('0');
    expect(await lendstream.cursors(ids[0] ?? '')).to.deep.equal([]);
  });
});
