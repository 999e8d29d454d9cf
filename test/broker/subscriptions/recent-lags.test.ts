import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { RecentLags } from '../../../src/broker/subscriptions/recent-lags.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { codeOf } from '../../support/log-reading.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('recent lags', () => {
  let store: SubscriptionStore;
  let now: number;
  let isFailing: boolean;

  beforeEach(async () => {
    [now, isFailing] = [0, false];
    store = await openSubscriptionStore();
    await store.define('loans', 1);
    for (const group of ['a', 'b']) {
      const body = { owning_application: 'core', event_types: ['loans'], consumer_group: group, read_from: 'end' };
      await store.join((await new Subscriptions(store).create(body)).subscription);
    }
  });

  afterEach(() => store.close());

  const lagsOf = (alwaysFresh: number): RecentLags => {
    const coordination = overriding(store.coordination, {
      committedOffsets: async (id) => {
        if (isFailing) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Redis is gone.');
        return store.coordination.committedOffsets(id);
      },
    });
    return new RecentLags({ ...store, coordination, clock: { ...systemClock, monotonic: () => now } }, alwaysFresh);
  };

  const totals = async (lags: RecentLags): Promise<number[]> =>
    (await lags.get()).map(({ unconsumedEvents }) => unconsumedEvents);

  it('are computed for every caller when there are few subscriptions', async () => {
    const lags = lagsOf(2);
    expect(await totals(lags)).to.deep.equal([0, 0]);
    await store.publish('loans', 0, 3);
    expect(await totals(lags)).to.deep.equal([3, 3]);
  });

  it('stay the same for half a millisecond for each subscription when there are many', async () => {
    const lags = lagsOf(1);
    expect(await totals(lags)).to.deep.equal([0, 0]);
    await store.publish('loans', 0, 3);
    now = 0.9;
    expect(await totals(lags)).to.deep.equal([0, 0]);
    now = 1;
    expect(await totals(lags)).to.deep.equal([3, 3]);
  });

  it('are shared by callers at the same time', async () => {
    const lags = lagsOf(2);
    const [first, second] = [lags.get(), lags.get()];
    expect(await first).to.equal(await second);
  });

  it('are computed again after a failure', async () => {
    const lags = lagsOf(1);
    isFailing = true;
    expect(await codeOf(lags.get())).to.equal('COORDINATION_UNAVAILABLE');
    isFailing = false;
    expect(await totals(lags)).to.deep.equal([0, 0]);
  });
});
