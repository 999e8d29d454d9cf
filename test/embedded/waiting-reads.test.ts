import { expect } from 'chai';
import { describe, it } from 'mocha';
import { getEventListeners } from 'node:events';
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

describe('waiting for a partition to grow', () => {
  it('ends with growth, with time, with the signal or with a failure', async () => {
    const partition = partitionState();
    const aborting = new AbortController();
    const grown = waitForGrowth(partition, Infinity, undefined);
    wakeWaiting(partition);
    const timedOut = waitForGrowth(partition, 5, undefined);
    const aborted = waitForGrowth(partition, Infinity, aborting.signal);
    aborting.abort();
    expect([await grown, await aborted, await timedOut]).to.deep.equal(['grown', 'aborted', 'timeout']);
    const failed = waitForGrowth(partition, Infinity, undefined).catch((error: unknown) => error);
    const failure = new Error('gone');
    failWaiting(partition, failure);
    expect(await failed).to.equal(failure);
    expect(partition.waiters.size).to.equal(0);
  });

  it('costs no timer while there is no end, and one listener for all waits of a signal', async () => {
    const partitions = [partitionState(), partitionState()];
    const aborting = new AbortController();
    const timers = activeTimers();
    const waits = Array.from({ length: 2_000 }, (_, index) =>
      waitForGrowth(partitions[index % 2] as PartitionState, Infinity, aborting.signal),
    );
    expect(activeTimers()).to.equal(timers);
    expect(getEventListeners(aborting.signal, 'abort')).to.have.length(1);
    wakeWaiting(partitions[0] as PartitionState);
    aborting.abort();
    const reasons = await Promise.all(waits);
    expect(reasons.filter((reason) => reason === 'grown')).to.have.length(1_000);
    expect(reasons.filter((reason) => reason === 'aborted')).to.have.length(1_000);
    expect(partitions.map(({ waiters }) => waiters.size)).to.deep.equal([0, 0]);
  });
});
