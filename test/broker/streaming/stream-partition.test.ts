import { expect } from 'chai';
import { describe, it } from 'mocha';
import { frameWithNames, lineEnd, uncommittableLineFrame } from '../../../src/broker/streaming/line-format.ts';
import { ChunkBuilder, type EventRun } from '../../../src/broker/streaming/chunk-builder.ts';
import { StreamPartition } from '../../../src/broker/streaming/stream-partition.ts';
import type { Batch } from '../../support/http/client.ts';
import { numberedEntries, recordBatch } from '../../support/kafka/record-batch.ts';

function partitionBehind(committed: number): StreamPartition {
  return new StreamPartition({ eventType: 'payments', partition: 2, fence: 1 }, committed, 1_000);
}

function receive(partition: StreamPartition, first: number, last: number): void {
  partition.addRecords({ batches: [recordBatch(numberedEntries(first, last))], nextOffset: last + 1 });
}

function send(partition: StreamPartition, events: number, mayMove = true): Batch {
  const chunk = new ChunkBuilder();
  partition.writeLine(chunk, events, 'token', 2_000, mayMove);
  chunk.addText(lineEnd(undefined));
  return JSON.parse(chunk.build().toString()) as Batch;
}

describe('a partition of a stream', () => {
  it('has read and sent nothing at first', () => {
    expect(partitionBehind(6)).to.include({
      readOffset: 7,
      sentThrough: 6,
      committedThrough: 6,
      startsBehindLoss: false,
      reading: false,
      readGeneration: 0,
      readFailure: undefined,
      lastSentAt: 1_000,
      keepAlives: 0,
      eventsOfEndedTimespan: 0,
      overflowing: false,
      handOverUntil: undefined,
    });
  });

  it('reports what it sent without a commit, up to as many events as are searched', () => {
    const partition = partitionBehind(4);
    expect(partition.failedDelivery(3)).to.equal(undefined);
    receive(partition, 5, 9);
    send(partition, 5);
    const failed = { eventType: 'payments', partition: 2, firstOffset: 5 };
    expect(partition.failedDelivery(3)).to.deep.equal({ ...failed, throughOffset: 7 });
    expect(partition.failedDelivery(10)).to.deep.equal({ ...failed, throughOffset: 9 });
    partition.commitThrough(9);
    expect(partition.failedDelivery(3)).to.equal(undefined);
  });

  it('searches until the last event to look at is committed, and holds no event behind a committed one', () => {
    const partition = partitionBehind(4);
    const record = { failures: 3, firstOffset: 5, throughOffset: 7, isOneByOne: true };
    partition.search = { record, isHeld: true, isPassingOver: false, hasLetter: false };
    partition.commitThrough(5);
    expect(partition.search).to.deep.equal({ record, isHeld: false, isPassingOver: false, hasLetter: false });
    partition.commitThrough(6);
    expect(partition.search).to.deep.equal({ record, isHeld: false, isPassingOver: false, hasLetter: false });
    partition.commitThrough(7);
    expect(partition.search).to.equal(undefined);
  });

  it('sends lines with the position of their last event', () => {
    const partition = partitionBehind(-1);
    receive(partition, 0, 4);
    expect(send(partition, 3)).to.deep.equal({
      cursor: { partition: '2', offset: '001-0001-000000000000000002', event_type: 'payments', cursor_token: 'token' },
      events: [0, 1, 2],
    });
    expect(partition).to.include({ events: 2, readOffset: 5, lastSentAt: 2_000 });
    expect(partition.uncommittedEvents).to.equal(3);
  });

  it('counts consecutive keep-alives, which have the last sent position', () => {
    const partition = partitionBehind(-1);
    expect(send(partition, 0).cursor.offset).to.equal('001-0001--1');
    send(partition, 0);
    expect(partition.keepAlives).to.equal(2);
    receive(partition, 0, 0);
    send(partition, 1);
    expect(partition.keepAlives).to.equal(0);
    expect(send(partition, 0).cursor.offset).to.equal('001-0001-000000000000000000');
  });

  it('accepts only commits that move forward', () => {
    const partition = partitionBehind(3);
    receive(partition, 4, 9);
    send(partition, 4);
    expect(partition.commitThrough(3)).to.equal(false);
    expect(partition.commitThrough(5)).to.equal(true);
    expect(partition.uncommittedEvents).to.equal(2);
    expect(partition.commitThrough(5)).to.equal(false);
  });

  it('moves past committed events that were not sent, whether they were read or not', () => {
    const partition = partitionBehind(-1);
    receive(partition, 0, 9);
    partition.commitThrough(4);
    expect(send(partition, 1).events).to.deep.equal([5]);
    const turn = partition.readGeneration;
    partition.commitThrough(20);
    expect(partition).to.include({ readOffset: 21, events: 0 });
    expect(partition.readGeneration).to.be.above(turn);
    expect(partition.uncommittedEvents).to.equal(0);
  });

  it('returns to the position after the last sent event when it is rewound', () => {
    const partition = partitionBehind(-1);
    receive(partition, 0, 9);
    send(partition, 3);
    partition.rewind();
    expect(partition).to.include({ readOffset: 3, events: 0 });
    receive(partition, 3, 5);
    expect(send(partition, 3).events).to.deep.equal([3, 4, 5]);
  });

  it('can commit deletions and gaps without the consumer, once no sent event is uncommitted', () => {
    const partition = partitionBehind(-1);
    const entries = [...numberedEntries(0, 0), { offset: 1, value: null }];
    partition.addRecords({ batches: [recordBatch(entries)], nextOffset: 4 });
    send(partition, 1);
    expect(partition.committableWithoutConsumer).to.equal(undefined);
    partition.commitThrough(1);
    expect(partition.committableWithoutConsumer).to.equal(undefined);
    partition.addRecords({ batches: [], nextOffset: 4 });
    expect(partition.committableWithoutConsumer).to.equal(3);
  });

  it('moves with a line without events behind what a filter passed over, which the consumer has to commit', () => {
    const partition = partitionBehind(4);
    partition.addRecords(
      { batches: [recordBatch(numberedEntries(6, 6))], nextOffset: 9 },
      { offset: 8, appendedAt: 0 },
    );
    expect(partition.isMovedByFilter, 'an event waits').to.equal(false);
    expect(send(partition, 1).cursor.offset).to.equal('001-0001-000000000000000008');
    partition.commitThrough(8);
    partition.addRecords({ batches: [], nextOffset: 12 }, { offset: 11, appendedAt: 0 });
    expect(partition).to.include({ isMovedByFilter: true, committableWithoutConsumer: undefined });
    expect(send(partition, 0, false).cursor.offset).to.equal('001-0001-000000000000000008');
    expect(send(partition, 0).cursor.offset).to.equal('001-0001-000000000000000011');
    expect(partition).to.include({ isMovedByFilter: false, keepAlives: 0, committableWithoutConsumer: undefined });
    partition.addRecords({ batches: [], nextOffset: 14 });
    expect(partition.committableWithoutConsumer).to.equal(undefined);
    expect(send(partition, 0).cursor.offset).to.equal('001-0001-000000000000000011');
    expect(partition.keepAlives).to.equal(1);
    partition.commitThrough(11);
    expect(partition.committableWithoutConsumer).to.equal(13);
  });

  it('never moves back to what a filter passed over before a commit of what was not sent', () => {
    const partition = partitionBehind(4);
    partition.addRecords(
      { batches: [recordBatch(numberedEntries(9, 9))], nextOffset: 12 },
      { offset: 11, appendedAt: 0 },
    );
    partition.commitThrough(7);
    expect(partition.isMovedByFilter).to.equal(false);
    expect(send(partition, 0).cursor.offset).to.equal('001-0001-000000000000000007');
    expect(send(partition, 1).cursor.offset).to.equal('001-0001-000000000000000011');
  });

  it('skips events that retention removed and counts them', () => {
    const partition = partitionBehind(-1);
    expect(partition.skipTo(7)).to.equal(7);
    expect(partition.readOffset).to.equal(7);
    expect(partition.skipTo(5)).to.equal(0);
  });

  it('counts the events of a time span of appends that is over', () => {
    const partition = partitionBehind(-1);
    partition.addRecords({ batches: [recordBatch(numberedEntries(0, 1), false, 1_000)], nextOffset: 2 });
    partition.addRecords({ batches: [recordBatch(numberedEntries(2, 2), false, 5_000)], nextOffset: 3 });
    partition.updateEndedTimespan(3_000);
    expect(partition.eventsOfEndedTimespan).to.equal(2);
    partition.updateEndedTimespan(4_000);
    expect(partition.eventsOfEndedTimespan).to.equal(0);
    partition.updateEndedTimespan(3_000);
    partition.updateEndedTimespan(0);
    expect(partition.eventsOfEndedTimespan, 'without a time span').to.equal(0);
    partition.updateEndedTimespan(3_000);
    send(partition, 3);
    partition.updateEndedTimespan(3_000);
    expect(partition.eventsOfEndedTimespan, 'without a waiting event').to.equal(0);
  });

  it('writes offsets and events as its frame says', () => {
    const frame = {
      ...frameWithNames('shard 2', 'MIXED'),
      formatOffset: (offset: number) => `#${offset + 1}`,
      addRun: (chunk: ChunkBuilder, { from, to }: EventRun) => chunk.addText(`"${from} to ${to}"`),
    };
    const partition = new StreamPartition({ eventType: 'payments', partition: 2, fence: 1 }, -1, 1_000, frame);
    const named = { partition: 'shard 2', event_type: 'MIXED', cursor_token: 'token' };
    expect(send(partition, 0)).to.deep.equal({ cursor: { ...named, offset: '#0' } });
    receive(partition, 0, 4);
    receive(partition, 5, 9);
    const { cursor, events } = send(partition, 7);
    expect([cursor, events]).to.deep.equal([{ ...named, offset: '#7' }, ['0 to 5', '0 to 2']]);
    expect(JSON.parse(partition.cursor('next'))).to.deep.equal({ ...named, offset: '#7', cursor_token: 'next' });
    expect(partition.uncommittedEvents).to.equal(7);
  });

  it('has a plain cursor without commits, which skips deletions and gaps once no event waits before them', () => {
    const frame = uncommittableLineFrame(2);
    const partition = new StreamPartition({ eventType: 'payments', partition: 2, fence: 0 }, -1, 1_000, frame);
    partition.addRecords({ batches: [recordBatch(numberedEntries(0, 1))], nextOffset: 2 });
    expect(send(partition, 0)).to.deep.equal({ cursor: { partition: '2', offset: '001-0001--1' } });
    expect(send(partition, 2)).to.deep.equal({
      cursor: { partition: '2', offset: '001-0001-000000000000000001' },
      events: [0, 1],
    });
    expect(partition.uncommittedEvents).to.equal(0);
    partition.addRecords({ batches: [recordBatch([{ offset: 2, value: null }])], nextOffset: 9 });
    expect(send(partition, 0).cursor.offset).to.equal('001-0001-000000000000000008');
  });
});
