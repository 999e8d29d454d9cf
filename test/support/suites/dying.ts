import { describe, it } from 'mocha';

/** No test of its own: test/scripts/suite has it run. */

describe('A suite whose process dies', () => {
  it('is not told the end', () => {
    process.exit(7);
  });
});
