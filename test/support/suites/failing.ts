import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';

/** No test of its own: test/scripts/suite has it run. */

describe('A suite that fails', () => {
  it('expects two', () => {
    expect(1).to.equal(2);
  });

  describe('in its hook', () => {
    beforeEach(() => {
      throw new Error('no hook');
    });
    it('never runs', () => undefined);
  });
});
