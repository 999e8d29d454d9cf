import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PartitionReads } from '../../../src/kafka/consume/reads-by-position.ts';
import type { ReadResult } from '../../../src/ports/event-log.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const forever = { bytesMaximum: 100, waitMilliseconds: Infinity };
const atOnce = { bytesMaximum: 100, waitMilliseconds: 0 };

function newReads() {
  const clock = new SimulatedClock();
  const reads = new PartitionReads({ topic: 'payments', partition: 0 }, 1);
  reads.end = 0;
  return { clock, reads };
}

describe('The reads of a partition', () => {
  it('are forgotten with the last one that is aborted, and not before', async () => {
    const { clock, reads } = newReads();
    const stops = [new AbortController(), new AbortController()];
    const results = stops.map(({ signal }) => reads.join(0, { ...forever, signal }, clock));
    stops[0]?.abort();
    expect([...reads.positions.keys()]).to.deep.equal([0]);
    stops[1]?.abort();
    expect(reads.positions.size).to.equal(0);
    const empty: ReadResult = { batches: [], nextOffset: 0 };
    expect(await Promise.all(results)).to.deep.equal([empty, empty]);
  });

  it('are forgotten with the last one whose time is up', async () => {
    const { clock, reads } = newReads();
    const result = reads.join(0, { ...forever, waitMilliseconds: 50 }, clock);
    await clock.turn(49);
    expect(reads.positions.size).to.equal(1);
    await clock.turn(1);
    expect([await result, reads.positions.size]).to.deep.equal([{ batches: [], nextOffset: 0 }, 0]);
  });

  it('wait for the poll of others at their position, although its end was never reported', () => {
    const { clock, reads } = newReads();
    void reads.join(7, forever, clock);
    const position = reads.positions.get(7);
    expect([position?.needsImmediateFetch, position?.needsPoll]).to.deep.equal([true, false]);
    position?.beginImmediateFetch();
    position?.endImmediateFetchEmpty();
    void reads.join(7, forever, clock);
    expect([position?.needsImmediateFetch, position?.waiting.size]).to.deep.equal([false, 2]);
    void reads.join(7, atOnce, clock);
    expect([position?.needsImmediateFetch, position?.waiting.size]).to.deep.equal([true, 2]);
  });

  it('are polled at the lowest position where one waits, and fetched at once where the end has grown past it', () => {
    const { clock, reads } = newReads();
    expect(reads.lowestPolledPosition()).to.equal(undefined);
    for (const offset of [5, 3, 9, 4]) {
      reads.end = offset;
      void reads.join(offset, forever, clock);
    }
    expect(reads.lowestPolledPosition()?.offset).to.equal(3);
    reads.end = 5;
    reads.serve();
    expect([...reads.positions.values()].map(({ offset, needsPoll }) => [offset, needsPoll])).to.deep.equal([
      [5, true],
      [3, false],
      [9, true],
      [4, false],
    ]);
    expect(reads.nextImmediateFetch()?.offset).to.equal(3);
    expect(reads.lowestPolledPosition()?.offset).to.equal(5);
  });

  it('are not forgotten while a request for them is in progress', () => {
    const { clock, reads } = newReads();
    void reads.join(3, atOnce, clock);
    const position = reads.positions.get(3);
    if (position === undefined) throw new Error('The read has no position');
    for (const step of [() => {}, () => position.beginImmediateFetch(), () => position.retryImmediateFetch()]) {
      step();
      reads.forgetIfEmpty(position);
      expect(reads.positions.get(3)).to.equal(position);
    }
    position.beginImmediateFetch();
    position.endImmediateFetchEmpty();
    reads.forgetIfEmpty(position);
    expect(reads.positions.size).to.equal(0);
  });
});
