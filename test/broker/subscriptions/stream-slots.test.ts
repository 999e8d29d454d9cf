import { expect } from 'chai';
import { describe, it } from 'mocha';
import { surplusStreams } from '../../../src/broker/subscriptions/stream-slots.ts';
import type { PartitionOwnership, Session } from '../../../src/ports/coordination.ts';
import type { EventTypePartition } from '../../../src/ports/event-type-partition.ts';

function session(streamId: string, openedAt: number, requestedPartitions: EventTypePartition[] = []): Session {
  return { streamId, nodeId: 'node', requestedPartitions, openedAt, commitTimeoutMilliseconds: 0 };
}

function unassigned(partition: number): PartitionOwnership {
  return { eventType: 'payments', partition, state: 'unassigned', streamId: null, nextStreamId: null, fence: 0 };
}

describe('the streams that cannot get a partition', () => {
  const partitions = [0, 1, 2].map(unassigned);

  it('are none while each stream can get one', () => {
    const sessions = [session('a', 1), session('b', 2), session('c', 3)];
    expect(surplusStreams({ sessions, partitions })).to.deep.equal(new Set());
  });

  it('are the latest of those that requested none', () => {
    const taking = session('d', 9, [
      { eventType: 'payments', partition: 0 },
      { eventType: 'payments', partition: 2 },
    ]);
    const sessions = [session('z', 1), session('b', 3), session('c', 2), taking];
    expect(surplusStreams({ sessions, partitions })).to.deep.equal(new Set(['c', 'b']));
  });
});
