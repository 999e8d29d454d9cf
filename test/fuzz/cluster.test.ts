import { it } from 'mocha';
import { describeOnCluster } from '../support/cluster.ts';
import { expectNothingFound } from './suite.ts';

// What is sent would get into the way of other suites: the run has a Kafka and a Redis of its own.
describeOnCluster('one process on Kafka and Redis, with two thousand corrupted requests', () => {
  it('rejects them as described, without any change, and continues to serve', async function () {
    this.timeout(600_000);
    await expectNothingFound('cluster');
  });
});
