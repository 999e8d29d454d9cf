import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { Registry, registryTopic } from '../../../src/broker/definitions/registry.ts';
import { findSubscription, knownSubscription, subscriptionId } from '../../../src/broker/definitions/subscription.ts';
import { silentLogger } from '../../../src/logger.ts';
import { lateLog } from '../../support/late-log.ts';
import { failureOf, openSubscriptionStore } from '../../support/subscription-store.ts';

describe('finding a subscription', () => {
  it('returns the subscription registered under its id, and fails if there is none', async () => {
    const store = await openSubscriptionStore();
    await store.registry.put('subscription', 'known', { id: 'known' });
    expect(await findSubscription(store.registry, 'known')).to.deep.equal({ id: 'known' });
    expect(knownSubscription(store.registry, 'known')).to.deep.equal({ id: 'known' });
    const text = 'Subscription with id "unknown" does not exist';
    expect((await failureOf(findSubscription(store.registry, 'unknown'))).message).to.equal(text);
    expect(() => knownSubscription(store.registry, 'unknown')).to.throw(text);
    await store.close();
  });

  it('finds what another process just stored, and afterwards returns it without a request to the log', async () => {
    const store = await openSubscriptionStore();
    const late = lateLog(store.log, registryTopic);
    const registry = new Registry(late.log, silentLogger);
    await registry.start();
    late.holdBack();
    await store.registry.put('subscription', 'new', { id: 'new' });
    expect(() => knownSubscription(registry, 'new')).to.throw('does not exist');
    expect(await findSubscription(registry, 'new')).to.deep.equal({ id: 'new' });
    const before = late.requests;
    expect(await findSubscription(registry, 'new')).to.deep.equal({ id: 'new' });
    expect(late.requests - before).to.equal(0);
    await registry.stop();
    await store.close();
  });
});

describe('the id of a subscription', () => {
  it('is determined for ever by application, event types and consumer group', () => {
    expect(subscriptionId('core', ['loans', 'accounts'], 'default')).to.equal('c023c1b5-6e7e-55a5-9554-64c003ef5c87');
  });

  it('does not depend on the order of event types or on duplicates', () => {
    expect(subscriptionId('core', ['b', 'a', 'b'], 'g')).to.equal(subscriptionId('core', ['a', 'b'], 'g'));
  });

  it('differs when any of them differs', () => {
    const text = fc.string({ maxLength: 4 });
    const identity = fc.record({ application: text, eventTypes: fc.uniqueArray(text, { maxLength: 3 }), group: text });
    fc.assert(
      fc.property(identity, identity, (left, right) => {
        const spell = ({ application, eventTypes, group }: typeof left): string =>
          JSON.stringify([application, [...eventTypes].sort(), group]);
        const same = spell(left) === spell(right);
        const leftId = subscriptionId(left.application, left.eventTypes, left.group);
        const rightId = subscriptionId(right.application, right.eventTypes, right.group);
        expect(leftId === rightId).to.equal(same);
      }),
    );
  });
});
