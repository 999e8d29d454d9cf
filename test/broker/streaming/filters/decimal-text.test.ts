import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import { decimalText } from '../../../../src/broker/streaming/filters/decimal-text.ts';
import { propertyRuns } from '../../../support/values/property-runs.ts';

/** A number as a whole number times ten to the power of -60. */
function scaled(number: string): bigint {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const value = BigInt(whole + fraction) * 10n ** BigInt(60 - fraction.length + Number(exponent));
  return mantissa.startsWith('-') ? -value : value;
}

const digits = fastCheck.stringMatching(/^[019]{0,12}$/);
const number = fastCheck
  .tuple(fastCheck.boolean(), digits, digits, fastCheck.option(fastCheck.integer({ min: -20, max: 20 })))
  .map(([isNegative, whole, fraction, exponent]) => {
    const start = `${isNegative ? '-' : ''}${whole.replace(/^0+/, '') || '0'}`;
    return `${start}${fraction === '' ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`;
  });

describe('a number as text', () => {
  it('is the same for every way to write its value', () => {
    const same = ['12.50', '12.5', '125e-1', '0.125E2', '1250e-2', '1.25e+1', '12.5e0', '12.5e-00'];
    expect(new Set(same.map(decimalText)).size).to.equal(1);
    expect(new Set(['0', '-0', '0.00', '0e7', '-0E-7', '0e9999999999999'].map(decimalText)).size).to.equal(1);
    expect(new Set(['1', '-1', '10', '0.1', '1e2'].map(decimalText)).size).to.equal(5);
  });

  it('loses no digit', () => {
    const large = '123456789012345678901234567890.123456789012345678901234567890';
    expect(decimalText(`${large}1`)).not.to.equal(decimalText(`${large}2`));
    expect(decimalText('9007199254740993')).not.to.equal(decimalText('9007199254740992'));
  });

  it('has an exponent of up to twelve digits', () => {
    expect(decimalText('1e999999999999')).to.equal(decimalText('10e0999999999998'));
    expect(decimalText('1e-999999999999')).to.equal('1e-999999999999');
    expect(decimalText('1e1000000000000')).to.equal(undefined);
  });

  it('is equal to that of another number exactly if the values are', () => {
    const property = fastCheck.property(number, number, (left, right) => {
      expect(decimalText(left) === decimalText(right)).to.equal(scaled(left) === scaled(right));
    });
    fastCheck.assert(property, propertyRuns(2_000));
  });
});
