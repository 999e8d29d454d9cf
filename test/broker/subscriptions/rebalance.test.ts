import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { OwnershipChange, PartitionOwnership, Session } from '../../../src/ports/coordination.ts';
import { rebalance } from '../../../src/broker/subscriptions/rebalance.ts';

const eventType = 'loans';

function auto(streamId: string, openedAt = 0): Session {
  return { streamId, nodeId: 'node', requestedPartitions: [], openedAt, commitTimeoutMilliseconds: 0 };
}

function direct(streamId: string, partitions: number[], openedAt = 0): Session {
  return {
    streamId,
    nodeId: 'node',
    requestedPartitions: partitions.map((partition) => ({ eventType, partition })),
    openedAt,
    commitTimeoutMilliseconds: 0,
  };
}

function unassigned(partition: number): PartitionOwnership {
  return { eventType, partition, state: 'unassigned', streamId: null, nextStreamId: null, fence: 0 };
}

function assigned(partition: number, streamId: string): PartitionOwnership {
  return { eventType, partition, state: 'assigned', streamId, nextStreamId: null, fence: 1 };
}

function reassigning(partition: number, streamId: string, nextStreamId: string): PartitionOwnership {
  return { eventType, partition, state: 'reassigning', streamId, nextStreamId, fence: 1 };
}

/** `1=a` is assigned to a, `1:a>b` is reassigning from a to b. */
function spell(changes: readonly OwnershipChange[]): string[] {
  return changes.map(({ partition, state, streamId, nextStreamId }) =>
    state === 'assigned' ? `${partition}=${streamId}` : `${partition}:${streamId}>${nextStreamId ?? ''}`,
  );
}

function apply(partitions: readonly PartitionOwnership[], changes: readonly OwnershipChange[]): PartitionOwnership[] {
  return partitions.map((ownership) => {
    const change = changes.find((candidate) => candidate.partition === ownership.partition);
    return change === undefined ? ownership : { ...ownership, ...change };
  });
}

/** How many partitions each stream has or is about to get. */
function counts(sessions: readonly Session[], partitions: readonly PartitionOwnership[]): number[] {
  return sessions.map(
    ({ streamId }) =>
      partitions.filter((ownership) => (ownership.nextStreamId ?? ownership.streamId) === streamId).length,
  );
}

