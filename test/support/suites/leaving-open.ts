import { describe, it } from 'mocha';

/** Not a test: test/scripts/suite runs it. */

describe('A suite that leaves something open', () => {
  it('starts a timer', () => {
    setInterval(() => undefined, 1_000);
  });
});
