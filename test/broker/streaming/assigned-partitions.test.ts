import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ChunkBuilder } from '../../../src/broker/streaming/chunk-builder.ts';
import type { PartitionOwnership } from '../../../src/ports/coordination.ts';
import { AssignedPartitions } from '../../../src/broker/streaming/assigned-partitions.ts';
import { numberedEntries, recordBatch } from '../../support/kafka/record-batch.ts';

function owned(partition: number, changes: Partial<PartitionOwnership> = {}): PartitionOwnership {
  return {
    eventType: 'payments',
    partition,
    state: 'assigned',
    streamId: 'me',
    nextStreamId: null,
    fence: 1,
    ...changes,
  };
}

/** Has partitions 0 to `count` - 1, starting after the given offset. */
function assignedPartitions(count: number, committed = -1, earliest = 0): AssignedPartitions {
  const assigned = new AssignedPartitions();
  const gained = Array.from({ length: count }, (_, partition) => owned(partition));
  const bounds = gained.map(({ partition }) => ({ topic: 'payments', partition, earliest, latest: 100 }));
  const offsets = gained.map(({ eventType, partition }) => ({ eventType, partition, offset: committed }));
  assigned.adopt(gained, bounds, offsets, 0, 500);
  return assigned;
}

function send(assigned: AssignedPartitions, index: number, events: number): void {
  const partition = assigned.list[index];
  partition?.addRecords({ batches: [recordBatch(numberedEntries(0, events - 1))], nextOffset: events });
  partition?.writeLine(new ChunkBuilder(), events, 'token', 0);
}

describe('the partitions assigned to a stream', () => {
  it('begin after the committed offset', () => {
    const [partition] = assignedPartitions(1, 41).list;
    expect(partition).to.include({ readOffset: 42, sentThrough: 41 });
  });

  it('begin at the oldest available event, and count the lost ones', () => {
    const assigned = assignedPartitions(2, 4, 10);
    expect(assigned.list.map(({ readOffset }) => readOffset)).to.deep.equal([10, 10]);
    expect(assigned.list[0]).to.include({ startsBehindLoss: true });
    assigned.list[0]?.commitThrough(10);
    expect(assigned.list[0]).to.include({ startsBehindLoss: false });
    expect(assignedPartitions(1, 9, 10).list[0]).to.include({ startsBehindLoss: false });
    expect(assigned.notices.take()).to.deep.equal(['skipped events due to retention time passed, count: 10 at most']);
  });

  it('are full when they hold as many bytes as the stream may buffer', () => {
    const [partition] = assignedPartitions(1).list;
    partition?.addRecords({ batches: [recordBatch(numberedEntries(0, 9))], nextOffset: 10 });
    expect(new AssignedPartitions(partition === undefined ? [] : [partition], 11).isFull()).to.equal(false);
    expect(new AssignedPartitions(partition === undefined ? [] : [partition], 10).isFull()).to.equal(true);
  });

  it('are missing while they are owned and not yet read', () => {
    expect(assignedPartitions(2).missing([owned(0), owned(2)])).to.deep.equal([owned(2)]);
  });

  it('add up the uncommitted events, and accept commits only of their own partitions', () => {
    const assigned = assignedPartitions(2);
    send(assigned, 0, 3);
    send(assigned, 1, 2);
    expect(assigned.uncommittedEvents()).to.equal(5);
    expect(assigned.applyCommits([{ eventType: 'payments', partition: 7, offset: 1 }])).to.equal(false);
    expect(assigned.applyCommits([{ eventType: 'payments', partition: 0, offset: 1 }])).to.equal(true);
    expect(assigned.uncommittedEvents()).to.equal(3);
    expect(assigned.bufferedBytes()).to.equal(0);
  });

  it('are released when they are no longer owned', () => {
    const assigned = assignedPartitions(3);
    expect(assigned.keepOwned([owned(0), owned(1)], 500)).to.equal(true);
    expect(assigned.list.map(({ partition }) => partition)).to.deep.equal([0, 1]);
    expect(assigned.keepOwned([owned(0), owned(1)], 500)).to.equal(false);
  });

  it('continue at their position when they return under another lease epoch before their loss was detected', () => {
    const assigned = assignedPartitions(2);
    send(assigned, 0, 3);
    expect(assigned.keepOwned([owned(0, { fence: 7 }), owned(1)], 500)).to.equal(false);
    expect(assigned.list[0]).to.include({ fence: 7, sentThrough: 2, readOffset: 3 });
    expect(assigned.uncommittedEvents()).to.equal(3);
    expect(assigned.missing([owned(0, { fence: 7 }), owned(1)])).to.deep.equal([]);
  });

  it('stop when they are reassigned and are removed once all that was sent is committed', () => {
    const assigned = assignedPartitions(2);
    send(assigned, 0, 2);
    const leaving = owned(0, { state: 'reassigning', nextStreamId: 'you' });
    expect(assigned.keepOwned([leaving, owned(1)], 500)).to.equal(true);
    expect(assigned.list[0]?.handOverUntil).to.equal(500);
    expect(assigned.keepOwned([leaving, owned(1)], 900)).to.equal(false);
    expect(assigned.list[0]?.handOverUntil, 'the wait is not prolonged').to.equal(500);
    expect(assigned.removeHandedOver()).to.deep.equal([]);
    assigned.applyCommits([{ eventType: 'payments', partition: 0, offset: 1 }]);
    expect(assigned.removeHandedOver().map(({ partition }) => partition)).to.deep.equal([0]);
    expect(assigned.list.map(({ partition }) => partition)).to.deep.equal([1]);
  });

  it('stay while an event of theirs is being passed over, so that one stream writes its letter', () => {
    const assigned = assignedPartitions(2);
    const leaving = { state: 'reassigning', nextStreamId: 'you' } as const;
    assigned.keepOwned([owned(0, leaving), owned(1, leaving)], 500);
    const record = { failures: 2, firstOffset: 0, throughOffset: 4, isOneByOne: true };
    const search = { record, isHeld: true, isPassingOver: true, hasLetter: false };
    if (assigned.list[0] !== undefined) assigned.list[0].search = search;
    expect(assigned.removeHandedOver().map(({ partition }) => partition)).to.deep.equal([1]);
    expect(assigned.removeHandedOver()).to.deep.equal([]);
    search.isPassingOver = false;
    expect(assigned.removeHandedOver().map(({ partition }) => partition)).to.deep.equal([0]);
  });

  it('are removed when all of them go to other streams', () => {
    const assigned = assignedPartitions(2);
    const leaving = { state: 'reassigning', nextStreamId: 'you' } as const;
    assigned.keepOwned([owned(0, leaving), owned(1, leaving)], 500);
    expect(assigned.removeHandedOver().map(({ partition }) => partition)).to.deep.equal([0, 1]);
    expect(assigned.list).to.deep.equal([]);
  });

  it('continue when the reassignment is cancelled', () => {
    const assigned = assignedPartitions(1);
    assigned.keepOwned([owned(0, { state: 'reassigning', nextStreamId: 'you' })], 500);
    assigned.keepOwned([owned(0)], 900);
    expect(assigned.list[0]?.handOverUntil).to.equal(undefined);
    expect(assigned.removeHandedOver()).to.deep.equal([]);
  });

  it('report whether an offset can be committed that no consumer can commit', () => {
    const assigned = assignedPartitions(1);
    expect(assigned.hasCommittableWithoutConsumer()).to.equal(false);
    assigned.list[0]?.addRecords({ batches: [], nextOffset: 5 });
    expect(assigned.hasCommittableWithoutConsumer()).to.equal(true);
  });
});
