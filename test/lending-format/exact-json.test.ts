import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { Decimal } from '../../src/lending/money.ts';
import { readDecimal, readExactObject, writeExact } from '../../src/lending-format/exact-json.ts';
import { writeView } from '../../src/lending-format/amount-format.ts';

const read = (number: string): string | null => readDecimal(readExactObject(`{"n":${number}}`)['n'])?.toFixed() ?? null;

describe('exact JSON', () => {
  const numbers: [written: string, means: string | null][] = [
    ['0', '0'],
    ['-12.50', '-12.5'],
    ['0.1', '0.1'],
    ['1e3', '1000'],
    ['999999999999999', '999999999999999'],
    ['9999999999999.99', '9999999999999.99'],
    ['0.000000000000001', '0.000000000000001'],
    // Sixteen digits in any notation.
    ['1000000000000000', null],
    ['1e15', null],
    ['10000000000000.01', null],
    ['0.1234567890123456', null],
    ['1e400', null],
    ['1e-400', null],
    [`0.${'0'.repeat(100)}1`, null],
    ['1e99999999999999999999', null],
    ['"12"', null],
    ['true', null],
  ];
  for (const [written, means] of numbers) {
    it(`reads ${written.slice(0, 30)} as ${means ?? 'no exact number'}`, () => {
      expect(read(written)).to.equal(means);
    });
  }

  it('writes every number of fifteen digits as it was read', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 15n) + 1n, 10n ** 15n - 1n), fc.integer({ min: 0, max: 15 }), (units, digits) => {
        const amount = new Decimal(units.toString()).times(new Decimal(10).pow(-digits));
        const text = writeView({ amount }, digits);
        const back = readDecimal(readExactObject(text)['amount']);
        expect(back?.equals(amount), text).to.equal(true);
        // A reader with doubles gets the same digits.
        expect(new Decimal((JSON.parse(text) as { amount: number }).amount).equals(amount), text).to.equal(true);
      }),
    );
  });

  it('writes an amount with the requested digits and a rate with its own', () => {
    const value = { amount: new Decimal('315.5'), none: new Decimal(0), interestRate: new Decimal('0.70') };
    expect(writeView(value, 2)).to.equal('{"amount":315.50,"none":0.00,"interestRate":0.7}');
    expect(writeView(new Decimal(315), 0)).to.equal('315');
    expect(writeView([new Decimal(-0), new Decimal('0.00001')], 3)).to.equal('[0.000,0.00001]');
  });

  it('leaves out what is undefined and keeps what is null', () => {
    expect(writeExact({ a: undefined, b: null })).to.equal('{"b":null}');
    expect(writeView({ a: undefined, b: null }, 2)).to.equal('{"b":null}');
  });

  for (const text of ['', '[1]', '7', '{"a":1', '{"a":1,"a":2}', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`]) {
    it(`refuses ${text.slice(0, 20) || 'nothing'} as an object`, () => {
      expect(() => readExactObject(text)).to.throw(SyntaxError);
    });
  }
});
