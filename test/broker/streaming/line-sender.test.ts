import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { Chunk } from '../../../src/broker/streaming/chunk-builder.ts';
import type { PartitionOwnership } from '../../../src/ports/coordination.ts';
import { parseOffset } from '../../../src/broker/cursors/cursor-text.ts';
import { AssignedPartitions, bufferBytesMaximum } from '../../../src/broker/streaming/assigned-partitions.ts';
import { readStreamParameters } from '../../../src/broker/streaming/stream-parameters.ts';
import { chunkBytesTarget, LineSender } from '../../../src/broker/streaming/line-sender.ts';
import type { Batch } from '../../support/http/client.ts';
import { numberedEntries, recordBatch } from '../../support/kafka/record-batch.ts';

function prepare(
  partitionCount: number,
  source: Record<string, unknown>,
): { assigned: AssignedPartitions; sender: LineSender } {
  const assigned = new AssignedPartitions();
  const gained = Array.from({ length: partitionCount }, (_, partition): PartitionOwnership => {
    return { eventType: 'payments', partition, state: 'assigned', streamId: 'me', nextStreamId: null, fence: 1 };
  });
  const bounds = gained.map(({ partition }) => ({ topic: 'payments', partition, earliest: 0, latest: 0 }));
  assigned.adopt(gained, bounds, [], 0, 0);
  return { assigned, sender: new LineSender(readStreamParameters(source, new Map(), 0.5), assigned) };
}

function fill(assigned: AssignedPartitions, events: number): void {
  for (const partition of assigned.list) {
    partition.addRecords({ batches: [recordBatch(numberedEntries(0, events - 1))], nextOffset: events });
  }
}

function batches(bytes: Chunk | undefined): Batch[] {
  const lines = bytes?.toString().split('\n') ?? [];
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Batch);
}

