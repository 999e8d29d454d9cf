import { expect } from 'chai';
import { describe, it } from 'mocha';
import { getEventListeners } from 'node:events';
import type { ReadResult, StopSignal } from '../../src/ports/event-log.ts';
import { newPartitionState } from '../../src/embedded/partition-state.ts';
import type { PartitionState } from '../../src/embedded/partition-state.ts';
import { failWaiting, waitForGrowth, wakeWaiting } from '../../src/embedded/waiting-reads.ts';

function partitionState(): PartitionState {
  const persisted = { id: 1, topicId: 1, number: 0, earliest: 0, latest: 0, compactedTo: 0, compactedRecordCount: 0 };
  return newPartitionState('orders', persisted);
}

function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

/** Reads of position 7, each of which finds one record once the partition has grown. */
function wait(partition: PartitionState, milliseconds: number, signal?: StopSignal): Promise<ReadResult> {
  const options = { bytesMaximum: 1, waitMilliseconds: milliseconds, ...(signal === undefined ? {} : { signal }) };
  const found = (_: PartitionState, offset: number) => Promise.resolve({ batches: [], nextOffset: offset + 1 });
  return waitForGrowth(partition, 7, options, undefined, milliseconds, found);
}

/** What a read answers that found nothing, and what one answers that did. */
const [nothing, grown] = [7, 8];

describe('waiting for a partition to grow', () => {
  it('ends with growth, with time, with the signal or with a failure', async () => {
    const partition = partitionState();
    const aborting = new AbortController();
    const woken = wait(partition, Infinity);
    wakeWaiting(partition);
    const timedOut = wait(partition, 5);
    const aborted = wait(partition, Infinity, aborting.signal);
    aborting.abort();
    const results = await Promise.all([woken, aborted, timedOut]);
    expect(results.map(({ nextOffset }) => nextOffset)).to.deep.equal([grown, nothing, nothing]);
    const failed = wait(partition, Infinity).catch((error: unknown) => error);
    const failure = new Error('gone');
    failWaiting(partition, failure);
    expect(await failed).to.equal(failure);
    expect(partition.waiters.size).to.equal(0);
  });

  it('goes on as it was asked to, and fails with what that fails with', async () => {
    const partition = partitionState();
    const options = { bytesMaximum: 3, waitMilliseconds: 1_000 };
    const asked: unknown[] = [];
    const failure = new Error('out of range');
    const read = waitForGrowth(partition, 5, options, 60, 1_000, (...given) => {
      asked.push(...given);
      throw failure;
    }).catch((error: unknown) => error);
    wakeWaiting(partition);
    expect(asked).to.deep.equal([]);
    expect(await read).to.equal(failure);
    expect(asked).to.deep.equal([partition, 5, options, 60]);
  });

  it('costs no timer while there is no end, and one listener for all waits of a signal', async () => {
    const partitions = [partitionState(), partitionState()];
    const aborting = new AbortController();
    const timers = activeTimers();
    const waits = Array.from({ length: 2_000 }, (_, index) =>
      wait(partitions[index % 2] as PartitionState, Infinity, aborting.signal),
    );
    expect(activeTimers()).to.equal(timers);
    expect(getEventListeners(aborting.signal, 'abort')).to.have.length(1);
    wakeWaiting(partitions[0] as PartitionState);
    aborting.abort();
    const offsets = (await Promise.all(waits)).map(({ nextOffset }) => nextOffset);
    expect(offsets.filter((offset) => offset === grown)).to.have.length(1_000);
    expect(offsets.filter((offset) => offset === nothing)).to.have.length(1_000);
    expect(partitions.map(({ waiters }) => waiters.size)).to.deep.equal([0, 0]);
  });
});
