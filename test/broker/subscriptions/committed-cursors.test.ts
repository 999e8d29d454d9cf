import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { listCursors } from '../../../src/broker/subscriptions/committed-cursors.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import type { SubscriptionStore } from '../../support/subscription-store.ts';
import { subscribeToLoans } from './subscription-to-loans.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('the committed cursors of a subscription', () => {
  let store: SubscriptionStore;
  let subscription: Subscription;

  beforeEach(async () => {
    ({ store, subscription } = await subscribeToLoans());
  });

  afterEach(() => store.close());

  describe('listing cursors', () => {
    it('returns none before the first stream, then one per partition with its own token', async () => {
      expect(await listCursors(store, subscription.id)).to.deep.equal([]);
      await store.join(subscription);
      const [first, second] = [await listCursors(store, subscription.id), await listCursors(store, subscription.id)];
      expect(first.map(({ partition, offset, event_type }) => ({ partition, offset, event_type }))).to.deep.equal([
        { partition: '0', offset: '001-0001--1', event_type: 'loans' },
        { partition: '1', offset: '001-0001--1', event_type: 'loans' },
      ]);
      expect(new Set([...first, ...second].map((each) => each.cursor_token)).size).to.equal(4);
      expect(await failureOf(listCursors(store, 'x'))).to.have.property('code', 'NOT_FOUND');
    });
  });
});
