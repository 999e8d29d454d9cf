import { describe, it } from 'mocha';
import { expectNothingFound } from './suite.ts';

describe('one process with the embedded log, asked two thousand things it should not be', function () {
  this.timeout(600_000);

  it('refuses them as described, changes nothing by it, and goes on serving', () => expectNothingFound('embedded'));
});
