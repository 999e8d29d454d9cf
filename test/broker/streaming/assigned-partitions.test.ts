import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ChunkBuilder } from '../../../src/broker/streaming/batch-line.ts';
import type { PartitionOwnership } from '../../../src/ports/coordination.ts';
import { HeldPartitions } from '../../../src/broker/streaming/assigned-partitions.ts';
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

/** Holds partitions 0 to `count` - 1 behind the given offset. */
function holding(count: number, committed = -1, earliest = 0): HeldPartitions {
  const held = new HeldPartitions();
  const gained = Array.from({ length: count }, (_, partition) => owned(partition));
  const bounds = gained.map(({ partition }) => ({ topic: 'payments', partition, earliest, latest: 100 }));
  const offsets = gained.map(({ eventType, partition }) => ({ eventType, partition, offset: committed }));
  held.adopt(gained, bounds, offsets, 0, 500);
  return held;
}

function send(held: HeldPartitions, index: number, events: number): void {
  const partition = held.list[index];
  partition?.received({ batches: [recordBatch(numberedEntries(0, events - 1))], nextOffset: events });
  partition?.sendInto(new ChunkBuilder(), events, 'token', undefined, 0);
}

describe('the partitions a stream holds', () => {
  it('begin behind what was committed', () => {
    const [partition] = holding(1, 41).list;
    expect(partition).to.include({ readOffset: 42, sentThrough: 41 });
  });

  it('begin at what retention left, and count what is lost', () => {
    const held = holding(2, 4, 10);
    expect(held.list.map(({ readOffset }) => readOffset)).to.deep.equal([10, 10]);
    expect(held.skippedOffsets).to.equal(10);
  });

  it('are those that are owned and not held yet', () => {
    expect(holding(2).missing([owned(0), owned(2)])).to.deep.equal([owned(2)]);
  });

  it('add up what is out, and take commits of their own partitions only', () => {
    const held = holding(2);
    send(held, 0, 3);
    send(held, 1, 2);
    expect(held.uncommittedEvents()).to.equal(5);
    expect(held.takeCommits([{ eventType: 'payments', partition: 7, offset: 1 }])).to.equal(false);
    expect(held.takeCommits([{ eventType: 'payments', partition: 0, offset: 1 }])).to.equal(true);
    expect(held.uncommittedEvents()).to.equal(3);
    expect(held.bufferedBytes()).to.equal(0);
  });

  it('are let go when they are owned no more', () => {
    const held = holding(3);
    expect(held.keepOwned([owned(0), owned(1)], 500)).to.equal(true);
    expect(held.list.map(({ partition }) => partition)).to.deep.equal([0, 1]);
    expect(held.keepOwned([owned(0), owned(1)], 500)).to.equal(false);
  });

  it('go on where they are when they come back under another fence before their loss was noticed', () => {
    const held = holding(2);
    send(held, 0, 3);
    expect(held.keepOwned([owned(0, { fence: 7 }), owned(1)], 500)).to.equal(false);
    expect(held.list[0]).to.include({ fence: 7, sentThrough: 2, readOffset: 3 });
    expect(held.uncommittedEvents()).to.equal(3);
    expect(held.missing([owned(0, { fence: 7 }), owned(1)])).to.deep.equal([]);
  });

  it('stop when they change hands and go once all that was sent is committed', () => {
    const held = holding(2);
    send(held, 0, 2);
    const leaving = owned(0, { state: 'reassigning', nextStreamId: 'you' });
    expect(held.keepOwned([leaving, owned(1)], 500)).to.equal(true);
    expect(held.list[0]?.handOverUntil).to.equal(500);
    expect(held.keepOwned([leaving, owned(1)], 900)).to.equal(false);
    expect(held.list[0]?.handOverUntil, 'the wait is not prolonged').to.equal(500);
    expect(held.takeHandedOver()).to.deep.equal([]);
    held.takeCommits([{ eventType: 'payments', partition: 0, offset: 1 }]);
    expect(held.takeHandedOver().map(({ partition }) => partition)).to.deep.equal([0]);
    expect(held.list.map(({ partition }) => partition)).to.deep.equal([1]);
  });

  it('go on when they stay after all', () => {
    const held = holding(1);
    held.keepOwned([owned(0, { state: 'reassigning', nextStreamId: 'you' })], 500);
    held.keepOwned([owned(0)], 900);
    expect(held.list[0]?.handOverUntil).to.equal(undefined);
    expect(held.takeHandedOver()).to.deep.equal([]);
  });

  it('know whether something can be committed that no consumer can commit', () => {
    const held = holding(1);
    expect(held.hasPassed()).to.equal(false);
    held.list[0]?.received({ batches: [], nextOffset: 5 });
    expect(held.hasPassed()).to.equal(true);
  });
});
