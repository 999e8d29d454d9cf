import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { needsDigits } from '../../../src/broker/schemas/written-numbers.ts';
import { Divisor } from '../../../src/broker/schemas/multiple-of.ts';
import { Exact, jsonNumber } from './json-numbers.ts';
import { processorMilliseconds } from '../../support/values/processor-time.ts';

describe('Multiples of a number', () => {
  it('cost more to divide the more digits they have, unless a double suffices', () => {
    const stepsFor = (digitsCount: number): number => {
      let spent = 0;
      const text = '1'.repeat(digitsCount);
      new Divisor('3', (steps) => (spent += steps)).divides(Number(text), needsDigits(text) ? text : undefined);
      return spent;
    };
    expect(stepsFor(7)).to.equal(0);
    expect(stepsFor(300)).to.be.greaterThan(2_000);
    expect(stepsFor(1_300) - stepsFor(300)).to.be.within(10_000, 40_000);
  });

  it('are multiples when decimals are, computed with doubles where these suffice', () => {
    const divisors = fc.oneof(
      fc.constantFrom('0.01', '0.05', '1', '3', '0.1', '1e-9', '25', '1e20', '0.3', '12e-3', '7e300'),
      jsonNumber.filter((text) => new Exact(text).greaterThan(0)),
    );
    const values = fc.oneof(
      jsonNumber,
      fc
        .tuple(divisors, fc.integer({ min: -1_000, max: 1_000 }))
        .map(([one, times]) => new Exact(one).times(times).toFixed()),
    );
    const amounts = ['45035996.27', '45035996.28', '67108863.99', '67108864.01', '70000000.01', '-89999999.99'];
    const examples = amounts.map((text): [string, string] => ['0.01', text]);
    fc.assert(
      fc.property(divisors, values, (divisor, text) => {
        const expected = new Exact(text).modulo(divisor).isZero();
        const written = needsDigits(text) ? text : undefined;
        expect(new Divisor(divisor).divides(Number(text), written), `${text} by ${divisor}`).to.equal(expected);
      }),
      { numRuns: 2_000, examples: [...examples, ['0.010000000000000001', '0.01']] },
    );
  });

  it('may have exponents of any length', () => {
    const long = '9'.repeat(400);
    expect(new Divisor('0.01').divides(Infinity, `3e${long}`)).to.equal(true);
    expect(new Divisor('7').divides(Infinity, `3e${long}`)).to.equal(false);
  });

  it('are found quickly, however many digits they have', () => {
    const long = '3'.repeat(900_000);
    const took = processorMilliseconds(() => {
      expect(new Divisor('9').divides(Infinity, long)).to.equal(true);
      expect(new Divisor(`0.${'7'.repeat(100)}`).divides(Infinity, `0.${long}`)).to.equal(false);
    });
    expect(took).to.be.lessThan(5_000);
  });
});
