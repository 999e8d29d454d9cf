import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Registry, registryTopic } from '../../../src/broker/definitions/registry.ts';
import { findSubscription, knownSubscription } from '../../../src/broker/definitions/subscription-lookup.ts';
import { silentLogger } from '../../../src/logger.ts';
import { lateLog } from '../../support/late-log.ts';
import { openSubscriptionStore } from '../../support/subscription-store.ts';
import { failureOf } from '../../support/thrown-errors.ts';

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
