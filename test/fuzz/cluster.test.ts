import { it } from 'mocha';
import { describeOnCluster } from '../support/cluster.ts';
import { partOrWhole } from '../support/values/extent.ts';
import { expectNothingFound } from './suite.ts';

// The requests would affect other suites, so the run has its own Kafka and Redis.
describeOnCluster('one process on Kafka and Redis, with fifty corrupted requests', () => {
  it('rejects them as described, without any change, and continues to serve', async function () {
    this.timeout(partOrWhole(600_000, 3_600_000));
    await expectNothingFound('cluster', partOrWhole(50, 10_000));
  });
});
