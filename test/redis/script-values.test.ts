import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  decodeHistory,
  decodeOffsets,
  decodeOpenSessionReply,
  decodeTopology,
  encodeFailedDeliveries,
  encodeHistory,
  encodeSession,
  pairs,
} from '../../src/redis/script-values.ts';

describe('the decoded result of a script', () => {
  const session = {
    streamId: 's2',
    nodeId: 'n',
    requestedPartitions: [{ eventType: 'a:b', partition: 3 }],
    openedAt: 5,
    commitTimeoutMilliseconds: 60_000,
  };

  it('is a topology with sessions by stream and partitions in order', () => {
    const other = { ...session, streamId: 's1', requestedPartitions: [] };
    const sessions = ['s2', encodeSession(session), 's1', encodeSession(other)];
    const owners = ['b:1', 'R|s1|s2|7', 'b:0', 'A|s2||12', 'a:b:3', 'U|||0', 'c:0', '?|||1'];
    const offsets = ['b:1', '-1@5', 'a:b:3', '12@6'];
    expect(decodeTopology(['9', '1', sessions, owners, offsets])).to.deep.equal({
      generation: 9,
      resetting: true,
      sessions: [other, session],
      partitions: [
        { eventType: 'a:b', partition: 3, state: 'unassigned', streamId: null, nextStreamId: null, fence: 0 },
        { eventType: 'b', partition: 0, state: 'assigned', streamId: 's2', nextStreamId: null, fence: 12 },
        { eventType: 'b', partition: 1, state: 'reassigning', streamId: 's1', nextStreamId: 's2', fence: 7 },
        { eventType: 'c', partition: 0, state: 'unassigned', streamId: null, nextStreamId: null, fence: 1 },
      ],
      committed: [
        { eventType: 'a:b', partition: 3, offset: 12 },
        { eventType: 'b', partition: 1, offset: -1 },
      ],
    });
    expect(decodeTopology(['0', '0', [], [], []])).to.deep.equal({
      generation: 0,
      resetting: false,
      sessions: [],
      partitions: [],
      committed: [],
    });
  });

  it('is the failure record of a partition that has one', () => {
    const owners = ['a:0', 'A|s||12|2:5:9:0', 'a:1', 'U|||3|0:0:4:1'];
    const { partitions } = decodeTopology(['9', '0', [], owners, []]);
    expect(partitions.map(({ fence, failureRecord }) => ({ fence, ...failureRecord }))).to.deep.equal([
      { fence: 12, failures: 2, firstOffset: 5, throughOffset: 9, isOneByOne: false },
      { fence: 3, failures: 0, firstOffset: 0, throughOffset: 4, isOneByOne: true },
    ]);
  });

  it('is the outcome of opening a session', () => {
    expect(decodeOpenSessionReply(['OPENED'])).to.deep.equal({ outcome: 'opened' });
    expect(decodeOpenSessionReply(['RESETTING'])).to.deep.equal({ outcome: 'resetting' });
    expect(decodeOpenSessionReply(['FULL', '4'])).to.deep.equal({ outcome: 'no_free_slots', totalSlots: 4 });
    const partitions = [
      { eventType: 'a', partition: 2 },
      { eventType: 'a', partition: 10 },
    ];
    expect(decodeOpenSessionReply(['TAKEN', 'a:10', 'a:2'])).to.deep.equal({ outcome: 'partitions_taken', partitions });
  });

  it('is a list of offsets with their epochs', () => {
    const offsets = decodeOffsets(['a:0', '-1@0', 'a:1', '12@3']);
    expect([...offsets]).to.deep.equal([
      ['a:0', { offset: -1, epoch: 0 }],
      ['a:1', { offset: 12, epoch: 3 }],
    ]);
  });

  it('is the history as it was written, with the newest ended stream first', () => {
    const commit = { eventType: 'a', partition: 0, offset: '5', committedAt: 77 };
    const ends = [
      { streamId: 's1', reason: 'Over', endedAt: 1 },
      { streamId: 's2', reason: 'Over', endedAt: 2 },
    ];
    const written = encodeHistory({ lastCommits: [commit], endedStreams: ends });
    expect(written).to.deep.equal([
      1,
      'a:0',
      '{"offset":"5","committedAt":77}',
      2,
      ...ends.toReversed().map((end) => JSON.stringify(end)),
    ]);
    const [count, ...rest] = written.map(String);
    const commits = rest.slice(0, 2 * Number(count));
    const read = decodeHistory(['OK', '44', commits, rest.slice(commits.length + 1).toReversed()]);
    expect(read).to.deep.equal({ since: 44, lastCommits: [commit], endedStreams: ends });
  });

  it('is split into pairs', () => {
    expect(pairs([])).to.deep.equal([]);
    expect(pairs(['a', '1', 'b', '2'])).to.deep.equal([
      ['a', '1'],
      ['b', '2'],
    ]);
  });
});

describe('the values of a closed session', () => {
  it('are its failed deliveries, or none', () => {
    expect(encodeFailedDeliveries(undefined)).to.deep.equal([]);
    expect(encodeFailedDeliveries({ failuresMaximum: 3, partitions: [] })).to.deep.equal([3]);
    const partitions = [
      { eventType: 'a:b', partition: 1, firstOffset: 5, throughOffset: 9 },
      { eventType: 'c', partition: 0, firstOffset: 0, throughOffset: 0 },
    ];
    expect(encodeFailedDeliveries({ failuresMaximum: 2, partitions })).to.deep.equal([2, 'a:b:1', 5, 9, 'c:0', 0, 0]);
  });
});