describe('what a stream sends', () => {
  it('is every line that is due, one batch per partition in turn, up to the window', () => {
    const { assigned, sender } = prepare(2, { batch_limit: 2, max_uncommitted_events: 7 });
    fill(assigned, 10);
    const sent = batches(sender.nextChunk(1));
    expect(sent.map(({ cursor, events }) => [cursor.partition, events?.length])).to.deep.equal([
      ['0', 2],
      ['1', 2],
      ['0', 2],
      ['1', 1],
    ]);
    expect(sender.sentEvents).to.equal(7);
    expect(sender.nextChunk(2)).to.equal(undefined);
  });

  it('begins with another partition each time, so that none takes the whole window for ever', () => {
    const { assigned, sender } = prepare(2, { max_uncommitted_events: 1 });
    fill(assigned, 5);
    const first = batches(sender.nextChunk(1))[0]?.cursor.partition;
    for (const partition of assigned.list) partition.commitThrough(0);
    const second = batches(sender.nextChunk(1))[0]?.cursor.partition;
    expect([first, second]).to.have.members(['0', '1']);
  });

  describe('while the event is searched for that the consumer cannot process', () => {
    /** Partition 0 is searched through offset 4. Lines are `partition:first event to last`. */
    function searching(source: Record<string, unknown>) {
      const { assigned, sender } = prepare(2, { batch_limit: 3, ...source });
      fill(assigned, 20);
      const [searched, other] = assigned.list;
      if (searched === undefined || other === undefined) throw new Error('Two partitions were adopted.');
      const record = { failures: 0, firstOffset: 0, throughOffset: 4, isOneByOne: true };
      searched.search = { record, isHeld: false, isPassingOver: false, hasLetter: false };
      const sent = (now = 1): string[] =>
        batches(sender.nextChunk(now)).map(
          ({ cursor, events = [] }) => `${cursor.partition}:${events.map(String).join(' ')}`,
        );
      return { searched, other, sent };
    }

    it('moves no cursor behind what a filter passes over before that event is committed', () => {
      const { assigned, sender } = prepare(2, { batch_limit: 3, batch_flush_timeout: 1 });
      const [searched, other] = assigned.list;
      if (searched === undefined || other === undefined) throw new Error('Two partitions were adopted.');
      const record = { failures: 0, firstOffset: 0, throughOffset: 1, isOneByOne: true };
      searched.search = { record, isHeld: false, isPassingOver: false, hasLetter: false };
      const read = { batches: [recordBatch([0, 1, 3].flatMap((number) => numberedEntries(number, number)))] };
      searched.addRecords({ ...read, nextOffset: 5 }, { offset: 4, appendedAt: 0 });
      const sent = (now: number): string[] =>
        batches(sender.nextChunk(now)).map(({ cursor, events = [] }) => {
          return `${cursor.partition}:${parseOffset(cursor.offset)}:${events.map(String).join(' ')}`;
        });
      other.addRecords({ batches: [], nextOffset: 8 }, { offset: 7, appendedAt: 0 });
      expect(sent(1)).to.deep.equal(['0:0:0']);
      expect(sent(10_000)).to.have.members(['0:0:', '1:-1:']);
      searched.commitThrough(0);
      expect(sent(20_000), 'the next event, and the other partition in between').to.have.members(['0:1:1', '1:7:']);
      other.addRecords({ batches: [], nextOffset: 9 }, { offset: 8, appendedAt: 0 });
      expect(sent(30_000)).to.have.members(['0:1:', '1:7:']);
      searched.commitThrough(1);
      expect(sent(40_000), 'the search is over').to.have.members(['0:4:3', '1:8:']);
    });

    it('is one event alone, and nothing else of any partition until it is committed', () => {
      const { searched, sent } = searching({ max_uncommitted_events: 10 });
      expect(sent()).to.deep.equal(['0:0']);
      expect(sent()).to.deep.equal([]);
      searched.commitThrough(0);
      expect(sent(), 'now the other has its turn').to.deep.equal(['1:0 1 2']);
      expect(sent(), 'which has to be committed before the next event').to.deep.equal([]);
    });

    it('is one batch of each other partition in between', () => {
      const { searched, other, sent } = searching({ max_uncommitted_events: 10 });
      const turns = [sent()];
      searched.commitThrough(0);
      turns.push(sent());
      other.commitThrough(2);
      turns.push(sent());
      searched.commitThrough(1);
      turns.push(sent());
      other.commitThrough(5);
      turns.push(sent());
      expect(turns).to.deep.equal([['0:0'], ['1:0 1 2'], ['0:1'], ['1:3 4 5'], ['0:2']]);
    });

    it('is everything again when the last event to look at is committed', () => {
      const { searched, sent } = searching({ max_uncommitted_events: 7 });
      searched.commitThrough(3);
      expect(sent()).to.deep.equal(['0:4']);
      searched.commitThrough(4);
      expect(sent().sort()).to.deep.equal(['0:5 6 7', '1:0 1 2', '1:3']);
    });

    it('is not the event that is held, while the other partitions go on', () => {
      const { searched, sent } = searching({ max_uncommitted_events: 7 });
      if (searched.search !== undefined) searched.search.isHeld = true;
      expect(sent()).to.deep.equal(['1:0 1 2', '1:3 4 5', '1:6']);
    });

    it('is a keep-alive of each partition when nothing else may be sent', () => {
      const { sent } = searching({ max_uncommitted_events: 10, batch_flush_timeout: 1 });
      expect(sent()).to.deep.equal(['0:0']);
      expect(sent(1_001).sort()).to.deep.equal(['0:', '1:']);
    });

    it('is the next event when its turn came before keep-alives', () => {
      const { searched, other, sent } = searching({ max_uncommitted_events: 10, batch_flush_timeout: 1 });
      expect(sent()).to.deep.equal(['0:0']);
      searched.commitThrough(0);
      expect(sent()).to.deep.equal(['1:0 1 2']);
      expect(sent(1_001).sort()).to.deep.equal(['0:', '1:']);
      other.commitThrough(2);
      expect(sent(1_001)).to.deep.equal(['0:1']);
    });
  });

  it('has one line that reports the start of the stream and the events lost to retention', () => {
    const { assigned, sender } = prepare(1, {});
    fill(assigned, 3);
    assigned.notices.countSkippedOffsets(4);
    const infos = batches(sender.nextChunk(1)).map(({ info }) => info?.debug);
    expect(infos).to.deep.equal([
      'Stream started; skipped events due to retention time passed, count: 4 at most',
      undefined,
      undefined,
    ]);
  });

  it('has one line that reports the unreadable records of other producers', () => {
    const { assigned, sender } = prepare(1, {});
    fill(assigned, 1);
    sender.nextChunk(1);
    assigned.notices.countUnreadableRecords(2);
    fill(assigned, 2);
    const infos = batches(sender.nextChunk(2)).map(({ info }) => info?.debug);
    expect(infos).to.deep.equal(['skipped records that are not JSON, count: 2']);
  });

  for (const [title, failing] of [
    ['while its events are collected', 'valueEnds'],
    ['while its bytes are copied', 'copy'],
  ] as const) {
    it(`has no bytes of another stream that failed ${title}`, () => {
      const own = prepare(1, {});
      const other = prepare(1, {});
      fill(own.assigned, 2);
      const batch = recordBatch(numberedEntries(100, 101), true);
      const failure = new Error('No memory.');
      const fail = (): never => {
        throw failure;
      };
      if (failing === 'copy') Object.assign(batch.bytes, { copy: fail });
      let reads = 0;
      const broken = {
        ...batch,
        // Read a few times before it is sent.
        get valueEnds() {
          reads += 1;
          return failing === 'valueEnds' && reads > 2 ? fail() : batch.valueEnds;
        },
      };
      other.assigned.list[0]?.addRecords({ batches: [broken], nextOffset: 102 });
      expect(() => other.sender.nextChunk(1)).to.throw('No memory.');
      expect(batches(own.sender.nextChunk(1)).flatMap(({ events }) => events ?? [])).to.deep.equal([0, 1]);
    });
  }

  it('is split into writes of a limited size', () => {
    const { assigned, sender } = prepare(1, { batch_limit: 1, max_uncommitted_events: 1_000 });
    const value = JSON.stringify('x'.repeat(10_000));
    const entries = Array.from({ length: 100 }, (_, offset) => ({ offset, value }));
    assigned.list[0]?.addRecords({ batches: [recordBatch(entries)], nextOffset: 100 });
    expect(sender.nextChunk(1)?.length).to.be.within(256 * 1024, 300 * 1024);
  });

  it('has no further line in a write from the size on at which it is split', () => {
    const { assigned, sender } = prepare(1, { batch_limit: 1, max_uncommitted_events: 1_000 });
    let offset = 0;
    const write = (...values: string[]): Chunk | undefined => {
      const entries = values.map((value, index) => ({ offset: offset + index, value }));
      offset += values.length;
      assigned.list[0]?.addRecords({ batches: [recordBatch(entries)], nextOffset: offset });
      return sender.nextChunk(1);
    };
    write('0');
    const bytesBeside = (write('0')?.length ?? 0) - '0'.length - '}\n'.length;
    const linesFrom = (bytes: number): number => {
      const first = JSON.stringify('x'.repeat(bytes - bytesBeside - '""'.length));
      return batches(write(first, '0')).length;
    };
    expect(linesFrom(chunkBytesTarget - 1)).to.equal(2);
    expect(linesFrom(chunkBytesTarget)).to.equal(1);
  });

  it('includes an incomplete batch, and says so, when the memory is full', () => {
    const { assigned, sender } = prepare(2, { batch_limit: 1_000, max_uncommitted_events: 1_000 });
    const value = JSON.stringify('x'.repeat(bufferBytesMaximum / 4));
    const entries = Array.from({ length: 4 }, (_, offset) => ({ offset, value }));
    assigned.list[1]?.addRecords({ batches: [recordBatch(entries)], nextOffset: 4 });
    const [batch, ...others] = batches(sender.nextChunk(1));
    expect(others).to.deep.equal([]);
    expect(batch?.cursor.partition).to.equal('1');
    expect(batch?.events).to.have.length(4);
    expect(batch?.info?.debug).to.equal('Stream started; Stream parameters are causing overflow');
  });

  it('includes the incomplete batch of the first of the largest partitions alone when the memory is full', () => {
    const { assigned, sender } = prepare(3, { batch_limit: 1_000, max_uncommitted_events: 1_000 });
    for (const [index, bytes] of [1_000, bufferBytesMaximum / 2, bufferBytesMaximum / 2].entries()) {
      const batch = recordBatch([{ offset: 0, value: JSON.stringify('x'.repeat(bytes)) }]);
      assigned.list[index]?.addRecords({ batches: [batch], nextOffset: 1 });
    }
    expect(batches(sender.nextChunk(1)).map(({ cursor }) => cursor.partition)).to.deep.equal(['1']);
  });

  it('includes no incomplete batch once the memory is free again', () => {
    const { assigned, sender } = prepare(1, { batch_limit: 1_000, max_uncommitted_events: 1_000 });
    const [partition] = assigned.list;
    const value = JSON.stringify('x'.repeat(bufferBytesMaximum / 4));
    const entries = Array.from({ length: 4 }, (_, offset) => ({ offset, value }));
    partition?.addRecords({ batches: [recordBatch(entries)], nextOffset: 4 });
    expect(batches(sender.nextChunk(1)).map(({ events }) => events?.length)).to.deep.equal([4]);
    partition?.addRecords({ batches: [recordBatch(numberedEntries(4, 5))], nextOffset: 6 });
    expect(sender.nextChunk(2)).to.equal(undefined);
  });

  it('ends with the waiting events, if requested, and then the reason', () => {
    const { assigned, sender } = prepare(1, { batch_limit: 100 });
    fill(assigned, 3);
    const [lastLinePartition] = assigned.list;
    if (lastLinePartition === undefined) throw new Error('A partition is held.');
    const sent = batches(sender.lastChunk([lastLinePartition], { debug: 'Over', code: 'over' }, 1, true));
    expect(sent.map(({ events }) => events?.length)).to.deep.equal([3, undefined]);
    expect(sent[1]?.info).to.deep.equal({ debug: 'Over', code: 'over' });
    expect(batches(sender.lastChunk([lastLinePartition], { debug: 'Over' }, 1, false))).to.have.length(1);
  });

  it('ends with a line for each requested partition, or with the last events, and the reason on the last line', () => {
    const { assigned, sender } = prepare(2, { batch_limit: 100 });
    const over = { debug: 'Over', code: 'over' };
    const lines = batches(sender.lastChunk(assigned.list, over, 1, true));
    expect(lines.map(({ cursor, info }) => [cursor.partition, info])).to.deep.equal([
      ['0', undefined],
      ['1', over],
    ]);
    fill(assigned, 3);
    const last = batches(sender.lastChunk([], over, 1, true)).at(-1);
    expect([last?.events?.length, last?.info]).to.deep.equal([3, over]);
  });

  it('computes the info of the last line after its events', () => {
    const { assigned, sender } = prepare(1, { batch_limit: 1 });
    fill(assigned, 1);
    sender.nextChunk(1);
    for (const partition of assigned.list) partition.commitThrough(0);
    assigned.list[0]?.addRecords({ batches: [recordBatch(numberedEntries(1, 2))], nextOffset: 3 });
    const chunk = sender.nextChunk(2, () => ({ debug: `After ${sender.sentEvents} events` }));
    expect(batches(chunk).map(({ info }) => info?.debug)).to.deep.equal([undefined, 'After 3 events']);
  });

  it('is empty after the limit of a stream without commits, even without keep-alives', () => {
    const assigned = prepare(2, {}).assigned;
    const rules = { ...readStreamParameters({ stream_limit: 1 }, new Map(), 0.5), uncommittedEventsMaximum: Infinity };
    const sender = new LineSender(rules, assigned, false);
    fill(assigned, 3);
    expect(batches(sender.nextChunk(1_000_000)).map(({ events, info }) => [events, info])).to.deep.equal([
      [[0], undefined],
    ]);
    expect(sender.nextChunk(2_000_000)).to.equal(undefined);
  });

  it('has no event of a partition that is being reassigned', () => {
    const { assigned, sender } = prepare(1, {});
    fill(assigned, 3);
    for (const partition of assigned.list) partition.handOverUntil = 10_000;
    expect(sender.nextChunk(1)).to.equal(undefined);
  });
});
