import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { PartitionOwnership, Session, Topology } from '../../src/ports/coordination.ts';
import { LastSeenState, idleSubscriptionsMaximum } from '../../src/redis/last-seen-state.ts';

const session: Session = {
  streamId: 'stream',
  nodeId: 'node',
  requestedPartitions: [],
  openedAt: 0,
  commitTimeoutMilliseconds: 0,
};

function topology(generation: number, fence: number): Topology {
  const partition = {
    eventType: 'loans',
    partition: 0,
    state: 'unassigned',
    streamId: null,
    nextStreamId: null,
  } as const;
  return { generation, resetting: false, sessions: [], partitions: [{ ...partition, fence }], committed: [] };
}

describe('what a process remembers of subscriptions', () => {
  it('has a limit, beyond which only subscriptions with an open stream stay', () => {
    const lastSeen = new LastSeenState();
    lastSeen.recordSession('streaming', session);
    lastSeen.recordTopology('streaming', topology(1, 1));
    for (let number = 0; number < idleSubscriptionsMaximum + 10; number += 1) {
      lastSeen.recordTopology(`subscription-${number}`, topology(1, 1));
    }
    expect([...lastSeen.entries()]).to.have.length(idleSubscriptionsMaximum + 1);
    expect(idleSubscriptionsMaximum).to.equal(20_000);
    expect(lastSeen.get('streaming')?.sessions.size).to.equal(1);
    expect(lastSeen.get('streaming')?.partitions).to.have.length(1);
    expect(lastSeen.get('subscription-9')).to.equal(undefined);
    expect(lastSeen.get('subscription-10')).not.to.equal(undefined);
  });

  it('keeps the topology of a subscription whose stream has ended, and of one that opens a stream', () => {
    const lastSeen = new LastSeenState();
    lastSeen.recordTopology('subscription', topology(4, 7));
    lastSeen.recordSession('subscription', session);
    expect(lastSeen.get('subscription')).to.deep.include({ generation: 4, partitions: topology(4, 7).partitions });
    expect([...lastSeen.entries()]).to.have.length(1);
    lastSeen.forgetSession('subscription', session.streamId);
    expect(lastSeen.get('subscription')).to.deep.include({ generation: 4, partitions: topology(4, 7).partitions });
    expect([...lastSeen.entries()]).to.have.length(1);
    lastSeen.forget('subscription');
    expect([...lastSeen.entries()]).to.deep.equal([]);
  });

  it('keeps a subscription as long as one of its streams is open, and ignores streams that it does not know', () => {
    const lastSeen = new LastSeenState();
    lastSeen.forgetSession('subscription', 'stream');
    lastSeen.recordSession('subscription', session);
    lastSeen.recordSession('subscription', { ...session, streamId: 'other' });
    lastSeen.forgetSession('subscription', 'stream');
    for (let number = 0; number < idleSubscriptionsMaximum; number += 1) {
      lastSeen.recordTopology(`subscription-${number}`, topology(1, 1));
    }
    expect([...(lastSeen.get('subscription')?.sessions.keys() ?? [])]).to.deep.equal(['other']);
    lastSeen.forgetSession('subscription', 'other');
    expect(lastSeen.get('subscription')?.sessions.size).to.equal(0);
    expect(lastSeen.get('subscription-0'), 'the oldest made room').to.equal(undefined);
  });

  it('has the newest topology, in whatever order they come, and none of a subscription without partitions', () => {
    const lastSeen = new LastSeenState();
    lastSeen.recordTopology('empty', { ...topology(1, 1), partitions: [] });
    expect(lastSeen.get('empty')).to.equal(undefined);
    for (const generation of [3, 4, 4, 2])
      lastSeen.recordTopology('subscription', topology(generation, 10 * generation));
    expect(lastSeen.get('subscription')?.generation).to.equal(4);
    lastSeen.recordTopology('subscription', topology(4, 41));
    expect(lastSeen.get('subscription')?.partitions[0]?.fence).to.equal(41);
    lastSeen.recordTopology('subscription', { ...topology(5, 1), partitions: [] });
    expect(lastSeen.get('subscription')?.partitions).to.deep.equal([]);
    expect(lastSeen.contradictsTopology('unknown')(topology(1, 0))).to.equal(false);
  });

  it('contradicts a fence lower than one it has seen, and not one that it learns of later', () => {
    const lastSeen = new LastSeenState();
    lastSeen.recordTopology('subscription', topology(4, 7));
    const contradicts = lastSeen.contradictsTopology('subscription');
    lastSeen.recordTopology('subscription', topology(5, 8));
    expect(contradicts(topology(4, 6))).to.equal(true);
    expect(contradicts(topology(4, 7))).to.equal(false);
  });

  it('says whether all partitions were seen with streams of this process since the last recovery', () => {
    const lastSeen = new LastSeenState();
    const [unassigned] = topology(1, 1).partitions as [PartitionOwnership];
    const owned: PartitionOwnership = { ...unassigned, state: 'assigned', streamId: session.streamId };
    const see = (generation: number, ...partitions: PartitionOwnership[]): boolean => {
      lastSeen.recordTopology('subscription', { ...topology(generation, 1), partitions });
      return lastSeen.ownsAllSinceRecovery('subscription');
    };
    expect(see(1, owned), 'without a stream').to.equal(false);
    lastSeen.recordSession('subscription', session);
    expect(see(2, owned)).to.equal(true);
    expect(see(3, owned, { ...unassigned, partition: 1 }), 'one has no owner').to.equal(false);
    expect(see(4, { ...owned, streamId: 'elsewhere' }), 'a stream of another process').to.equal(false);
    expect(see(5, { ...owned, state: 'reassigning', nextStreamId: 'next' }), 'one is handed over').to.equal(false);
    expect(see(6, owned)).to.equal(true);
    lastSeen.noteRecovery();
    expect(lastSeen.ownsAllSinceRecovery('subscription'), 'not seen since').to.equal(false);
    expect(lastSeen.recoveries).to.equal(1);
    expect(see(7, owned)).to.equal(true);
    lastSeen.forgetSession('subscription', session.streamId);
    expect(lastSeen.ownsAllSinceRecovery('subscription')).to.equal(false);
  });
});
