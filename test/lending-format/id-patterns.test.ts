import { expect } from 'chai';
import { describe, it } from 'mocha';
import { idFromPattern } from '../../src/lending-format/id-patterns.ts';

describe('an id in the form of a pattern', () => {
  it('has a letter for each @, a digit for each #, either for each $, and every other character', () => {
    for (let seed = 0; seed < 1_000; seed += 1) {
      expect(idFromPattern('@@@@###', String(seed))).to.match(/^[A-Z]{4}\d{3}$/);
      expect(idFromPattern('L-$$.#_x', String(seed))).to.match(/^L-[A-Z\d]{2}\.\d_x$/);
    }
  });

  it('is the same for the same seed, and another one for nearly every other', () => {
    const ids = Array.from({ length: 1_000 }, (_, seed) => idFromPattern('@@@@###', String(seed)));
    expect(idFromPattern('@@@@###', '7')).to.equal(ids[7]);
    expect(new Set(ids).size).to.be.greaterThan(990);
  });

  it('uses every letter and digit, up to the longest pattern', () => {
    const ids = Array.from({ length: 200 }, (_, seed) => idFromPattern('$'.repeat(64), String(seed))).join('');
    expect(new Set(ids).size).to.equal(36);
    expect(ids).to.have.length(200 * 64);
  });
});
