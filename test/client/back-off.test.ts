import { expect } from 'chai';
import { describe, it } from 'mocha';
import { backOffMilliseconds } from '../../src/client/back-off.ts';

describe('the waits of the client', () => {
  const options = { firstMilliseconds: 100, maximumMilliseconds: 1_000 };

  it('double up to the longest one', () => {
    const waits = [1, 2, 3, 4, 5, 1_000_000].map((failures) => backOffMilliseconds(failures, 1, options));
    expect(waits).to.deep.equal([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('are somewhere between half of it and all of it', () => {
    expect(backOffMilliseconds(3, 0, options)).to.equal(200);
    expect(backOffMilliseconds(3, 0.5, options)).to.equal(300);
  });

  it('are never shorter than what the service asked for', () => {
    expect(backOffMilliseconds(1, 0, options, 5_000)).to.equal(5_000);
    expect(backOffMilliseconds(4, 0, options, 10)).to.equal(400);
  });
});
