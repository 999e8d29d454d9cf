import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { RateSegment } from '../../../src/lending/terms.ts';
import { rateAfter, rateSpans } from '../../../src/lending/schedule/interest-rates.ts';
import { money } from '../loan-fixtures.ts';

const segments: readonly RateSegment[] = [
  { from: null, interestRate: money(10) },
  { from: '2024-02-01', interestRate: money(12) },
  { from: '2024-03-01', interestRate: money(8) },
];

/** Spans as `rate from to`. */
const spans = (from: string, to: string, rates = segments): string[] =>
  rateSpans(rates, from, to).map((span) => `${span.interestRate.toFixed()} ${span.from} ${span.to}`);

describe('the interest rate over time', () => {
  it('is the rate of the segment that began last', () => {
    const days = ['1900-01-01', '2024-01-31', '2024-02-01', '2024-02-29', '2024-03-01', '2999-12-31'];
    expect(days.map((day) => rateAfter(segments, day).toFixed())).to.deep.equal(['10', '10', '12', '12', '8', '8']);
  });

  it('splits days where it changes, and nowhere else', () => {
    expect(spans('2024-01-15', '2024-03-15')).to.deep.equal([
      '10 2024-01-15 2024-02-01',
      '12 2024-02-01 2024-03-01',
      '8 2024-03-01 2024-03-15',
    ]);
    expect(spans('2024-01-15', '2024-02-01')).to.deep.equal(['10 2024-01-15 2024-02-01']);
    expect(spans('2024-02-01', '2024-02-15')).to.deep.equal(['12 2024-02-01 2024-02-15']);
    expect(spans('2024-03-01', '2024-04-01')).to.deep.equal(['8 2024-03-01 2024-04-01']);
  });

  it('splits no day out of none', () => {
    expect(spans('2024-02-01', '2024-02-01')).to.deep.equal([]);
    expect(spans('2024-02-01', '2024-02-01', segments.slice(0, 1))).to.deep.equal(['10 2024-02-01 2024-02-01']);
  });

  it('cannot be missing', () => {
    expect(() => rateAfter([], '2024-01-01')).to.throw('no interest rate after 2024-01-01');
  });
});
