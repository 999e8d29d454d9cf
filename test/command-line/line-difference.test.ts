import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { differenceOf } from '../../src/command-line/line-difference.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

describe('the difference of two texts', () => {
  it('has the lines that were added, removed and kept', () => {
    expect(differenceOf(['a', 'b', 'c'], ['a', 'c', 'd'])).to.deep.equal([' a', '-b', ' c', '+d']);
    expect(differenceOf(['a'], ['a'])).to.deep.equal([' a']);
    expect(differenceOf([], ['a'])).to.deep.equal(['+a']);
  });

  it('leads from the first to the second, with as few changes as possible', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
    const property = fc.property(lines, lines, (before, after) => {
      const difference = differenceOf(before, after);
      const without = (sign: string): string[] =>
        difference.filter((line) => !line.startsWith(sign)).map((line) => line.slice(1));
      expect(without('+')).to.deep.equal(before);
      expect(without('-')).to.deep.equal(after);
      expect(differenceOf(before, before)).to.deep.equal(before.map((line) => ` ${line}`));
    });
    fc.assert(property, propertyRuns(300));
  });

  it('shows texts that are too long to compare as removed and added', () => {
    const [before, after] = ['x', 'y'].map((name) => Array.from({ length: 2_001 }, (_, index) => `${name}${index}`));
    expect(differenceOf(before ?? [], after ?? []).slice(2_000, 2_002)).to.deep.equal(['-x2000', '+y0']);
  });
});
