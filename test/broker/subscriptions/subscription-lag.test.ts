import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import {
  subscriptionLag,
  type KnownLags,
  type LagServices,
} from '../../../src/broker/subscriptions/subscription-lag.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
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
    const { lags } = await subscriptionLag({ ...store, coordination, log }, undefined, groupSize);
    expect([asked, looks]).to.deep.equal([count, 1]);
    expect(most).to.equal(groupSize);
    const unconsumed = lags.map(({ eventType, unconsumedEvents }) => `${eventType} ${unconsumedEvents}`);
    expect(unconsumed.filter((each) => each === 'loans 3')).to.have.length(count);
    expect(unconsumed.filter((each) => each === 'accounts 0')).to.have.length(count);
  });

  describe('that are worked out again', () => {
    let now: number;
    let asked: string[];
    let services: LagServices;
    let loans: Subscription;
    let accounts: Subscription;

    beforeEach(async () => {
      [now, asked] = [0, []];
      await store.define('accounts', 1);
      const create = async (name: string): Promise<Subscription> => {
        const body = {
          owning_application: 'core',
          event_types: [name],
          read_from: 'end',
        };
        const { subscription } = await new Subscriptions(store).create(body);
        await store.join(subscription);
        return subscription;
      };
      [loans, accounts] = [await create('loans'), await create('accounts')];
      const coordination = overriding(store.coordination, {
        committedOffsets: (id) => {
          asked.push(id);
          return store.coordination.committedOffsets(id);
        },
      });
      services = {
        ...store,
        coordination,
        clock: { ...systemClock, monotonic: () => now },
      };
    });

    const read = async (known?: KnownLags): Promise<KnownLags> => {
      asked = [];
      return subscriptionLag(services, known);
    };

    const totals = ({ lags }: KnownLags): number[] => lags.map(({ unconsumedEvents }) => unconsumedEvents);

    it('are the same list when nothing happened, and nothing is read for it', async () => {
      const first = await read();
      expect(asked).to.have.members([loans.id, accounts.id]);
      const second = await read(first);
      expect(asked).to.deep.equal([]);
      expect(second.lags).to.equal(first.lags);
      expect((await read(second)).lags).to.equal(first.lags);
    });

    it('cost nothing for each subscription when nothing happened and nothing lacks, and do when something lacks', async () => {
      let listed = 0;
      const registry = overriding(store.registry, {
        list: (kind) => {
          listed += 1;
          return store.registry.list(kind);
        },
      });
      services = { ...services, registry };
      const first = await read();
      expect(listed).to.equal(1);
      const second = await read(first);
      await store.publish('loans', 1, 3);
      const third = await read(second);
      expect([listed, asked, totals(third)], 'the definitions are the same').to.deep.equal([1, [loans.id], [3, 0]]);
      const body = { owning_application: 'other', event_types: ['loans'], read_from: 'end' };
      await new Subscriptions(store).create(body);
      const fourth = await read(third);
      expect([listed, totals(fourth)]).to.deep.equal([2, [3, 0, 0]]);
    });

    it('are read for the event types that have new events, until these are committed', async () => {
      const first = await read();
      await store.publish('loans', 1, 3);
      const second = await read(first);
      expect([asked, totals(second)]).to.deep.equal([[loans.id], [3, 0]]);
      expect(second.lags[1]).to.equal(first.lags[1]);
      const third = await read(second);
      expect([asked, totals(third)]).to.deep.equal([[loans.id], [3, 0]]);
      const { sessions } = await store.coordination.topology(loans.id);
      const cursor = { eventType: 'loans', partition: 1, offset: 2 };
      await store.coordination.commit(loans.id, sessions[0]?.streamId ?? '', [cursor]);
      const fourth = await read(third);
      expect([asked, totals(fourth)]).to.deep.equal([[loans.id], [0, 0]]);
      await read(fourth);
      expect(asked).to.deep.equal([]);
    });

    it('are read after the only event that lacks is committed', async () => {
      await store.publish('loans', 1, 1);
      const first = await read(await read());
      expect([first.areLacking, totals(first)]).to.deep.equal([true, [1, 0]]);
      const { sessions } = await store.coordination.topology(loans.id);
      const cursor = { eventType: 'loans', partition: 1, offset: 0 };
      await store.coordination.commit(loans.id, sessions[0]?.streamId ?? '', [cursor]);
      const second = await read(first);
      expect([second.areLacking, totals(second)]).to.deep.equal([false, [0, 0]]);
    });

    it('are read after a reset of the cursors', async () => {
      await store.publish('loans', 0, 2);
      await store.coordination.beginReset(loans.id);
      await store.coordination.finishReset(loans.id, [{ eventType: 'loans', partition: 0, offset: 1 }]);
      const first = await read();
      expect(totals(first)).to.deep.equal([0, 0]);
      await store.coordination.beginReset(loans.id);
      await store.coordination.finishReset(loans.id, [{ eventType: 'loans', partition: 0, offset: -1 }]);
      expect(totals(await read(first))).to.deep.equal([2, 0]);
    });

    it('follow subscriptions that are added and removed', async () => {
      const first = await read();
      await new Subscriptions(store).remove(loans.id);
      const body = {
        owning_application: 'other',
        event_types: ['accounts'],
        read_from: 'begin',
      };
      const { subscription } = await new Subscriptions(store).create(body);
      await store.publish('accounts', 0, 1);
      const second = await read(first);
      expect(asked).to.have.members([accounts.id, subscription.id]);
      expect(second.lags.map(({ subscriptionId }) => subscriptionId)).to.deep.equal([accounts.id, subscription.id]);
      expect(totals(second)).to.deep.equal([1, 1]);
    });

    it('are all read after five minutes', async () => {
      const first = await read();
      now = 300_000;
      await read(first);
      expect(asked).to.deep.equal([]);
      now = 300_001;
      await read(first);
      expect(asked).to.have.length(2);
    });
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
    await subscriptionLag({ ...store, clock }, undefined, groupSize);
    clearImmediate(immediate);
    expect(turnsOfLoop).to.be.at.least(count / groupSize);
  });

  it('looks at the ends of 32 partitions at once, and at each of them once', async () => {
    const count = 40;
    await store.define('wide', count);
    for (const group of ['a', 'b']) {
      const body = { owning_application: 'core', event_types: ['wide'], consumer_group: group, read_from: 'begin' };
      await new Subscriptions(store).create(body);
    }
    for (let partition = 0; partition < count; partition += 1) await store.publish('wide', partition, 1);
    let [running, most, looks] = [0, 0, 0];
    const log = overriding(store.log, {
      read: async (...read) => {
        looks += 1;
        running += 1;
        most = Math.max(most, running);
        const result = await store.log.read(...read);
        running -= 1;
        return result;
      },
    });
    const { lags } = await subscriptionLag({ ...store, log });
    expect(lags.map(({ unconsumedEvents }) => unconsumedEvents)).to.deep.equal([count, count]);
    expect([looks, most]).to.deep.equal([count, 32]);
  });

  it('leaves out event types whose topics are gone, and counts the others', async () => {
    await store.define('accounts', 1);
    for (const names of [['loans'], ['accounts', 'loans']]) {
      const body = { owning_application: 'core', event_types: names, read_from: 'end' };
      await store.join((await new Subscriptions(store).create(body)).subscription);
    }
    await store.publish('loans', 1, 3);
    await store.log.deleteTopic('accounts');
    const { lags } = await subscriptionLag(store);
    expect(lags.map(({ eventType, unconsumedEvents }) => `${eventType} ${unconsumedEvents}`)).to.deep.equal([
      'loans 3',
      'loans 3',
    ]);
  });
});
