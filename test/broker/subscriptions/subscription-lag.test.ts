import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import { subscriptionLag } from '../../../src/broker/subscriptions/subscription-lag.ts';
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

  it('are computed for a group of subscriptions at a time, from one request for the ends of all their event types', async () => {
    const [groupSize, count] = [4, 9];
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
        await Promise.resolve();
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
    const lags = await subscriptionLag({ ...store, coordination, log }, groupSize);
    expect([asked, looks]).to.deep.equal([count, 1]);
    expect(most).to.equal(groupSize);
    const unconsumed = lags.map(({ eventType, unconsumedEvents }) => `${eventType} ${unconsumedEvents}`);
    expect(unconsumed.filter((each) => each === 'loans 3')).to.have.length(count);
    expect(unconsumed.filter((each) => each === 'accounts 0')).to.have.length(count);
  });

  it('lets everything else happen meanwhile, however many subscriptions there are', async () => {
    const [groupSize, count] = [4, 20];
    for (let number = 0; number < count; number += 1) {
      const body = {
        owning_application: 'core',
        event_types: ['loans'],
        consumer_group: `${number}`,
        read_from: 'end',
      };
      await new Subscriptions(store).create(body);
    }
    let now = 0;
    // The slice is used up after each group.
    const clock = { ...systemClock, monotonic: () => (now += 10) };
    let turnsOfLoop = 0;
    const countTurn = (): void => {
      turnsOfLoop += 1;
      immediate = setImmediate(countTurn);
    };
    let immediate = setImmediate(countTurn);
    await subscriptionLag({ ...store, clock }, groupSize);
    clearImmediate(immediate);
    expect(turnsOfLoop).to.be.at.least(count / groupSize);
  });

  it('leaves out event types whose topics are gone, and counts the others', async () => {
    await store.define('accounts', 1);
    for (const names of [['loans'], ['accounts', 'loans']]) {
      const body = { owning_application: 'core', event_types: names, read_from: 'end' };
      await store.join((await new Subscriptions(store).create(body)).subscription);
    }
    await store.publish('loans', 1, 3);
    await store.log.deleteTopic('accounts');
    const lags = await subscriptionLag(store);
    expect(lags.map(({ eventType, unconsumedEvents }) => `${eventType} ${unconsumedEvents}`)).to.deep.equal([
      'loans 3',
      'loans 3',
    ]);
  });
});
