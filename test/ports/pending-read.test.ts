import { expect } from 'chai';
import { describe, it } from 'mocha';
import { getEventListeners } from 'node:events';
import type { ReadOptions, ReadResult } from '../../src/ports/event-log.ts';
import { PendingRead, type PendingReadHolder } from '../../src/ports/pending-read.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const offset = 7;
const empty: ReadResult = { batches: [], nextOffset: offset };
const found: ReadResult = { batches: [], nextOffset: offset + 1 };

/** A clock, a holder that records its calls, and reads with both. */
function readsOf(clock = new SimulatedClock()) {
  const calls: string[] = [];
  const holder: PendingReadHolder = {
    readDue: () => calls.push(`due at ${clock.monotonic()}`),
    readAborted: () => calls.push('aborted'),
  };
  const begin = (dueAt: number, options: Partial<ReadOptions> = {}) => {
    const all = { bytesMaximum: 1, waitMilliseconds: Infinity, ...options };
    let read: PendingRead | undefined;
    const result = new Promise<ReadResult>((resolve) => {
      read = new PendingRead(clock, holder, offset, all, dueAt, resolve);
    });
    if (read === undefined) throw new Error('The executor of a promise runs at once.');
    return { read, result };
  };
  return { clock, calls, begin };
}

describe('a read that has no result yet', () => {
  it('returns the first outcome it gets, and no other', async () => {
    const { begin } = readsOf();
    const { read, result } = begin(Infinity);
    read.complete(found);
    read.completeEmpty();
    read.fail(new Error('too late'));
    expect(await result).to.equal(found);
    expect(read.isEnded).to.equal(true);
  });

  it('ends with the result of a promise', async () => {
    const { begin } = readsOf();
    const resumed = begin(Infinity);
    resumed.read.complete(Promise.resolve(found));
    expect(await resumed.result).to.equal(found);
    const failure = new Error('gone');
    const failed = begin(Infinity);
    failed.read.fail(failure);
    expect(await failed.result.catch((error: unknown) => error)).to.equal(failure);
  });

  it('is due at its deadline, not a millisecond earlier, and stays pending until its holder ends it', async () => {
    const { clock, calls, begin } = readsOf();
    const { read, result } = begin(100);
    await clock.turn(99);
    expect([calls, read.isDue]).to.deep.equal([[], false]);
    await clock.turn(1);
    expect([calls, read.isDue, read.isEnded]).to.deep.equal([['due at 100'], true, false]);
    read.completeEmpty();
    expect(await result).to.deep.equal(empty);
  });

  it('is due from the start when its deadline has passed or its signal was aborted before', async () => {
    const clock = new SimulatedClock();
    await clock.turn(100);
    const { calls, begin } = readsOf(clock);
    const stopping = new AbortController();
    const late = begin(101, { signal: stopping.signal });
    stopping.abort();
    expect(late.read.isEnded).to.equal(true);
    const reads = [begin(99), begin(100), begin(Number.NaN), begin(Infinity, { signal: stopping.signal })];
    expect(reads.map(({ read }) => read.isDue)).to.deep.equal([true, true, true, true]);
    expect(begin(100.5).read.isDue).to.equal(false);
    expect(calls).to.deep.equal(['aborted']);
  });

  it('ends empty when its signal aborts, and removes its timer and listener', async () => {
    const { clock, calls, begin } = readsOf();
    const stopping = new AbortController();
    const { result } = begin(100, { signal: stopping.signal });
    stopping.abort();
    expect(await result).to.deep.equal(empty);
    expect([calls, clock.nextDeadline()]).to.deep.equal([['aborted'], Infinity]);
  });

  it('needs no timer without a deadline, and one listener for all reads of a signal', async () => {
    const { clock, begin } = readsOf();
    const stopping = new AbortController();
    const reads = Array.from({ length: 2_000 }, () => begin(Infinity, { signal: stopping.signal }));
    expect(clock.nextDeadline()).to.equal(Infinity);
    expect(getEventListeners(stopping.signal, 'abort')).to.have.length(1);
    for (const { read } of reads.slice(0, 1_000)) read.complete(found);
    stopping.abort();
    const results = await Promise.all(reads.map(({ result }) => result));
    expect(results.filter(({ nextOffset }) => nextOffset === found.nextOffset)).to.have.length(1_000);
    expect(results.filter(({ nextOffset }) => nextOffset === empty.nextOffset)).to.have.length(1_000);
  });
});
