import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { RecordBatch } from '../../../src/ports/event-log.ts';
import { toTimestamp } from '../../../src/clock.ts';
import { writeEndOfDay } from '../../../src/lending-format/command-format.ts';
import { PendingCommands, waitingEndsOfDaysMaximum } from '../../../src/worker/pending-commands.ts';

const nothingDone = { position: null, decidedAheadTo: null };
const receivedAt = Date.UTC(2026, 0, 31, 12);

function endOfDay(partition = 0): string {
  const { eid, occurredAt, fieldsText } = writeEndOfDay(partition, '2026-01-30', receivedAt);
  const metadata = { eid, occurred_at: occurredAt, received_at: toTimestamp(receivedAt) };
  return `{"metadata":${JSON.stringify(metadata)},${fieldsText}}`;
}

/** A batch of these commands, from that offset on. */
function batchOf(values: readonly string[], from = 0): RecordBatch {
  const lengths = values.map((value) => Buffer.byteLength(value));
  const ends = lengths.map((_, index) => lengths.slice(0, index + 1).reduce((sum, length) => sum + length, 0));
  return {
    topic: 'commands',
    partition: 0,
    count: values.length,
    appendedAt: receivedAt,
    bytes: Buffer.from(values.join('')),
    offsets: Float64Array.from(values, (_, index) => from + index),
    valueStarts: Uint32Array.from(ends, (end, index) => end - (lengths[index] ?? 0)),
    valueEnds: Uint32Array.from(ends),
    contiguous: false,
    key: () => null,
    release: undefined,
  };
}

const offsetsOf = (pending: PendingCommands): number[] => [...pending].map(({ command }) => command.offset);

describe('pending commands', () => {
  it('are read while only ends of days wait, and of those at most a thousand', () => {
    const pending = new PendingCommands();
    expect([pending.isEmpty, pending.isReadable]).to.deep.equal([true, true]);
    pending.add([batchOf(Array.from({ length: waitingEndsOfDaysMaximum - 1 }, () => endOfDay()))], nothingDone);
    expect([pending.isEmpty, pending.isReadable]).to.deep.equal([false, true]);
    pending.add([batchOf([endOfDay()], waitingEndsOfDaysMaximum - 1)], nothingDone);
    expect(pending.isReadable).to.equal(false);
    pending.removeDone({ position: 0, decidedAheadTo: null });
    expect(pending.isReadable).to.equal(true);
    pending.add([batchOf(['{}'], waitingEndsOfDaysMaximum)], nothingDone);
    expect(pending.isReadable).to.equal(false);
  });

  it('keep the ends of days that others passed', () => {
    const pending = new PendingCommands();
    // The end of a day of another partition is refused, which any command may be that passes.
    expect(pending.add([batchOf([endOfDay(), '{}', endOfDay(), endOfDay(1), '{}'], 10)], nothingDone)).to.equal(true);
    expect(pending.endsOfDays).to.deep.equal([10, 12]);
    expect([...pending.passing()].map(({ offset }) => offset)).to.deep.equal([11, 13, 14]);
    pending.removeDone({ position: 9, decidedAheadTo: 13 });
    expect(offsetsOf(pending)).to.deep.equal([10, 12, 14]);
    pending.removeDone({ position: 11, decidedAheadTo: 14 });
    expect(offsetsOf(pending)).to.deep.equal([12]);
    expect(pending.beginsWithEndOfDay).to.equal(true);
    pending.removeDone({ position: 14, decidedAheadTo: null });
    expect([pending.isEmpty, pending.beginsWithEndOfDay]).to.deep.equal([true, false]);
  });

  it('that are done already are left out when they are read again', () => {
    const pending = new PendingCommands();
    expect(pending.add([batchOf([endOfDay(), '{}', endOfDay(), '{}'])], { position: 0, decidedAheadTo: 3 })).to.equal(
      true,
    );
    expect(offsetsOf(pending)).to.deep.equal([2]);
    expect(pending.add([batchOf(['{}'], 3)], { position: 1, decidedAheadTo: 3 })).to.equal(false);
  });
});
