import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import { ChunkBuilder, type Chunk, type EventRun } from '../../../src/broker/streaming/chunk-builder.ts';
import type { RecordBatch } from '../../../src/ports/event-log.ts';
import { PartitionBuffer } from '../../../src/broker/streaming/partition-buffer.ts';
import { UncommittedEvents } from '../../../src/broker/streaming/uncommitted-events.ts';
import { numberedEntries, recordBatch } from '../../support/kafka/record-batch.ts';

function sendFrom(buffer: PartitionBuffer, count: number, uncommitted = new UncommittedEvents()): string {
  const runs = buffer.removeNext(count);
  for (const run of runs) uncommitted.addRun(run);
  return runs.map((run) => chunkOf([run]).toString()).join(',');
}

function chunkOf(runs: readonly EventRun[]): Chunk {
  const chunk = new ChunkBuilder();
  for (const run of runs) chunk.addRun(run);
  return chunk.build();
}

describe('the buffer of a partition', () => {
  it('shows the next event, which may come after deletions and in another batch', () => {
    const buffer = new PartitionBuffer(-1);
    expect(buffer.next()).to.equal(undefined);
    buffer.push(
      recordBatch([
        { offset: 2, value: null },
        { offset: 4, value: 'four' },
      ]),
    );
    buffer.push(recordBatch([{ offset: 9, value: 'nine' }]));
    expect([buffer.next()?.offset, buffer.next()?.value.toString()]).to.deep.equal([4, 'four']);
    buffer.removeNext(1);
    expect([buffer.next()?.offset, buffer.next()?.value.toString()]).to.deep.equal([9, 'nine']);
    buffer.removeNext(1);
    expect(buffer.next()).to.equal(undefined);
  });

  it('returns its events in order, across the batches that they came in', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(recordBatch(numberedEntries(0, 2)));
    buffer.push(recordBatch(numberedEntries(3, 5), true));
    buffer.push(recordBatch(numberedEntries(6, 6)));
    const uncommitted = new UncommittedEvents();
    expect(buffer.events).to.equal(7);
    expect(sendFrom(buffer, 2, uncommitted)).to.equal('0,1');
    expect(buffer.passedThrough).to.equal(1);
    expect(sendFrom(buffer, 3, uncommitted)).to.equal('2,3,4');
    expect(sendFrom(buffer, 9, uncommitted)).to.equal('5,6');
    expect(buffer.passedThrough).to.equal(6);
    expect({ events: buffer.events, bytes: buffer.bytes, sent: uncommitted.count }).to.deep.equal({
      events: 0,
      bytes: 0,
      sent: 7,
    });
  });

  it('moves over what a filter passed over when every event before it is sent, and not when they are dropped', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.noteFiltered({ offset: 3, appendedAt: 0 });
    expect(buffer.passedThrough).to.equal(3);
    buffer.push(recordBatch(numberedEntries(5, 6)));
    buffer.noteFiltered({ offset: 9, appendedAt: 0 });
    buffer.skipHolesThrough(9);
    expect(sendFrom(buffer, 1)).to.equal('5');
    expect([buffer.passedThrough, buffer.filteredThrough]).to.deep.equal([5, 9]);
    expect(sendFrom(buffer, 1)).to.equal('6');
    expect(buffer.passedThrough).to.equal(9);
    buffer.push(recordBatch(numberedEntries(11, 11)));
    buffer.noteFiltered({ offset: 14, appendedAt: 0 });
    buffer.clear();
    expect([buffer.passedThrough, buffer.filteredThrough]).to.deep.equal([9, 9]);
    buffer.push(recordBatch(numberedEntries(11, 12)));
    buffer.noteFiltered({ offset: 14, appendedAt: 0 });
    buffer.dropThrough(11);
    expect(buffer.passedThrough).to.equal(11);
    buffer.dropThrough(13);
    expect(buffer.passedThrough).to.equal(14);
  });

  it('takes no memory for what a filter passes over, however much it is', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(recordBatch(numberedEntries(0, 0)));
    for (let offset = 1; offset <= 1_000; offset += 1) buffer.noteFiltered({ offset, appendedAt: offset });
    expect(buffer.removeNext(1)).to.have.length(1);
    expect(buffer.passedThrough).to.equal(1_000);
  });

  it('knows that a span of time is over from what a filter passed over as well', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(recordBatch(numberedEntries(0, 1), false, 100));
    buffer.noteFiltered({ offset: 2, appendedAt: 150 });
    expect(buffer.eventsOfTimespanEndedAt(150)).to.equal(0);
    expect(buffer.eventsOfTimespanEndedAt(149)).to.equal(2);
  });

  it('leaves out deletions and skips them', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(
      recordBatch([
        { offset: 0, value: null },
        { offset: 1, value: 'a' },
        { offset: 2, value: null },
        { offset: 3, value: 'b' },
        { offset: 4, value: null },
      ]),
    );
    expect(buffer.events).to.equal(2);
    expect(buffer.passedThrough).to.equal(0);
    expect(sendFrom(buffer, 1)).to.equal('a');
    expect(buffer.passedThrough).to.equal(2);
    expect(sendFrom(buffer, 1)).to.equal('b');
    expect(buffer.passedThrough).to.equal(4);
  });

  it('releases a batch with the chunk of its last event, and no batch with waiting events', () => {
    const buffer = new PartitionBuffer(-1);
    const released: string[] = [];
    const named = (name: string, first: number, last: number): RecordBatch => ({
      ...recordBatch(numberedEntries(first, last)),
      release: () => released.push(name),
    });
    buffer.push(named('first', 0, 3));
    buffer.push(named('second', 4, 5));
    const chunks = [2, 3, 1].map((count) => chunkOf(buffer.removeNext(count)));
    expect(released).to.deep.equal([]);
    const releasedAfterEach = chunks.map((chunk) => {
      chunk.release();
      return [...released];
    });
    expect(releasedAfterEach).to.deep.equal([[], ['first'], ['first', 'second']]);
  });

  it('skips batches of only deletions, and gaps, only while no events wait before them', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(recordBatch([{ offset: 0, value: null }]));
    expect(buffer.passedThrough).to.equal(0);
    buffer.skipHolesThrough(3);
    expect(buffer.passedThrough).to.equal(3);
    buffer.push(recordBatch([{ offset: 4, value: 'a' }]));
    buffer.skipHolesThrough(9);
    expect(buffer.passedThrough).to.equal(3);
  });

  it('does not accept again what was already sent', () => {
    const buffer = new PartitionBuffer(4);
    buffer.push(recordBatch(numberedEntries(3, 6)));
    expect(sendFrom(buffer, 10)).to.equal('5,6');
  });

  it('drops events that were committed before they were sent', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(recordBatch(numberedEntries(0, 4)));
    buffer.dropThrough(2);
    expect(buffer.events).to.equal(2);
    expect(sendFrom(buffer, 10)).to.equal('3,4');
    buffer.dropThrough(10);
    expect(buffer.passedThrough).to.equal(10);
  });

  it('is empty after it was cleared, and continues after what was sent', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(recordBatch(numberedEntries(0, 4)));
    sendFrom(buffer, 2);
    buffer.clear();
    expect(buffer).to.include({ events: 0, bytes: 0, passedThrough: 1 });
    expect(buffer.oldestAppendedAt()).to.equal(undefined);
    buffer.push(recordBatch(numberedEntries(2, 3)));
    expect(buffer).to.include({ events: 2, bytes: 2 });
    expect(sendFrom(buffer, 9)).to.equal('2,3');
  });

  it('counts the events of a time span of appends once a later one shows that it is over', () => {
    const buffer = new PartitionBuffer(-1);
    buffer.push(recordBatch(numberedEntries(0, 2), false, 1_000));
    buffer.push(recordBatch(numberedEntries(3, 4), false, 2_000));
    expect(buffer.oldestAppendedAt()).to.equal(1_000);
    expect(buffer.eventsOfTimespanEndedAt(2_000)).to.equal(0);
    buffer.push(recordBatch(numberedEntries(5, 5), false, 9_000));
    expect(buffer.eventsOfTimespanEndedAt(2_000)).to.equal(5);
    sendFrom(buffer, 1);
    expect(buffer.eventsOfTimespanEndedAt(2_000)).to.equal(4);
    buffer.push(recordBatch(numberedEntries(6, 6), false, 20_000));
    expect(buffer.eventsOfTimespanEndedAt(9_000)).to.equal(5);
  });

  it('loses, repeats and reorders nothing, however batches and sends are split', () => {
    const entry = fastCheck.record({ gap: fastCheck.nat(2), deleted: fastCheck.boolean() });
    const batch = fastCheck.record({
      entries: fastCheck.array(entry, { minLength: 1, maxLength: 6 }),
      framed: fastCheck.boolean(),
    });
    fastCheck.assert(
      fastCheck.property(
        fastCheck.array(batch, { maxLength: 90 }),
        fastCheck.array(fastCheck.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (batches, takes) => {
          const buffer = new PartitionBuffer(-1);
          const uncommitted = new UncommittedEvents();
          const expected: string[] = [];
          const received: string[] = [];
          let offset = -1;
          for (const [turn, { entries, framed }] of batches.entries()) {
            const made = entries.map(({ gap, deleted }) => {
              offset += gap + 1;
              if (!deleted) expected.push(String(offset));
              return { offset, value: deleted ? null : String(offset) };
            });
            buffer.push(recordBatch(made, framed));
            const sent = sendFrom(buffer, takes[turn % takes.length] ?? 1, uncommitted);
            if (sent !== '') received.push(...sent.split(','));
            expect(uncommitted.count).to.equal(received.length);
            expect(buffer.events).to.equal(expected.length - received.length);
          }
          while (buffer.events > 0) received.push(...sendFrom(buffer, takes[0] ?? 1, uncommitted).split(','));
          expect(received).to.deep.equal(expected);
          expect(buffer.bytes).to.equal(0);
          expect(buffer.passedThrough).to.equal(offset);
        },
      ),
    );
  });
});
