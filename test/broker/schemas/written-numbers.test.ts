import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  WrittenNumbers,
  canonicalNumber,
  compareNumbers,
  isIntegerText,
  needsDigits,
} from '../../../src/broker/schemas/written-numbers.ts';
import { Exact, jsonNumber } from './json-numbers.ts';
import { processorMilliseconds } from '../../support/values/processor-time.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

describe('Numbers as they are written', () => {
  it('compare like decimals', () => {
    fc.assert(
      fc.property(jsonNumber, jsonNumber, (left, right) => {
        expect(Math.sign(compareNumbers(left, right)), `${left} ${right}`).to.equal(new Exact(left).comparedTo(right));
        expect(canonicalNumber(left) === canonicalNumber(right)).to.equal(new Exact(left).equals(right));
      }),
      propertyRuns(700),
    );
  });

  it('are integers when decimals are', () => {
    fc.assert(
      fc.property(jsonNumber, (text) => {
        expect(isIntegerText(text), text).to.equal(new Exact(text).isInteger());
      }),
      propertyRuns(700),
    );
  });

  it('need their exact digits when a double may not represent them', () => {
    expect(['1', '-1.5', '123456789012345', '0.0000000000001'].map(needsDigits)).to.deep.equal([
      false,
      false,
      false,
      false,
    ]);
    expect(['1234567890123456', '1e5', '1E-5', '0.00000000000001'].map(needsDigits)).to.deep.equal([
      true,
      true,
      true,
      true,
    ]);
  });

  it('may have exponents of any length', () => {
    const long = '9'.repeat(400);
    expect(compareNumbers(`1e${long}`, '1e400')).to.equal(1);
    expect(compareNumbers(`1e-${long}`, '0')).to.equal(1);
    expect(isIntegerText(`1e-${long}`)).to.equal(false);
  });

  it('are compared quickly, however many digits they have', () => {
    const long = '3'.repeat(900_000);
    const took = processorMilliseconds(() => expect(compareNumbers(long, `${long}.1`)).to.equal(-1));
    expect(took).to.be.lessThan(5_000);
  });
});

describe('The digits of a document', () => {
  it('are found for the numbers that need them', () => {
    const text = `{ "a" : 9007199254740993 , "b":[1,"9007199254740993",-1.00000000000000001,[{"\\u0063":1e5}]],
      "7":{"x":true,"12":1234567890123456},"s":"\\\\\\",\\"y\\":12345678901234567","ü":null}`;
    const value = JSON.parse(text) as { a: number; b: [number, string, number, [{ c: number }]]; 7: object };
    const written = new WrittenNumbers(text, value);
    expect(written.textOf(value, 'a')).to.equal('9007199254740993');
    expect([0, 1, 2, 3].map((index) => written.textOf(value.b, index))).to.deep.equal([
      undefined,
      undefined,
      '-1.00000000000000001',
      undefined,
    ]);
    expect(written.textOf(value.b[3][0], 'c')).to.equal('1e5');
    expect(written.textOf(value[7], '12')).to.equal('1234567890123456');
    expect(written.textOf(value, 'y')).to.equal(undefined);
    expect(written.textOf(7, 'y')).to.equal(undefined);
  });

  it('are found for any document', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.oneof(jsonNumber, fc.constant('"1e5"'), fc.constant('[]'))),
        (fields) => {
          const entries = Object.entries(fields);
          const text = `{${entries.map(([key, member]) => `${JSON.stringify(key)}: ${member}`).join(' ,')}}`;
          const value: unknown = JSON.parse(text);
          const written = new WrittenNumbers(text, value);
          for (const [key, member] of entries) {
            const isNumber = /^[-\d]/.test(member);
            expect(written.textOf(value, key)).to.equal(isNumber && needsDigits(member) ? member : undefined);
          }
        },
      ),
    );
  });
});
