import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { subscriptionId } from '../../../src/broker/definitions/subscription-id.ts';
import { silentLogger } from '../../../src/logger.ts';
import { eventually } from '../../support/eventually.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('subscriptions', () => {
  let store: SubscriptionStore;
  let subscriptions: Subscriptions;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    subscriptions = new Subscriptions(store);
    await store.define('loans', 2);
  });

  afterEach(() => store.close());

  const body = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
    owning_application: 'core',
    event_types: ['loans'],
    ...changes,
  });

  const create = async (changes: Record<string, unknown> = {}): Promise<Subscription> =>
    (await subscriptions.create(body(changes))).subscription;

  it('are created once and then returned unchanged, whatever else the request contains', async () => {
    const first = await subscriptions.create(body({ read_from: 'begin', labels: { team: 'a' } }));
    expect(first.outcome).to.equal('created');
    expect(first.subscription.updated_at).to.equal(first.subscription.created_at);
    const again = await subscriptions.create(body({ read_from: 'end', labels: {}, annotations: { a: 'b' } }));
    expect(again).to.deep.equal({ outcome: 'existing', subscription: first.subscription });
    expect(await subscriptions.get(first.subscription.id)).to.deep.equal(first.subscription);
  });

  it('are created once by fifty simultaneous requests', async () => {
    const results = await Promise.all(Array.from({ length: 50 }, () => subscriptions.create(body())));
    expect(results.filter(({ outcome }) => outcome === 'created')).to.have.length(1);
    expect(results.filter(({ outcome }) => outcome === 'existing')).to.have.length(49);
    expect(new Set(results.map(({ subscription }) => JSON.stringify(subscription))).size).to.equal(1);
  });

  it('are created once although the claim of the first request expired, and keep later commits', async () => {
    let resume = (): void => {};
    let isPaused = false;
    const coordination = overriding(store.coordination, {
      committedOffsets: async (id) => {
        isPaused = true;
        await new Promise<void>((resolve) => (resume = resolve));
        return store.coordination.committedOffsets(id);
      },
    });
    const registry = new Registry(store.log, silentLogger);
    await registry.start();
    const slow = new Subscriptions({ ...store, registry, coordination }).create(body());
    await eventually(() => isPaused);
    const { id } = await (async () => {
      const claimed = subscriptionId('core', ['loans'], 'default');
      await store.coordination.releaseClaim(`subscription/${claimed}`);
      return create();
    })();
    const streamId = await store.join(await subscriptions.get(id));
    await store.publish('loans', 0, 10);
    await store.coordination.commit(id, streamId, [{ eventType: 'loans', partition: 0, offset: 7 }]);
    resume();
    const { outcome, subscription } = await slow;
    expect([outcome, subscription.id]).to.deep.equal(['existing', id]);
    const committed = await store.coordination.committedOffsets(id);
    expect(committed.map(({ offset }) => offset)).to.include(7);
    await registry.stop();
  });

  it('require existing event types, and name the missing ones', async () => {
    const failure = await failureOf(create({ event_types: ['y', 'loans', 'x'] }));
    expect(failure.message).to.equal("Failed to create subscription, event type(s) not found: 'x', 'y'");
    expect(failure).to.have.property('code', 'UNPROCESSABLE');
  });

  it('refuse an event type that is being deleted, and are removed when its deletion began in the meantime', async () => {
    await store.registry.put('event-type', 'going', { partitionCount: 1, deleting: true });
    expect(await failureOf(create({ event_types: ['going'] }))).to.have.property('code', 'UNPROCESSABLE');
    const stop = store.registry.onChange(({ kind, value }) => {
      if (kind !== 'subscription' || value === null) return;
      // As if the mark of the deletion came before the subscription in the log.
      store.registry.get<Record<string, unknown>>('event-type', 'loans')!['deleting'] = true;
    });
    const failure = await failureOf(create());
    stop();
    expect(failure.message).to.equal("Failed to create subscription, event type(s) not found: 'loans'");
    expect(subscriptions.list({ eventTypes: [] })).to.deep.equal([]);
  });

  it('may have a hundred partitions and no more', async () => {
    await store.define('wide', 98);
    await store.define('narrow', 1);
    await create({ event_types: ['loans', 'wide'] });
    const failure = await failureOf(create({ event_types: ['loans', 'narrow', 'wide'] }));
    expect(failure.message).to.equal(
      'total partition count for subscription is 101, but the maximum partition count is 100',
    );
  });

  it('start at cursors that cover every partition', async () => {
    const failure = await failureOf(create({ read_from: 'cursors' }));
    expect(failure.message).to.equal('initial_cursors should contain cursors for all partitions of subscription');
    await store.publish('loans', 0, 10);
    const cursors = [
      { event_type: 'loans', partition: '0', offset: '7' },
      { event_type: 'loans', partition: '1', offset: 'BEGIN' },
    ];
    const subscription = await create({ read_from: 'cursors', initial_cursors: cursors });
    await store.join(subscription);
    expect((await store.coordination.committedOffsets(subscription.id)).map(({ offset }) => offset)).to.deep.equal([
      7, -1,
    ]);
  });

  it('are not found once deleted, nor their offsets, and start from the beginning when created again', async () => {
    await store.publish('loans', 0, 10);
    const subscription = await create({ read_from: 'begin' });
    const streamId = await store.join(subscription);
    await store.coordination.commit(subscription.id, streamId, [{ eventType: 'loans', partition: 0, offset: 5 }]);
    const notified: string[] = [];
    store.coordination.watch(subscription.id, (change) => notified.push(change));
    await subscriptions.remove(subscription.id);
    expect(notified).to.include('removed');
    expect((await failureOf(subscriptions.get(subscription.id))).message).to.equal(
      `Subscription with id "${subscription.id}" does not exist`,
    );
    expect((await failureOf(subscriptions.remove(subscription.id))).message).to.equal(
      `Subscription with id "${subscription.id}" does not exist`,
    );
    expect((await subscriptions.create(body({ read_from: 'begin' }))).outcome).to.equal('created');
    expect(await store.coordination.committedOffsets(subscription.id)).to.deep.equal([]);
  });

  it('keep their offsets when another request has created them again during their deletion', async () => {
    const { id } = await create();
    const others = new Registry(store.log, silentLogger);
    await others.start();
    const registry = overriding(others, {
      revise: (kind, name) => {
        const revision = others.revise(kind, name);
        if (kind !== 'subscription') return revision;
        return {
          ...revision,
          remove: async () => {
            await revision.remove();
            // As if the claim had expired by now.
            await store.coordination.releaseClaim(`subscription/${id}`);
            await create();
            await store.coordination.initialise(id, [{ eventType: 'loans', partition: 0, offset: 7 }]);
          },
        };
      },
    });
    await new Subscriptions({ ...store, registry }).remove(id);
    expect(await subscriptions.get(id)).to.include({ id });
    expect((await store.coordination.committedOffsets(id)).map(({ offset }) => offset)).to.include(7);
    await others.stop();
  });

  it('do not inherit the offsets of a deleted one', async () => {
    const subscription = await create();
    await store.registry.remove('subscription', subscription.id);
    await store.coordination.initialise(subscription.id, [{ eventType: 'loans', partition: 0, offset: 99 }]);
    await create();
    expect(await store.coordination.committedOffsets(subscription.id)).to.deep.equal([]);
  });

  it('are listed newest first, by application, by all of their event types and by reader', async () => {
    await store.define('accounts');
    const readers = [{ data_type: 'service', value: 'x' }];
    const a = await create({ consumer_group: 'a' });
    const b = await create({ consumer_group: 'b', event_types: ['loans', 'accounts'] });
    const c = await create({
      consumer_group: 'c',
      owning_application: 'other',
      authorization: { admins: readers, readers },
    });
    const ids = (filter: Parameters<Subscriptions['list']>[0]): string[] =>
      subscriptions.list(filter).map(({ id }) => id);
    expect(ids({ eventTypes: [] })).to.deep.equal([c.id, b.id, a.id]);
    expect(ids({ eventTypes: ['loans'], owningApplication: 'core' })).to.deep.equal([b.id, a.id]);
    expect(ids({ eventTypes: ['loans', 'accounts'] })).to.deep.equal([b.id]);
    expect(ids({ eventTypes: ['nothing'] })).to.deep.equal([]);
    expect(ids({ eventTypes: [], reader: { data_type: 'service', value: 'x' } })).to.deep.equal([c.id]);
  });

  it('are listed newest first also when several are created in one millisecond', async () => {
    const sameTime = new Subscriptions({ ...store, clock: { ...store.clock, now: () => 1_000 } });
    const groups = ['b', 'd', 'a', 'c'];
    for (const group of groups) await sameTime.create(body({ consumer_group: group }));
    expect(subscriptions.list({ eventTypes: [] }).map(({ consumer_group: group }) => group)).to.deep.equal(
      groups.toReversed(),
    );
  });

  it('can change in authorization, annotations and labels, and in nothing else', async () => {
    const { id, created_at: createdAt } = await create({ labels: { a: 'b' }, annotations: { kept: 'yes' } });
    await subscriptions.update(id, body({ labels: { c: 'd' } }));
    expect(await subscriptions.get(id)).to.deep.include({
      labels: { c: 'd' },
      annotations: { kept: 'yes' },
      created_at: createdAt,
    });
    for (const [change, detail] of [
      [{ consumer_group: 'x' }, 'Not allowed to change consumer group'],
      [{ read_from: 'begin' }, 'Not allowed to change read from'],
      [{ event_types: ['accounts'] }, 'Not allowed to change event types'],
      [{ owning_application: 'x' }, 'Not allowed to change owning application'],
      [
        { initial_cursors: [{ event_type: 'loans', partition: '0', offset: 'BEGIN' }] },
        'Not allowed to change initial cursors',
      ],
    ] as const) {
      expect((await failureOf(subscriptions.update(id, body(change)))).message).to.equal(detail);
    }
    expect(await failureOf(subscriptions.update('unknown', body()))).to.have.property('code', 'NOT_FOUND');
  });
});
