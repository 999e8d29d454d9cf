import { expect } from 'chai';
import { describe, it } from 'mocha';
import { digitsOfCurrency } from '../../../src/lending-format/payloads/currency-digits.ts';

describe('the digits of a currency', () => {
  it('are those of ISO 4217, two for most, and eight for bitcoin', () => {
    const codes = ['EUR', 'JPY', 'JOD', 'CLF', 'BTC', 'XYZ'];
    expect(codes.map(digitsOfCurrency)).to.deep.equal([2, 0, 3, 4, 8, 2]);
  });
});
