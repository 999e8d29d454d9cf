import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { ReadResult } from '../../src/ports/event-log.ts';
import type { PendingRead } from '../../src/ports/pending-read.ts';
import { WaitingReads } from '../../src/embedded/waiting-reads.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';

const offset = 7;

/** The next offset of a result: that of the read if it found nothing, one more if it did. */
const [nothing, grown] = [offset, offset + 1];

const findOne = (read: PendingRead): Promise<ReadResult> =>
  Promise.resolve({ batches: [], nextOffset: read.offset + 1 });

describe('waiting for a partition to grow', () => {
  function waitingReads() {
    const clock = new SimulatedClock();
    const waiting = new WaitingReads();
    const wait = (dueAt: number, signal?: AbortSignal): Promise<ReadResult> => {
      const options = { bytesMaximum: 3, waitMilliseconds: 1_000, ...(signal === undefined ? {} : { signal }) };
      return waiting.add(clock, offset, options, dueAt);
    };
    return { clock, waiting, wait };
  }

  it('ends with growth, with time, with the signal or with a failure', async () => {
    const { clock, waiting, wait } = waitingReads();
    const stopping = new AbortController();
    const woken = wait(Infinity);
    waiting.wake(findOne);
    const timedOut = wait(5);
    const aborted = wait(Infinity, stopping.signal);
    stopping.abort();
    await clock.turn(5);
    const results = await Promise.all([woken, aborted, timedOut]);
    expect(results.map(({ nextOffset }) => nextOffset)).to.deep.equal([grown, nothing, nothing]);
    const failed = wait(Infinity).catch((error: unknown) => error);
    const failure = new Error('gone');
    waiting.fail(failure);
    expect(await failed).to.equal(failure);
    expect(waiting.size).to.equal(0);
  });

  it('lasts until its deadline, and ends immediately when that has passed', async () => {
    const { clock, waiting, wait } = waitingReads();
    await clock.turn(100);
    expect(await wait(100)).to.deep.equal({ batches: [], nextOffset: nothing });
    expect(waiting.size).to.equal(0);
    const last = wait(101);
    await clock.turn(0.9);
    expect(waiting.size).to.equal(1);
    await clock.turn(0.1);
    expect(await last).to.deep.equal({ batches: [], nextOffset: nothing });
  });

  it('continues in a later turn with its original request, and fails when that fails', async () => {
    const { waiting, wait } = waitingReads();
    const resumed: PendingRead[] = [];
    const failure = new Error('out of range');
    const result = wait(60).catch((error: unknown) => error);
    waiting.wake((read) => {
      resumed.push(read);
      throw failure;
    });
    expect(resumed).to.deep.equal([]);
    expect(await result).to.equal(failure);
    const requested = resumed.map((read) => [read.offset, read.options, read.dueAt]);
    expect(requested).to.deep.equal([[offset, { bytesMaximum: 3, waitMilliseconds: 1_000 }, 60]]);
  });

  it('waits again for a read that found nothing, because growth wakes each wait once', async () => {
    const { waiting, wait } = waitingReads();
    let resumedCount = 0;
    const result = wait(Infinity);
    waiting.wake(() => {
      resumedCount += 1;
      return wait(Infinity);
    });
    await Promise.resolve();
    expect([resumedCount, waiting.size]).to.deep.equal([1, 1]);
    waiting.wake(findOne);
    expect((await result).nextOffset).to.equal(grown);
  });
});
