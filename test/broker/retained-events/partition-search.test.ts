import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PartitionSearch, type Direction } from '../../../src/broker/retained-events/partition-search.ts';
import { SearchBudget, searchBounds } from '../../../src/broker/retained-events/search-budget.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError } from '../../../src/errors.ts';
import type { EventLog, RecordBatch } from '../../../src/ports/event-log.ts';
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
  ): PartitionSearch => {
    const budget = new SearchBudget(systemClock, searchBounds);
    const { signal } = new AbortController();
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
});
