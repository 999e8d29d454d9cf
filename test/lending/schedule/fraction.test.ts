import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { addFractions, fraction, multiplyFractions } from '../../../src/lending/schedule/fraction.ts';

const part = fc.record({ top: fc.integer({ min: -999, max: 999 }), bottom: fc.integer({ min: 1, max: 999 }) });

describe('a fraction', () => {
  it('is kept in lowest terms', () => {
    expect(fraction(30, 360)).to.deep.equal({ numerator: 1, denominator: 12 });
    expect(fraction(-30, 360)).to.deep.equal({ numerator: -1, denominator: 12 });
    expect(fraction(0, 365)).to.deep.equal({ numerator: 0, denominator: 1 });
    expect(fraction(7)).to.deep.equal({ numerator: 7, denominator: 1 });
  });

  it('refuses parts that are not exact', () => {
    for (const [numerator, denominator] of [
      [1, 0],
      [1, -2],
      [0.5, 1],
      [2 ** 53, 1],
    ] as const) {
      expect(() => fraction(numerator, denominator), `${numerator}/${denominator}`).to.throw(RangeError);
    }
  });

  it('adds and multiplies exactly', () => {
    fc.assert(
      fc.property(part, part, (a, b) => {
        const [x, y] = [fraction(a.top, a.bottom), fraction(b.top, b.bottom)];
        const total = addFractions(x, y);
        const product = multiplyFractions(x, y);
        const common = a.bottom * b.bottom;
        expect(total.numerator * common).to.equal((a.top * b.bottom + b.top * a.bottom) * total.denominator);
        expect(product.numerator * common).to.equal(a.top * b.top * product.denominator + 0);
      }),
    );
  });
});
