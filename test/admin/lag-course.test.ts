import { expect } from 'chai';
import { describe, it } from 'mocha';
import { recordLag } from '../../src/admin/lag-course.ts';

describe('the course of a lag on the admin page', () => {
  it('has the latest value of each interval, and gaps where nothing was seen', () => {
    expect(recordLag('a', 5, 10_000)).to.deep.equal([5]);
    expect(recordLag('a', 7, 19_999)).to.deep.equal([7]);
    expect(recordLag('a', 8, 20_000)).to.deep.equal([7, 8]);
    expect(recordLag('a', 9, 50_000)).to.deep.equal([7, 8, null, null, 9]);
    expect(recordLag('b', 1, 50_000)).to.deep.equal([1]);
  });

  it('keeps an hour, and begins again after a longer pause or when the clock is set back', () => {
    for (let second = 0; second < 4_000; second += 10) recordLag('c', second, second * 1_000);
    const values = recordLag('c', -1, 4_000_000);
    expect(values).to.have.length(360);
    expect([values[0], values.at(-1)]).to.deep.equal([410, -1]);
    expect(recordLag('c', 3, 4_000_000 + 3_600_000)).to.have.length(360);
    expect(recordLag('c', 4, 4_000_000 + 7_210_000)).to.deep.equal([4]);
    expect(recordLag('c', 5, 1_000)).to.deep.equal([5]);
  });

  it('forgets the subscriptions that were seen longest ago', () => {
    recordLag('first', 1, 0);
    for (let index = 0; index < 1_000; index += 1) recordLag(`other ${index}`, 1, 0);
    expect(recordLag('first', 2, 10_000)).to.deep.equal([2]);
    expect(recordLag('other 999', 2, 10_000)).to.deep.equal([1, 2]);
  });
});