describe('rebalancing', () => {
  const splits: [number, number[]][] = [
    [2, [1, 1]],
    [3, [2, 1]],
    [100, [34, 33, 33]],
    [101, [34, 34, 33]],
    [1, [1, 0]],
    [0, [0]],
    [5, []],
  ];
  for (const [total, shares] of splits) {
    it(`divides ${total} free partitions among ${shares.length} streams as ${shares.join(', ') || 'nothing'}`, () => {
      const sessions = shares.map((_, index) => auto(`s${index}`));
      const partitions = Array.from({ length: total }, (_, partition) => unassigned(partition));
      expect(counts(sessions, apply(partitions, rebalance(sessions, partitions)))).to.deep.equal(shares);
    });
  }

  const vectors: [string, Session[], PartitionOwnership[], string[]][] = [
    [
      'reassigns the partitions of a closed stream at once: requested ones to the stream that requested them, the rest to the others',
      [auto('s1'), auto('s2'), direct('s3', [1, 4])],
      [1, 2, 3, 4].map((partition) => assigned(partition, 's7')),
      ['1=s3', '2=s1', '3=s2', '4=s3'],
    ],
    [
      'asks open owners for requested partitions and moves nothing else',
      [auto('s1'), auto('s2'), direct('s3', [1, 4])],
      [assigned(1, 's1'), assigned(2, 's1'), assigned(3, 's2'), assigned(4, 's2')],
      ['1:s1>s3', '4:s2>s3'],
    ],
    [
      'leaves unrequested partitions unassigned when all streams are direct',
      [direct('s1', [1]), direct('s2', [2])],
      [1, 2, 3].map(unassigned),
      ['1=s1', '2=s2'],
    ],
    [
      'changes nothing in a balanced set, where a reassigning partition counts for its next stream',
      [auto('s1'), auto('s2')],
      [assigned(1, 's1'), reassigning(2, 's1', 's2'), assigned(3, 's1'), assigned(4, 's2')],
      [],
    ],
    [
      'reassigns all three partitions of a dead stream, with two for each in the end',
      [auto('s1'), auto('s2')],
      [assigned(1, 's0'), assigned(2, 's0'), assigned(3, 's1'), assigned(4, 's0')],
      ['1=s1', '2=s2', '4=s2'],
    ],
    [
      'takes one partition from the second stream when a third joins two of two',
      [auto('s1'), auto('s2'), auto('s3')],
      [assigned(1, 's1'), assigned(2, 's1'), assigned(3, 's2'), assigned(4, 's2')],
      ['4:s2>s3'],
    ],
    [
      'moves half of eight to a second stream',
      [auto('a'), auto('b')],
      Array.from({ length: 8 }, (_, partition) => assigned(partition, 'a')),
      ['4:a>b', '5:a>b', '6:a>b', '7:a>b'],
    ],
    [
      'takes one from each of two when a third joins four of four',
      [auto('a'), auto('b'), auto('c')],
      Array.from({ length: 8 }, (_, partition) => assigned(partition, partition < 4 ? 'a' : 'b')),
      ['3:a>c', '7:b>c'],
    ],
    [
      'gives the partitions of an ended stream to those below their share',
      [auto('a'), auto('b')],
      Array.from({ length: 8 }, (_, partition) =>
        assigned(partition, ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c'][partition] ?? ''),
      ),
      ['6=a', '7=b'],
    ],
    [
      'keeps an uneven split as it is',
      [auto('s1'), auto('s2')],
      [assigned(1, 's1'), assigned(2, 's2'), assigned(3, 's2')],
      [],
    ],
    [
      'moves reassigning partitions before owned ones',
      [auto('a'), auto('b'), auto('c')],
      [assigned(1, 'a'), assigned(2, 'b'), reassigning(3, 'a', 'b')],
      ['3:a>c'],
    ],
    [
      'keeps a partition with its owner when the next stream has ended',
      [auto('a')],
      [reassigning(1, 'a', 'gone')],
      ['1=a'],
    ],
    ['completes a hand-over whose old owner has ended', [auto('b')], [reassigning(1, 'gone', 'b')], ['1=b']],
    [
      'gives nothing to the newest stream when there are too few partitions',
      [auto('a', 3), auto('b', 1), auto('c', 2)],
      [unassigned(1), unassigned(2)],
      ['1=b', '2=c'],
    ],
    [
      'gives a direct stream its partition although an auto stream then has none',
      [auto('a', 1), auto('b', 2), direct('d', [2], 3)],
      [assigned(1, 'a'), assigned(2, 'b')],
      ['2:b>d'],
    ],
    [
      'gives a partition that two streams requested to the one opened first',
      [direct('a', [1], 2), direct('b', [1], 1)],
      [unassigned(1)],
      ['1=b'],
    ],
    ['ignores requests for partitions that do not exist', [direct('a', [9])], [unassigned(1)], []],
    ['does nothing without streams', [], [assigned(1, 'gone')], []],
  ];
  for (const [sentence, sessions, partitions, expected] of vectors) {
    it(sentence, () => {
      expect(spell(rebalance(sessions, partitions))).to.deep.equal(expected);
    });
  }

  const ids = ['a', 'b', 'c', 'd', 'e', 'gone1', 'gone2'];
  const situation = fc
    .record({
      partitionCount: fc.nat(12),
      openCount: fc.nat(5),
      ages: fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }),
      owners: fc.array(fc.record({ state: fc.nat(2), owner: fc.nat(6), next: fc.nat(6) }), {
        minLength: 12,
        maxLength: 12,
      }),
      requests: fc.array(fc.nat(20), { minLength: 12, maxLength: 12 }),
    })
    .map(({ partitionCount, openCount, ages, owners, requests }) => {
      const requested = (index: number): number[] =>
        requests.flatMap((stream, partition) => (stream === index && partition < partitionCount ? [partition] : []));
      const sessions = ids.slice(0, openCount).map((id, index) => direct(id, requested(index), ages[index]));
      const partitions = owners.slice(0, partitionCount).map(({ state, owner, next }, partition) => {
        const streamId = ids[owner] ?? '';
        if (state === 0) return unassigned(partition);
        return state === 1 ? assigned(partition, streamId) : reassigning(partition, streamId, ids[next] ?? '');
      });
      return { sessions, partitions };
    });

  const isAuto = (session: Session): boolean => session.requestedPartitions.length === 0;
  const effective = (ownership: PartitionOwnership): string | null => ownership.nextStreamId ?? ownership.streamId;

  it('changes nothing after its own changes', () => {
    fc.assert(
      fc.property(situation, ({ sessions, partitions }) => {
        expect(rebalance(sessions, apply(partitions, rebalance(sessions, partitions)))).to.deep.equal([]);
      }),
    );
  });

  it('does not depend on the order of its arguments', () => {
    fc.assert(
      fc.property(situation, ({ sessions, partitions }) => {
        expect(rebalance(sessions.toReversed(), partitions.toReversed())).to.deep.equal(
          rebalance(sessions, partitions),
        );
      }),
    );
  });

  it('honours every request and divides the rest evenly, starting with the oldest stream', () => {
    fc.assert(
      fc.property(situation, ({ sessions, partitions }) => {
        const after = apply(partitions, rebalance(sessions, partitions));
        for (const { streamId, requestedPartitions } of sessions) {
          for (const { partition } of requestedPartitions) {
            expect(after.find((ownership) => ownership.partition === partition)).to.satisfy(
              (ownership: PartitionOwnership) => effective(ownership) === streamId,
            );
          }
        }
        const autos = sessions.filter(isAuto).sort((left, right) => left.openedAt - right.openedAt);
        if (autos.length === 0) return;
        const shares = counts(autos, after);
        const requested = sessions.flatMap(({ requestedPartitions }) => requestedPartitions).length;
        expect(shares.reduce((sum, share) => sum + share, 0)).to.equal(partitions.length - requested);
        expect(Math.max(...shares) - Math.min(...shares)).to.be.at.most(1);
      }),
    );
  });

  it('never takes a partition from an open stream without a hand-over', () => {
    fc.assert(
      fc.property(situation, ({ sessions, partitions }) => {
        const open = new Set(sessions.map(({ streamId }) => streamId));
        for (const change of rebalance(sessions, partitions)) {
          const before = partitions.find(({ partition }) => partition === change.partition);
          const owner = before?.streamId ?? null;
          if (owner !== null && open.has(owner)) expect(change.streamId).to.equal(owner);
          expect(change.state === 'reassigning').to.equal(change.nextStreamId !== null);
          expect(open.has(change.nextStreamId ?? change.streamId)).to.equal(true);
        }
      }),
    );
  });

  it('moves no more partitions than necessary', () => {
    fc.assert(
      fc.property(situation, ({ sessions, partitions }) => {
        const autos = sessions.filter(isAuto);
        const requested = new Set(
          sessions.flatMap(({ requestedPartitions }) => requestedPartitions.map(({ partition }) => partition)),
        );
        const shared = partitions.filter(({ partition }) => !requested.has(partition));
        if (autos.length === 0 || autos.length > shared.length) return;
        const rebalanced = partitions.map((ownership) => {
          const next = sessions.find(({ streamId }) => streamId === ownership.nextStreamId);
          const owner = sessions.find(({ streamId }) => streamId === ownership.streamId);
          return (next ?? owner)?.streamId;
        });
        const assignedCount = autos
          .map(({ streamId }) => shared.filter(({ partition }) => rebalanced[partition] === streamId).length)
          .sort((left, right) => right - left);
        const base = Math.floor(shared.length / autos.length);
        const kept = assignedCount.map((count, index) =>
          Math.min(count, base + (index < shared.length % autos.length ? 1 : 0)),
        );
        const after = apply(partitions, rebalance(sessions, partitions));
        const moved = after.filter(
          (ownership) =>
            !requested.has(ownership.partition) && effective(ownership) !== rebalanced[ownership.partition],
        );
        expect(moved.length).to.equal(shared.length - kept.reduce((sum, count) => sum + count, 0));
      }),
    );
  });
});
