import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  Decimal,
  add,
  isPostable,
  larger,
  roundAmount,
  roundToDigits,
  roundUpToWholeUnit,
  smaller,
  sum,
  zero,
} from '../../src/lending/money.ts';
import type { RoundingMode } from '../../src/lending/money.ts';

describe('an amount', () => {
  const roundings: readonly [string, number, RoundingMode, string][] = [
    ['1.005', 2, 'HALF_UP', '1.01'],
    ['1.005', 2, 'HALF_EVEN', '1.00'],
    ['1.015', 2, 'HALF_EVEN', '1.02'],
    ['0.5', 0, 'HALF_UP', '1'],
    ['0.5', 0, 'HALF_EVEN', '0'],
    ['1.2345', 3, 'HALF_UP', '1.235'],
    ['0.000000015', 8, 'HALF_UP', '0.00000002'],
    ['0.00499999999', 2, 'HALF_UP', '0.00'],
  ];
  for (const [amount, digits, mode, rounded] of roundings) {
    it(`${amount} rounds ${mode} to ${rounded} in a currency of ${digits} digits`, () => {
      const currency = { code: 'TST', digits };
      expect(roundAmount(new Decimal(amount), currency, mode).toFixed(digits)).to.equal(rounded);
    });
  }

  it('is rounded as a tie when a division left it a hair below the tie', () => {
    const half = sum(Array.from({ length: 30 }, () => new Decimal('0.005').dividedBy(30).toDecimalPlaces(20)));
    expect(half.lessThan('0.0051')).to.equal(true);
    expect(roundToDigits(new Decimal('0.00499999999999999999'), 2, 'HALF_UP').toFixed(2)).to.equal('0.01');
    expect(roundToDigits(half, 2, 'HALF_EVEN').toFixed(2)).to.equal('0.00');
  });

  it('is rounded up to whole units, but not because of division noise', () => {
    expect(roundUpToWholeUnit(new Decimal('12.01')).toString()).to.equal('13');
    expect(roundUpToWholeUnit(new Decimal('12')).toString()).to.equal('12');
    expect(roundUpToWholeUnit(new Decimal('12.00000000000000000001')).toString()).to.equal('12');
  });

  const postings: readonly [amount: string, digits: number, isPosted: boolean][] = [
    ['0.01', 2, true],
    ['0', 2, false],
    ['-1', 2, false],
    ['0.001', 2, false],
    ['9999999999999.99', 2, true],
    ['10000000000000', 2, false],
    ['999999999999999', 0, true],
    ['9999999.99999999', 8, true],
    ['10000000', 8, false],
  ];
  for (const [amount, digits, isPosted] of postings) {
    it(`${amount} is ${isPosted ? 'accepted' : 'refused'} in a currency of ${digits} digits`, () => {
      expect(isPostable(new Decimal(amount), digits)).to.equal(isPosted);
    });
  }

  it('is computed with forty significant digits, the last one rounded half up', () => {
    expect(new Decimal(2).dividedBy(3).toFixed()).to.equal(`0.${'6'.repeat(39)}7`);
    expect(new Decimal(1).dividedBy(16).times('1e-38').toFixed()).to.equal(`0.${'0'.repeat(39)}625`);
  });

  it('is written without an exponent between 1e-40 and 1e39', () => {
    expect(new Decimal('1e-39').toString()).to.equal(`0.${'0'.repeat(38)}1`);
    expect(new Decimal('1e-40').toString()).to.equal('1e-40');
    expect(new Decimal('1e39').toString()).to.equal(`1${'0'.repeat(39)}`);
    expect(new Decimal('1e40').toString()).to.equal('1e+40');
  });

  it('is added and compared exactly', () => {
    const [low, high] = [new Decimal('0.1'), new Decimal('0.2')];
    expect(sum([low, high]).equals('0.3')).to.equal(true);
    expect(sum([]).isZero()).to.equal(true);
    expect(add(low, high).equals('0.3')).to.equal(true);
    expect([add(low, zero), add(zero, high)]).to.deep.equal([low, high]);
    expect([smaller(low, high), larger(low, high)]).to.deep.equal([low, high]);
  });
});
