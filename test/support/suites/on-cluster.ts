import { expect } from 'chai';
import { describe, it } from 'mocha';
import { describeOnCluster } from '../cluster.ts';

/** No test of its own: test/scripts/run-tests.test.ts has it run, to see what becomes of it. */

describe('A suite that needs nothing', () => {
  it('runs', () => undefined);
});

describeOnCluster('A suite that needs a cluster', (cluster) => {
  it('is given one', () => {
    expect(cluster()).to.deep.equal({ kafkaBrokers: ['one:9092', 'two:9092'], redisUrl: 'redis://three:6379' });
  });
});
