import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SubscriptionHistories } from '../../src/embedded/subscription-history.ts';

const commitAt = (committedAt: number) => ({
  lastCommits: [{ eventType: 'orders', partition: 0, offset: '7', committedAt }],
  endedStreams: [],
});

describe('the history of subscriptions in memory', () => {
  it('is kept for ten thousand subscriptions, and dropped for those that were idle longest', () => {
    const history = new SubscriptionHistories(5);
    const isKept = (subscriptionId: string): boolean => history.of(subscriptionId).lastCommits.length > 0;
    for (let number = 0; number < 10_000; number += 1) history.add(`${number}`, commitAt(number));
    history.add('0', commitAt(10_000));
    expect(isKept('1')).to.equal(true);
    history.add('one more', commitAt(10_001));
    expect(['0', '1', '2', 'one more'].map(isKept)).to.deep.equal([true, false, true, true]);
    expect(history.of('1')).to.deep.equal({ since: 5, lastCommits: [], endedStreams: [] });
  });
});
