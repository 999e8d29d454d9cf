import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compressedRecordBytesMinimum, isWorthCompressing } from '../../src/ports/record-compression.ts';

describe('a batch of records', () => {
  for (const count of [1, 2, 64]) {
    it(`is worth compressing from 16 KiB a record on, not a byte less: ${count} of them`, () => {
      expect(compressedRecordBytesMinimum).to.equal(16_384);
      expect(isWorthCompressing(16_384 * count, count)).to.equal(true);
      expect(isWorthCompressing(16_384 * count - 1, count)).to.equal(false);
    });
  }

  it('is judged by the average: one large record among small ones is not enough', () => {
    expect(isWorthCompressing(1_000_000 + 99 * 370, 100)).to.equal(false);
    expect(isWorthCompressing(1_000_000 + 9 * 370, 10)).to.equal(true);
  });
});
