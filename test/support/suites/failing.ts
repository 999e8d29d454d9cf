import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';

/** Not a test: test/scripts/suite runs it. */

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
