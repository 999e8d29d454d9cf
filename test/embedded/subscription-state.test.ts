import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import type { OwnershipChange, Session } from '../../src/ports/coordination.ts';
import type { EventTypePartition } from '../../src/ports/event-type-partition.ts';
import { SubscriptionState } from '../../src/embedded/subscription-state.ts';

const at = (partition: number): EventTypePartition => ({ eventType: 'loans', partition });

const session = (streamId: string, requested: readonly number[] = []): Session => ({
  streamId,
  nodeId: `node of ${streamId}`,
  requestedPartitions: requested.map(at),
  openedAt: 0,
  commitTimeoutMilliseconds: 1_000,
});

const assigned = (partition: number, streamId: string): OwnershipChange => ({
  ...at(partition),
  state: 'assigned',
  streamId,
  nextStreamId: null,
});

describe('the state of a subscription in memory', () => {
  let state: SubscriptionState;
  let generation: number;

  beforeEach(() => {
    generation = 0;
    state = new SubscriptionState(() => (generation += 1));
    state.addPartitions(
      [
        { ...at(1), offset: 7 },
        { ...at(0), offset: 4 },
      ],
      10,
    );
  });

  /** Whether an action begins a new generation, which every watcher has to read. */
  const changes = (action: () => unknown): boolean => {
    const before = state.topology().generation;
    action();
    return state.topology().generation !== before;
  };
  const own = (...owned: OwnershipChange[]): string => state.applyOwnership(state.topology().generation, owned);
  const owners = (): string[] =>
    state
      .topology()
      .partitions.map(
        ({ partition, state: is, streamId, nextStreamId, fence }) =>
          `${partition} ${is} ${streamId ?? '-'} ${nextStreamId ?? '-'} ${fence}`,
      );
  const commit = (streamId: string, now: number, ...cursors: [partition: number, offset: number, fence?: number][]) =>
    state.decideCommit(
      streamId,
      cursors.map(([partition, offset, fence]) => ({
        ...at(partition),
        offset,
        ...(fence === undefined ? {} : { fence }),
      })),
      now,
    );

  it('has its partitions in order, with the fence and the offset that they begin with', () => {
    expect(owners()).to.deep.equal(['0 unassigned - - 10', '1 unassigned - - 10']);
    expect(state.committedOffsets().map(({ offset }) => offset)).to.deep.equal([4, 7]);
    expect([state.hasPartition(at(1)), state.hasPartition(at(2))]).to.deep.equal([true, false]);
    expect(state.highestFence()).to.equal(10);
  });

  it('opens as many sessions as there are partitions that no session requested', () => {
    expect(changes(() => state.openSession(session('a', [0])))).to.equal(true);
    expect(changes(() => state.openSession(session('a', [0])))).to.equal(false);
    expect(state.openSession(session('b', [1, 0]))).to.deep.equal({ outcome: 'partitions_taken', partitions: [at(0)] });
    expect(state.openSession(session('c'))).to.deep.equal({ outcome: 'opened' });
    expect(state.openSession(session('d'))).to.deep.equal({ outcome: 'no_free_slots', totalSlots: 2 });
    expect(state.topology().sessions.map(({ streamId }) => streamId)).to.deep.equal(['a', 'c']);
  });

  it('closes a session once, and hands its partitions over', () => {
    for (const streamId of ['a', 'b']) state.openSession(session(streamId));
    expect(own(assigned(0, 'a'), assigned(1, 'a'))).to.equal('applied');
    own({ ...assigned(1, 'a'), state: 'reassigning', nextStreamId: 'b' });
    expect(owners()).to.deep.equal(['0 assigned a - 11', '1 reassigning a b 11']);
    expect(changes(() => expect(state.closeSession('x', 'accepted', 0)).to.equal(false))).to.equal(false);
    expect(changes(() => expect(state.closeSession('a', 'accepted', 0)).to.equal(true))).to.equal(true);
    expect(owners()).to.deep.equal(['0 unassigned - - 11', '1 assigned b - 12']);
    expect(state.closeSession('a', 'accepted', 0)).to.equal(false);
    expect(state.closeSessionsOf((nodeId) => nodeId === 'node of b', 0)).to.equal(1);
    expect(state.closeSessionsOf(() => true, 0)).to.equal(0);
    expect(owners()).to.deep.equal(['0 unassigned - - 11', '1 unassigned - - 12']);
  });

  it('changes owners in the generation that the change was made for, and in no other', () => {
    state.openSession(session('a'));
    const { generation: now } = state.topology();
    expect(state.applyOwnership(now - 1, [assigned(0, 'a')])).to.equal('conflict');
    expect(changes(() => own())).to.equal(false);
    expect(own(assigned(2, 'a')), 'an unknown partition').to.equal('conflict');
    expect(own(assigned(0, 'x')), 'a stream without a session').to.equal('conflict');
    expect(own(assigned(0, 'a'), assigned(1, 'x')), 'all or none').to.equal('conflict');
    expect(owners()).to.deep.equal(['0 unassigned - - 10', '1 unassigned - - 10']);
    expect(changes(() => own(assigned(0, 'a')))).to.equal(true);
    state.openSession(session('b'));
    expect(own(assigned(0, 'b')), 'an owner keeps its partition').to.equal('conflict');
    const handOver = { ...assigned(0, 'a'), state: 'reassigning', nextStreamId: 'b' } as const;
    expect(own({ ...handOver, streamId: 'b' }), 'of another owner').to.equal('conflict');
    expect(own({ ...handOver, nextStreamId: 'x' }), 'to a stream without a session').to.equal('conflict');
    expect(own({ ...handOver, nextStreamId: null }), 'to no stream').to.equal('conflict');
    expect(own(handOver)).to.equal('applied');
    expect(state.release('b', at(0), 11)).to.deep.equal({ outcome: 'fenced' });
    expect(state.release('a', at(0), 10)).to.deep.equal({ outcome: 'fenced' });
    expect(state.release('a', at(2), 11)).to.deep.equal({ outcome: 'fenced' });
    expect(changes(() => state.release('a', at(0), 11))).to.equal(true);
    expect(owners()[0]).to.equal('0 assigned b - 12');
    expect(state.release('b', at(0), 12)).to.deep.equal({ outcome: 'released', nextStreamId: null, fence: 12 });
    expect(owners()[0]).to.equal('0 unassigned - - 12');
  });

  it('commits what is higher, once it is durable, and says what "outdated" depends on', () => {
    state.openSession(session('a'));
    own(assigned(0, 'a'), assigned(1, 'a'));
    expect(commit('x', 0)).to.deep.equal({ outcome: 'session_not_found' });
    expect(commit('x', 0, [0, 9])).to.deep.equal({ outcome: 'session_not_found' });
    expect(commit('a', 0, [0, 5, 10])).to.deep.equal({ outcome: 'not_owner', cursor: at(0) });
    const first = commit('a', 0, [0, 4], [0, 5], [0, 5, 11], [0, 6], [1, 8]);
    if (first.outcome !== 'judged') throw new Error(first.outcome);
    expect(first.advanced).to.deep.equal([false, true, false, true, true]);
    expect(first.pendingCommits.map(({ offset }) => offset)).to.deep.equal([6, 8]);
    expect(first.dependsOn).to.deep.equal([]);
    const second = commit('a', 0, [0, 6], [0, 4], [0, 7]);
    if (second.outcome !== 'judged') throw new Error(second.outcome);
    expect(second.advanced).to.deep.equal([false, false, true]);
    expect(second.dependsOn).to.deep.equal([first.pendingCommits[0]]);
    expect(state.committedOffsets().map(({ offset }) => offset)).to.deep.equal([4, 7]);
    state.completeCommits(second.pendingCommits, true);
    state.completeCommits(first.pendingCommits, false);
    expect(state.committedOffsets().map(({ offset }) => offset)).to.deep.equal([7, 7]);
    state.completeCommits(first.pendingCommits, true);
    expect(state.committedOffsets().map(({ offset }) => offset)).to.deep.equal([7, 8]);
  });

  it('judges a cursor by every commit that is not durable yet', () => {
    state.openSession(session('a'));
    own(assigned(0, 'a'));
    const pending = [9, 12].map((offset) => {
      const decision = commit('a', 0, [0, offset]);
      return decision.outcome === 'judged' ? decision.pendingCommits : [];
    });
    for (const [completed = [], outdatedBy] of [
      [[], pending[1]],
      [pending[0], pending[1]],
      [pending[1], []],
    ] as const) {
      state.completeCommits(completed, true);
      expect(commit('a', 0, [0, 11])).to.deep.include({ advanced: [false], dependsOn: outdatedBy });
    }
  });

  it('judges a cursor by a commit that became durable before an earlier one', () => {
    state.openSession(session('a'));
    own(assigned(0, 'a'));
    const [, later] = [9, 12].map((offset) => commit('a', 0, [0, offset]));
    if (later?.outcome !== 'judged') throw new Error('It was not judged.');
    state.completeCommits(later.pendingCommits, true);
    expect(commit('a', 0, [0, 11], [0, 12])).to.deep.include({ advanced: [false, false], dependsOn: [] });
    expect(commit('a', 0, [0, 13])).to.deep.include({ advanced: [true] });
  });

  it('accepts the commits of a closed stream for its commit timeout, until another stream owns the partition', () => {
    for (const streamId of ['a', 'b']) state.openSession(session(streamId));
    own(assigned(0, 'a'), assigned(1, 'a'));
    state.closeSession('a', 'accepted', 500);
    expect(commit('a', 1_499, [0, 5]).outcome).to.equal('judged');
    expect(commit('a', 1_499, [0, 5, 10]).outcome, 'of another fence').to.equal('session_not_found');
    expect(commit('a', 1_500, [0, 5]).outcome).to.equal('session_not_found');
    expect(commit('c', 1_499, [0, 5]).outcome).to.equal('session_not_found');
    own(assigned(1, 'b'));
    expect(commit('a', 1_499, [1, 9]).outcome).to.equal('session_not_found');
    state.closeSession('b', 'refused', 500);
    expect(commit('b', 500, [1, 9]).outcome).to.equal('session_not_found');
  });

  it('assigns no partition while it is frozen, and fences off every earlier owner', () => {
    state.openSession(session('a'));
    own(assigned(0, 'a'));
    expect(changes(() => state.freeze())).to.equal(true);
    expect(owners()).to.deep.equal(['0 unassigned - - 12', '1 unassigned - - 11']);
    expect(commit('a', 0, [0, 9]).outcome).to.equal('not_owner');
    expect(own(assigned(0, 'a'))).to.equal('conflict');
    state.unfreeze();
    expect(own(assigned(0, 'a'))).to.equal('applied');
  });

  it('opens no session during a reset, which begins once', () => {
    state.openSession(session('a'));
    expect(changes(() => expect(state.beginReset()).to.equal(true))).to.equal(true);
    expect(changes(() => expect(state.beginReset()).to.equal(false))).to.equal(false);
    expect(state.topology().resetting).to.equal(true);
    expect(state.openSession(session('b'))).to.deep.equal({ outcome: 'resetting' });
    expect(changes(() => state.closeAllSessions())).to.equal(true);
    expect(state.topology().sessions).to.deep.equal([]);
    state.freeze();
    state.setCommitted({ ...at(0), offset: -1 });
    state.setCommitted({ ...at(9), offset: -1 });
    expect(changes(() => state.endReset())).to.equal(true);
    expect(state.topology().resetting).to.equal(false);
    state.openSession(session('b'));
    expect(own(assigned(0, 'b'))).to.equal('applied');
    expect(state.committedOffsets()).to.deep.equal([
      { ...at(0), offset: -1 },
      { ...at(1), offset: 7 },
    ]);
  });
});
