import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Memory, rememberedMaximum } from '../../src/redis/memory.ts';

const offset = { offset: 1, epoch: 1 };

describe('what a process remembers of subscriptions', () => {
  it('has a limit, within which those with an open stream stay', () => {
    const memory = new Memory();
    const session = {
      streamId: 'stream',
      nodeId: 'node',
      requestedPartitions: [],
      openedAt: 0,
      commitTimeoutMilliseconds: 0,
    };
    memory.noteSession('streaming', session);
    for (let number = 0; number < rememberedMaximum + 10; number += 1) {
      memory.noteOffset(`subscription-${number}`, 'loans:0', offset);
    }
    expect([...memory.entries()]).to.have.length(rememberedMaximum);
    expect(memory.get('streaming')?.sessions.size).to.equal(1);
    expect(memory.get('subscription-0')).to.equal(undefined);
    expect(memory.get(`subscription-${rememberedMaximum + 9}`)).not.to.equal(undefined);
  });

  it('contradicts an offset that is older than one it has seen, and not one of a later reset', () => {
    const memory = new Memory();
    memory.noteOffset('subscription', 'loans:0', { offset: 5, epoch: 1 });
    const contradicts = memory.contradictsOffsets('subscription');
    expect(contradicts(new Map([['loans:0', { offset: 4, epoch: 1 }]]))).to.equal(true);
    expect(contradicts(new Map([['loans:0', { offset: 5, epoch: 1 }]]))).to.equal(false);
    expect(contradicts(new Map([['loans:0', { offset: 0, epoch: 2 }]]))).to.equal(false);
  });
});
