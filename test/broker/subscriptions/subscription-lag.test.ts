import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { lagConcurrency, subscriptionLag } from '../../../src/broker/subscriptions/subscription-lag.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('the lag of subscriptions', () => {
  let store: SubscriptionStore;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    await store.define('loans', 2);
  });

  afterEach(() => store.close());

  it('are computed for a few subscriptions at a time, from one request for each event type', async () => {
    const count = 4 * lagConcurrency;
    await store.define('accounts', 1);
    const names = ['loans', 'accounts'];
    for (let number = 0; number < count; number += 1) {
      const body = { owning_application: 'core', event_types: names, consumer_group: `${number}`, read_from: 'end' };
      await store.join((await new Subscriptions(store).create(body)).subscription);
    }
    await store.publish('loans', 1, 3);
    let [running, most, asked, looks] = [0, 0, 0, 0];
    const coordination = overriding(store.coordination, {
      committedOffsets: async (id) => {
        running += 1;
        asked += 1;
        most = Math.max(most, running);
        const offsets = await store.coordination.committedOffsets(id);
        running -= 1;
        return offsets;
      },
    });
    const log = overriding(store.log, {
      bounds: (...places) => {
        looks += 1;
        return store.log.bounds(...places);
      },
    });
    const lags = await subscriptionLag({ ...store, coordination, log });
    expect([asked, looks]).to.deep.equal([count, names.length]);
    expect(most).to.be.within(2, lagConcurrency);
    const unconsumed = lags.map(({ eventType, unconsumedEvents }) => `${eventType} ${unconsumedEvents}`);
    expect(unconsumed.filter((each) => each === 'loans 3')).to.have.length(count);
    expect(unconsumed.filter((each) => each === 'accounts 0')).to.have.length(count);
  });
});
