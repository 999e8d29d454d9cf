import { describe, it } from 'mocha';
import { expectNothingFound } from './suite.ts';

describe('one process with the embedded log, with a hundred corrupted requests', function () {
  this.timeout(600_000);

  it('rejects them as described, without any change, and continues to serve', () => expectNothingFound());
});
