import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { subscriptionStatistics, subscriptionStatus } from '../../../src/broker/subscriptions/statistics.ts';
import { subscriptionLag } from '../../../src/broker/subscriptions/subscription-lag.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import { failingReads } from '../../support/failing-reads.ts';
import { codeOf } from '../../support/log-reading.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('the statistics of a subscription', () => {
  let store: SubscriptionStore;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    await store.define('loans', 2);
  });

  afterEach(() => store.close());

  const create = async (...eventTypes: string[]): Promise<Subscription> => createReading({}, ...eventTypes);

  const createReading = async (changes: object, ...eventTypes: string[]): Promise<Subscription> => {
    const body = { owning_application: 'core', event_types: eventTypes, read_from: 'end', ...changes };
    return (await new Subscriptions(store).create(body)).subscription;
  };

  /** The unconsumed events of each partition, and of the subscription in the metric. */
  const countsOf = async (subscription: Subscription): Promise<[(number | undefined)[], number | undefined]> => {
    const [{ partitions } = { partitions: [] }] = await subscriptionStatistics(store, subscription, true);
    const ofIt = (await subscriptionLag(store)).lags.find(({ subscriptionId }) => subscriptionId === subscription.id);
    return [partitions.map(({ unconsumed_events: count }) => count), ofIt?.unconsumedEvents];
  };

  it('show no streams before the first one, and count the events from where it would begin', async () => {
    await store.publish('loans', 0, 3);
    const fromEnd = await create('loans');
    const fromBegin = await createReading({ consumer_group: 'begin', read_from: 'begin' }, 'loans');
    const initialCursors = [
      { event_type: 'loans', partition: '0', offset: '001-0001-000000000000000001' },
      { event_type: 'loans', partition: '1', offset: 'BEGIN' },
    ];
    const cursors = { consumer_group: 'cursors', read_from: 'cursors', initial_cursors: initialCursors };
    const fromCursors = await createReading(cursors, 'loans');
    await store.publish('loans', 1, 2);
    expect(await subscriptionStatus(store, fromBegin)).to.deep.equal([
      {
        event_type: 'loans',
        partitions: [
          { partition: '0', state: 'unassigned', stream_id: '' },
          { partition: '1', state: 'unassigned', stream_id: '' },
        ],
      },
    ]);
    expect(await countsOf(fromBegin)).to.deep.equal([[3, 2], 5]);
    expect(await countsOf(fromCursors)).to.deep.equal([[1, 2], 3]);
    // It begins at the end of the time when it is first streamed.
    expect(await countsOf(fromEnd)).to.deep.equal([[0, 0], 0]);
    await store.join(fromCursors);
    expect(await countsOf(fromCursors), 'once it is streamed').to.deep.equal([[1, 2], 3]);
  });

  it('count the uncommitted events per partition', async () => {
    const subscription = await create('loans');
    const streamId = await store.join(subscription);
    await store.publish('loans', 0, 15);
    await store.publish('loans', 1, 2);
    await store.coordination.commit(subscription.id, streamId, [{ eventType: 'loans', partition: 0, offset: 9 }]);
    const holder = { stream_id: streamId, assignment_type: 'auto' };
    expect(await subscriptionStatistics(store, subscription, false)).to.deep.equal([
      {
        event_type: 'loans',
        partitions: [
          { partition: '0', state: 'assigned', unconsumed_events: 5, ...holder },
          { partition: '1', state: 'assigned', unconsumed_events: 2, ...holder },
        ],
      },
    ]);
    expect((await subscriptionLag(store)).lags).to.deep.equal([
      { subscriptionId: subscription.id, eventType: 'loans', unconsumedEvents: 7 },
    ]);
  });

  it('keep the partitions of several event types separate', async () => {
    await store.define('accounts', 2);
    const subscription = await create('loans', 'accounts');
    const direct = await store.join(subscription, []);
    const other = await store.join(subscription, []);
    await store.publish('accounts', 0, 1);
    await store.publish('loans', 0, 2);
    const { partitions } = await store.coordination.topology(subscription.id);
    const status = await subscriptionStatus(store, subscription);
    expect(status.map(({ event_type: name }) => name)).to.deep.equal(['accounts', 'loans']);
    expect(
      status.flatMap((item) => item.partitions.map(({ partition, state }) => [item.event_type, partition, state])),
    ).to.deep.equal(partitions.map(({ eventType, partition, state }) => [eventType, String(partition), state]));
    expect(new Set(status.flatMap((item) => item.partitions.map(({ stream_id: id }) => id)))).to.deep.equal(
      new Set([direct]),
    );
    expect(other).not.to.equal(direct);
    const counts = (await subscriptionStatistics(store, subscription, false)).map((item) =>
      item.partitions.map(({ unconsumed_events: count }) => count),
    );
    expect(counts).to.deep.equal([
      [1, 0],
      [2, 0],
    ]);
  });

  it('show which stream requested its partitions and which one is handing over', async () => {
    const subscription = await create('loans');
    const auto = await store.join(subscription);
    const direct = await store.join(subscription, [1]);
    const show = async () =>
      (await subscriptionStatus(store, subscription)).flatMap((item) =>
        item.partitions.map(({ state, stream_id: id, assignment_type: type }) => [state, id, type]),
      );
    expect(await show()).to.deep.equal([
      ['assigned', auto, 'auto'],
      ['reassigning', auto, 'auto'],
    ]);
    await store.coordination.closeSession(subscription.id, auto);
    expect(await show()).to.deep.equal([
      ['unassigned', '', undefined],
      ['assigned', direct, 'direct'],
    ]);
  });

  it('show how often the next event failed, until it is committed', async () => {
    const subscription = await create('loans');
    await store.publish('loans', 0, 12);
    const failures = async () =>
      (await subscriptionStatistics(store, subscription, false))[0]?.partitions.map((each) => each.failed_deliveries);
    const fail = async (firstOffset: number, throughOffset: number): Promise<void> => {
      const streamId = await store.join(subscription);
      const partitions = [{ eventType: 'loans', partition: 0, firstOffset, throughOffset }];
      await store.coordination.closeSession(subscription.id, streamId, 'accepted', { failuresMaximum: 2, partitions });
    };
    const commit = async (streamId: string, offset: number): Promise<void> =>
      void (await store.coordination.commit(subscription.id, streamId, [{ eventType: 'loans', partition: 0, offset }]));
    await store.join(subscription).then((streamId) => store.coordination.closeSession(subscription.id, streamId));
    expect(await failures()).to.deep.equal([undefined, undefined]);
    const offset = (await store.coordination.committedOffsets(subscription.id))[0]?.offset ?? -1;
    await fail(offset + 1, offset + 3);
    expect(await failures()).to.deep.equal([{ failures: 1, one_by_one: false }, undefined]);
    await fail(offset + 1, offset + 3);
    const streamId = await store.join(subscription);
    expect(await failures()).to.deep.equal([{ failures: 0, one_by_one: true }, undefined]);
    await commit(streamId, offset + 2);
    expect(await failures()).to.deep.equal([{ failures: 0, one_by_one: true }, undefined]);
    await commit(streamId, offset + 3);
    expect(await failures()).to.deep.equal([undefined, undefined]);
  });

  it('show the age of the first unconsumed event, or 0 if there is none', async () => {
    const subscription = await create('loans');
    await store.join(subscription);
    await store.publish('loans', 0, 1);
    const later = { ...store, clock: { ...systemClock, now: () => Date.now() + 90_000 } };
    const [item] = await subscriptionStatistics(later, subscription, true);
    const [first, second] = item?.partitions ?? [];
    expect(first?.consumer_lag_seconds).to.be.within(90, 150);
    expect(second?.consumer_lag_seconds).to.equal(0);
  });

  it('leave out the age of an event that has just expired or been deleted, and fail for other reasons', async () => {
    const subscription = await create('loans');
    await store.join(subscription);
    await store.publish('loans', 0, 1);
    const statisticsAfter = (code: ErrorCode) => {
      const log = failingReads(store.log, new LendstreamError(code, 'It fails.'));
      return subscriptionStatistics({ ...store, log }, subscription, true);
    };
    for (const code of ['OFFSET_OUT_OF_RANGE', 'UNKNOWN_TOPIC_OR_PARTITION'] as const) {
      const [first, second] = (await statisticsAfter(code))[0]?.partitions ?? [];
      expect(first, code).to.include({ unconsumed_events: 1 }).and.not.have.property('consumer_lag_seconds');
      expect(second, code).to.include({ unconsumed_events: 0, consumer_lag_seconds: 0 });
    }
    expect(await codeOf(statisticsAfter('LOG_UNAVAILABLE'))).to.equal('LOG_UNAVAILABLE');
  });

  it('count the partitions that were added later from their first event', async () => {
    const subscription = await create('loans');
    await store.join(subscription);
    await store.log.alterTopic('loans', { partitionCount: 3 });
    await store.registry.put('event-type', 'loans', { partitionCount: 3 });
    await store.publish('loans', 2, 4);
    const [item] = await subscriptionStatistics(store, subscription, false);
    expect(item?.partitions[2]).to.deep.equal({
      partition: '2',
      state: 'unassigned',
      unconsumed_events: 4,
      stream_id: '',
    });
  });
});
