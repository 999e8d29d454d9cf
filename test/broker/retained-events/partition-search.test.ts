import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PartitionSearch, type Direction } from '../../../src/broker/retained-events/partition-search.ts';
import { SearchBudget, searchBounds } from '../../../src/broker/retained-events/search-budget.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import type { EventLog, RecordBatch } from '../../../src/ports/event-log.ts';
import { codeOf } from '../../support/log-reading.ts';
import { recordBatch } from '../../support/kafka/record-batch.ts';

/** A log with batches of ten events that holds those from `earliest` on, and counts the memory that is in use. */
function logOf(eventCount: number, bytesEach: number, earliest = 0) {
  const state = { reads: 0, inUse: 0, inUseAtMost: 0 };
  const batchAt = (first: number): RecordBatch => {
    const entries = Array.from({ length: 10 }, (_, index) => {
      return { offset: first + index, value: JSON.stringify({ number: first + index, text: 'x'.repeat(bytesEach) }) };
    });
    const batch = recordBatch(entries, true, first);
    const { length } = batch.bytes;
    state.inUse += length;
    state.inUseAtMost = Math.max(state.inUse, state.inUseAtMost);
    return { ...batch, release: () => (state.inUse -= length) };
  };
  const read = (({ offset }, { bytesMaximum }) => {
    state.reads += 1;
    if (offset < earliest) {
      return Promise.reject(new LendstreamError('OFFSET_OUT_OF_RANGE', '', { details: { earliest } }));
    }
    const batches: RecordBatch[] = [];
    let bytes = 0;
    let next = offset - (offset % 10);
    for (; next < eventCount && bytes < bytesMaximum; next += 10) {
      const batch = batchAt(next);
      batches.push(batch);
      bytes += batch.bytes.length;
    }
    return Promise.resolve({ batches, nextOffset: Math.max(next, offset) });
  }) satisfies EventLog['read'];
  return { log: { read }, state };
}

/** Text of JSON, so that a batch of its own takes 100 bytes: one byte is before it. */
const text = `"${'x'.repeat(97)}"`;

/** A log with a batch for each value, and the offsets at which it was read. */
function logOfValues(values: readonly (string | null)[], shared?: Buffer) {
  const reads: number[] = [];
  const options: unknown[] = [];
  const read = (({ offset }, { bytesMaximum, waitMilliseconds, signal }) => {
    reads.push(offset);
    options.push({ bytesMaximum, waitMilliseconds, signal });
    const batches: RecordBatch[] = [];
    let bytes = 0;
    let next = offset;
    for (; next < values.length && bytes < bytesMaximum; next += 1) {
      const batch = recordBatch([{ offset: next, value: values[next] ?? null }], true, next);
      batches.push(shared === undefined ? batch : { ...batch, bytes: shared });
      bytes += batch.bytes.length;
    }
    return Promise.resolve({ batches, nextOffset: next });
  }) satisfies EventLog['read'];
  return { log: { read }, reads, options };
}

async function offsetsOf(search: PartitionSearch): Promise<number[]> {
  const offsets: number[] = [];
  while (search.next !== undefined || !search.isDone) {
    if (search.next === undefined) await search.advance();
    else {
      offsets.push(search.next.offset);
      search.take();
    }
  }
  search.release();
  return offsets;
}

