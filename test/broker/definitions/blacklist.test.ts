import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import {
  blacklistEntriesMaximum,
  block,
  blockedNameCharactersMaximum,
  blockedNames,
  isAnythingBlocked,
  isConsumptionBlocked,
  isPublishingBlocked,
  isReadingBlocked,
  newestBlacklist,
  unblock,
} from '../../../src/broker/definitions/blacklist.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openOwnLog, type OwnLog } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('the blacklist', () => {
  let own: OwnLog;
  let registry: Registry;
  let other: Registry;

  before(async () => {
    own = await openOwnLog();
    registry = new Registry(own.log, silentLogger);
    other = new Registry(own.log, silentLogger);
    await registry.start();
    await other.start();
  });

  after(async () => {
    await registry.stop();
    await other.stop();
    await own.cleanup();
  });

  const subscription = { owning_application: 'shop', event_types: ['orders', 'payments'] } as unknown as Subscription;

  it('blocks and unblocks on every process', async () => {
    expect(isAnythingBlocked(registry)).to.equal(false);
    await block(registry, 'CONSUMER_ET', 'payments');
    expect(isAnythingBlocked(registry)).to.equal(true);
    await eventually(() => isConsumptionBlocked(other, subscription));
    expect(isReadingBlocked(other, 'payments')).to.equal(true);
    expect(isReadingBlocked(other, 'orders')).to.equal(false);
    expect(isPublishingBlocked(other, 'payments', 'shop')).to.equal(false);
    await unblock(other, 'CONSUMER_ET', 'payments');
    await eventually(() => !isConsumptionBlocked(registry, subscription));
    expect(isAnythingBlocked(registry)).to.equal(false);
  });

  it('blocks consumers by the owner of their subscription, and producers by event type or its owner', async () => {
    await block(registry, 'CONSUMER_APP', 'shop');
    expect(isConsumptionBlocked(registry, subscription)).to.equal(true);
    expect(isPublishingBlocked(registry, 'orders', 'shop')).to.equal(false);
    await block(registry, 'PRODUCER_APP', 'till');
    expect(isPublishingBlocked(registry, 'orders', 'till')).to.equal(true);
    await block(registry, 'PRODUCER_ET', 'orders');
    expect(isPublishingBlocked(registry, 'orders', 'shop')).to.equal(true);
    expect(isPublishingBlocked(registry, 'payments', 'shop')).to.equal(false);
    await unblock(registry, 'CONSUMER_APP', 'shop');
    await unblock(registry, 'PRODUCER_APP', 'till');
    await unblock(registry, 'PRODUCER_ET', 'orders');
    expect(isAnythingBlocked(registry)).to.equal(false);
  });

  it('lists names once, sorted', async () => {
    for (const name of ['b', 'a', 'b']) await block(registry, 'PRODUCER_ET', name);
    expect(blockedNames(registry, 'PRODUCER_ET')).to.deep.equal(['a', 'b']);
    expect(blockedNames(registry, 'PRODUCER_APP')).to.deep.equal([]);
    for (const name of ['b', 'a', 'b']) await unblock(registry, 'PRODUCER_ET', name);
    expect(blockedNames(registry, 'PRODUCER_ET')).to.deep.equal([]);
  });

  it('shows by type what another process has blocked a moment ago', async () => {
    await block(other, 'PRODUCER_APP', 'till');
    await block(other, 'CONSUMER_ET', 'orders');
    const expected = { CONSUMER_APP: [], CONSUMER_ET: ['orders'], PRODUCER_APP: ['till'], PRODUCER_ET: [] };
    expect(await newestBlacklist(registry)).to.deep.equal(expected);
    await unblock(other, 'PRODUCER_APP', 'till');
    await unblock(other, 'CONSUMER_ET', 'orders');
    expect((await newestBlacklist(registry)).PRODUCER_APP).to.deep.equal([]);
  });

  it('takes a name of the greatest length, and no longer one', async () => {
    const longest = 'n'.repeat(blockedNameCharactersMaximum);
    await block(registry, 'CONSUMER_APP', longest);
    expect(blockedNames(registry, 'CONSUMER_APP')).to.deep.equal([longest]);
    const error = await failureOf(block(registry, 'CONSUMER_APP', `${longest}n`));
    expect(isLendstreamError(error, 'UNPROCESSABLE')).to.equal(true);
    await unblock(registry, 'CONSUMER_APP', longest);
  });

  it('has as many entries as its maximum, and no more', async function () {
    this.timeout(60_000);
    const names = Array.from({ length: blacklistEntriesMaximum }, (_, index) => `type-${index}`);
    for (let from = 0; from < names.length; from += 100) {
      await Promise.all(names.slice(from, from + 100).map((name) => block(registry, 'CONSUMER_ET', name)));
    }
    expect(blockedNames(registry, 'CONSUMER_ET')).to.have.length(blacklistEntriesMaximum);
    const error = await failureOf(block(registry, 'CONSUMER_ET', 'one-more'));
    expect(isLendstreamError(error, 'UNPROCESSABLE')).to.equal(true);
    await block(registry, 'CONSUMER_ET', 'type-0');
    await unblock(registry, 'CONSUMER_ET', 'type-0');
    await block(registry, 'CONSUMER_ET', 'one-more');
  });
});
