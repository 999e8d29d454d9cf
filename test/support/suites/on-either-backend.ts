import { describe, it } from 'mocha';
import { clusterUnderTest } from '../backend-under-test.ts';

/** Not a test: test/scripts/suite runs it on one backend after the other. */

describe('A suite about neither backend', () => {
  it('says which one it opens', () => {
    process.stdout.write(`opens ${JSON.stringify(clusterUnderTest() ?? 'the embedded store')}\n`);
  });
});