describe('the search of a partition', () => {
  const searchOf = (
    log: Pick<EventLog, 'read'>,
    direction: Direction,
    range: { start: number; end: number },
    readBytes = 4_096,
    { signal } = new AbortController(),
  ): PartitionSearch => {
    const budget = new SearchBudget(systemClock, searchBounds);
    const options = { log, direction, searchedFor: {}, budget, signal, readBytes };
    return new PartitionSearch({ topic: 'tests', partition: 0 }, range, options);
  };
  const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

  it('finds each event of a range once, in both directions', async () => {
    const { log, state } = logOf(1_000, 10);
    expect(await offsetsOf(searchOf(log, 'forward', { start: 13, end: 987 }))).to.deep.equal(numbers(13, 987));
    expect(await offsetsOf(searchOf(log, 'backward', { start: 987, end: 13 }))).to.deep.equal(
      numbers(13, 987).toReversed(),
    );
    expect(state.inUse, 'all memory is free again').to.equal(0);
  });

  it('reads large events backward without holding many of them', async () => {
    const { log, state } = logOf(1_000, 10_000);
    const readBytes = 200_000;
    const found = await offsetsOf(searchOf(log, 'backward', { start: 1_000, end: 0 }, readBytes));
    expect(found).to.deep.equal(numbers(0, 1_000).toReversed());
    expect(state.inUseAtMost).to.be.lessThan(readBytes * 7);
    expect(state.reads, 'few events are read twice').to.be.lessThan(200);
  });

  it('goes on behind what retention has removed meanwhile', async () => {
    const { log } = logOf(100, 10, 50);
    expect(await offsetsOf(searchOf(log, 'forward', { start: 0, end: 100 }))).to.deep.equal(numbers(50, 100));
    expect(await offsetsOf(searchOf(log, 'backward', { start: 100, end: 0 }))).to.deep.equal(
      numbers(50, 100).toReversed(),
    );
  });

  it('says where it continues: at the next event that was not taken', async () => {
    const { log } = logOf(100, 10);
    const forward = searchOf(log, 'forward', { start: 5, end: 100 });
    await forward.advance();
    forward.take();
    expect(forward.position).to.equal(6);
    expect([forward.passed, forward.span]).to.deep.equal([1, 95]);
    const backward = searchOf(log, 'backward', { start: 95, end: 0 });
    await backward.advance();
    backward.take();
    expect(backward.position).to.equal(94);
  });

  it('ends where what is stored is not visible yet', async () => {
    const { log } = logOf(100, 10);
    const search = searchOf(log, 'forward', { start: 0, end: 150 });
    expect(await offsetsOf(search)).to.deep.equal(numbers(0, 100));
    expect(search.position).to.equal(100);
  });

  it('asks the log for what is stored, without waiting for more', async () => {
    const { log, options } = logOfValues([text]);
    await searchOf(log, 'forward', { start: 0, end: 1 }, 4_096).advance();
    const [asked] = options as [{ signal: AbortSignal }];
    expect(asked).to.deep.equal({ bytesMaximum: 4_096, waitMilliseconds: 0, signal: asked.signal });
    expect(asked.signal.aborted).to.equal(false);
  });

  describe('backward', () => {
    /** The offsets at which the log is read, when all of it is searched. */
    async function readsOf(values: readonly (string | null)[], readBytes: number, shared?: Buffer): Promise<number[]> {
      const { log, reads } = logOfValues(values, shared);
      const found = await offsetsOf(searchOf(log, 'backward', { start: values.length, end: 0 }, readBytes));
      const expected = numbers(0, values.length).filter((offset) => values[offset] !== null);
      expect(found).to.deep.equal(expected.toReversed());
      return reads;
    }

    it('begins with 64 offsets, and goes on with four times as many', async () => {
      expect(await readsOf(Array(1_000).fill(text), 1_000_000)).to.deep.equal([936, 680, 0]);
    });

    it('goes on with as many as fit into a read, not counting what it read behind them', async () => {
      // The 100 values of 99 bytes that fit are in 100 batches of 100 bytes: each second read has the last one.
      expect(await readsOf(Array(300).fill(text), 9_900)).to.deep.equal([236, 136, 235, 36, 135, 0]);
    });

    it('counts no deletions', async () => {
      const values = Array.from({ length: 300 }, (_, offset) => (offset % 2 === 0 ? null : text));
      expect(await readsOf(values, 9_900)).to.deep.equal([236, 36, 234, 0]);
    });

    it('keeps four reads, and reads the older events again', async () => {
      const reads = await readsOf(Array(10).fill(text), 100);
      expect(reads).to.deep.equal([...numbers(0, 10), 4, 3, 2, 1, 0]);
    });

    it('counts memory once that several batches share', async () => {
      const shared = Buffer.from(`>${text}`);
      expect(await readsOf(Array(10).fill(text), 100, shared)).to.deep.equal(numbers(0, 10));
    });

    it('stays where it is when it is aborted', async () => {
      const aborting = new AbortController();
      const { log } = logOfValues([text, text]);
      const search = searchOf(log, 'backward', { start: 2, end: 0 }, 100, aborting);
      aborting.abort();
      await search.advance();
      expect([search.next, search.position, search.reachedAt]).to.deep.equal([undefined, 2, Infinity]);
    });
  });

  it('knows the time of the newest events that it read, or of the oldest when it goes backward', async () => {
    const { log } = logOfValues(Array(200).fill(text));
    const reached = async (search: PartitionSearch): Promise<number[]> => {
      const times = [search.reachedAt];
      while (!search.isDone) {
        await search.advance();
        times.push(search.reachedAt);
      }
      return times;
    };
    const forward = searchOf(log, 'forward', { start: 0, end: 300 }, 10_000);
    expect(await reached(forward)).to.deep.equal([-Infinity, 99, 199, 199]);
    const backward = searchOf(log, 'backward', { start: 200, end: 0 }, 1_000_000);
    expect(await reached(backward)).to.deep.equal([Infinity, 136, 0]);
  });

  it('counts the records that are no events', async () => {
    const batch = { ...recordBatch(['1', 'no', 'none'].map((value, offset) => ({ offset, value }))) };
    const read = () => Promise.resolve({ batches: [{ ...batch, external: Uint8Array.of(1, 1, 0) }], nextOffset: 3 });
    const search = searchOf({ read }, 'forward', { start: 0, end: 3 });
    expect(await offsetsOf(search)).to.deep.equal([0, 2]);
    expect(search.unreadable).to.equal(1);
  });

  it('fails when the log fails, also when it says that it holds what it was asked for', async () => {
    for (const code of ['LOG_UNAVAILABLE', 'OFFSET_OUT_OF_RANGE'] as const) {
      const read = () => Promise.reject(new LendstreamError(code, '', { details: { earliest: 5 } }));
      const search = searchOf({ read }, 'forward', { start: 5, end: 9 });
      expect(await codeOf(search.advance())).to.equal(code);
    }
  });

  it('ends at once where retention has removed all of its range', async () => {
    const { log } = logOf(100, 10, 90);
    const search = searchOf(log, 'forward', { start: 0, end: 50 });
    expect(await offsetsOf(search)).to.deep.equal([]);
    expect([search.position, search.passed, search.span]).to.deep.equal([50, 50, 50]);
  });
});
