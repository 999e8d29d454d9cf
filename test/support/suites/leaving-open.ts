import { describe, it } from 'mocha';

/** No test of its own: test/scripts/suite has it run. */

describe('A suite that leaves something open', () => {
  it('starts a timer', () => {
    setInterval(() => undefined, 1_000);
  });
});
