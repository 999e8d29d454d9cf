import { expect } from 'chai';
import { describe, it } from 'mocha';
import { bucketIncreases, quantileOf } from '../../../src/broker/overview/quantiles.ts';

describe('a quantile of a histogram', () => {
  const buckets = new Map([
    [0.1, 50],
    [0.5, 90],
    [1, 100],
    [Infinity, 100],
  ]);

  it('lies evenly within its bucket', () => {
    expect(quantileOf(buckets, 0.5)).to.equal(0.1);
    expect(quantileOf(buckets, 0.7)).to.be.closeTo(0.3, 1e-9);
    expect(quantileOf(buckets, 0.99)).to.be.closeTo(0.95, 1e-9);
  });

  it('is unknown without observations, and the largest bound beyond it', () => {
    expect(
      quantileOf(
        new Map([
          [1, 0],
          [Infinity, 0],
        ]),
        0.99,
      ),
    ).to.equal(null);
    expect(quantileOf(new Map(), 0.99)).to.equal(null);
    expect(
      quantileOf(
        new Map([
          [1, 1],
          [Infinity, 100],
        ]),
        0.99,
      ),
    ).to.equal(1);
  });

  it('is one of what was observed in between', () => {
    const after = new Map([
      [0.1, 50],
      [0.5, 90],
      [1, 200],
      [Infinity, 200],
    ]);
    expect([...bucketIncreases(buckets, after).values()]).to.deep.equal([0, 0, 100, 100]);
    expect([...bucketIncreases(after, buckets).values()], 'after series were removed').to.deep.equal([0, 0, 0, 0]);
    expect([...bucketIncreases(new Map(), buckets).values()]).to.deep.equal([50, 90, 100, 100]);
  });
});
