import { after, before, it } from 'mocha';
import { describeOnCluster } from '../support/cluster.ts';
import { openClusterAlone, type ClusterAlone } from '../support/clusters/cluster-alone.ts';
import { partOrWhole } from '../support/values/extent.ts';
import { expectNothingFound } from './suite.ts';

describeOnCluster('one process on Kafka and Redis, with fifty corrupted requests', () => {
  let cluster: ClusterAlone;

  before(async function () {
    this.timeout(120_000);
    cluster = await openClusterAlone();
  });

  after(() => cluster?.stop());

  it('rejects them as described, without any change, and continues to serve', async function () {
    this.timeout(partOrWhole(600_000, 3_600_000));
    await expectNothingFound(partOrWhole(50, 10_000), cluster);
  });
});
