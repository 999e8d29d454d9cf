import { expect } from 'chai';
import { describe, it } from 'mocha';
import { describeOnCluster } from '../cluster.ts';

/** Not a test: test/scripts/run-tests.test.ts runs it and checks the result. */

describe('A suite that needs nothing', () => {
  it('runs', () => undefined);
});

describeOnCluster('A suite that needs a cluster', (cluster) => {
  it('is given one', () => {
    expect(cluster()).to.deep.equal({ kafkaBrokers: ['one:9092', 'two:9092'], redisUrl: 'redis://three:6379' });
  });
});
