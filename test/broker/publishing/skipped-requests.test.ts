import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SkippedRequests } from '../../../src/broker/publishing/skipped-requests.ts';

/** How many requests skip the attempt now. */
function skippedBy(skipped: SkippedRequests): number {
  let count = 0;
  while (skipped.skipsNext()) count += 1;
  return count;
}

describe('requests that skip a short cut', () => {
  it('are twice as many and two more with each failure in a row, up to the sixth', () => {
    const skipped = new SkippedRequests();
    const counts = Array.from({ length: 8 }, () => {
      skipped.attemptFailed();
      return skippedBy(skipped);
    });
    expect(counts).to.deep.equal([0, 2, 6, 14, 30, 62, 62, 62]);
  });

  it('are none again after the first failure that follows a success', () => {
    const skipped = new SkippedRequests();
    for (let failures = 0; failures < 3; failures += 1) skipped.attemptFailed();
    skipped.attemptSucceeded();
    skipped.attemptFailed();
    expect(skippedBy(skipped)).to.equal(0);
  });

  it('are 64 where an attempt has no prospect', () => {
    const skipped = new SkippedRequests();
    skipped.skipForLong();
    expect(skippedBy(skipped)).to.equal(64);
  });
});
