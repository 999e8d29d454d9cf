import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LastSeenState, idleSubscriptionsMaximum } from '../../src/redis/last-seen-state.ts';

const offset = { offset: 1, epoch: 1 };

describe('what a process remembers of subscriptions', () => {
  it('has a limit, within which those with an open stream stay', () => {
    const lastSeen = new LastSeenState();
    const session = {
      streamId: 'stream',
      nodeId: 'node',
      requestedPartitions: [],
      openedAt: 0,
      commitTimeoutMilliseconds: 0,
    };
    lastSeen.recordSession('streaming', session);
    for (let number = 0; number < idleSubscriptionsMaximum + 10; number += 1) {
      lastSeen.recordOffset(`subscription-${number}`, 'loans:0', offset);
    }
    expect([...lastSeen.entries()]).to.have.length(idleSubscriptionsMaximum);
    expect(lastSeen.get('streaming')?.sessions.size).to.equal(1);
    expect(lastSeen.get('subscription-0')).to.equal(undefined);
    expect(lastSeen.get(`subscription-${idleSubscriptionsMaximum + 9}`)).not.to.equal(undefined);
  });

  it('contradicts an offset that is older than one it has seen, and not one of a later reset', () => {
    const lastSeen = new LastSeenState();
    lastSeen.recordOffset('subscription', 'loans:0', { offset: 5, epoch: 1 });
    const contradicts = lastSeen.contradictsOffsets('subscription');
    expect(contradicts(new Map([['loans:0', { offset: 4, epoch: 1 }]]))).to.equal(true);
    expect(contradicts(new Map([['loans:0', { offset: 5, epoch: 1 }]]))).to.equal(false);
    expect(contradicts(new Map([['loans:0', { offset: 0, epoch: 2 }]]))).to.equal(false);
  });
});
