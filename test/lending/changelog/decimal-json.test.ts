import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { decimalOf, reviveMarked, writeMarked } from '../../../src/lending/changelog/decimal-json.ts';
import { Decimal, zero } from '../../../src/lending/money.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';
import { anyCharacter } from '../../support/values/any-character.ts';

const read = (text: string): unknown => reviveMarked(JSON.parse(text));

describe('JSON with marked decimals', () => {
  it('keeps every digit of a decimal, also of very small and very large ones, and minus zero', () => {
    for (const text of ['0.1', '-0', '1e-50', '1e50', '12345678901234567890.12345678901234567890']) {
      const decimal = new Decimal(text);
      expect(read(writeMarked({ amount: [decimal] }))).to.deep.equal({ amount: [decimal] });
    }
  });

  it('reads any value as it was written', () => {
    const anyDecimal = fc.bigInt().map((digits) => new Decimal(digits.toString()).dividedBy(1000));
    const anyLeaf = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      anyDecimal,
    );
    const anyName = fc.string().filter((name) => /^\w+$/.test(name) && name !== '__proto__');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, anyLeaf, fc.array(tie('value')), fc.dictionary(anyName, tie('value'))),
    }));
    fc.assert(
      fc.property(value, (written) => {
        expect(read(writeMarked(written))).to.deep.equal(written);
      }),
      propertyRuns(200),
    );
  });

  it('tells texts that look like decimals from decimals', () => {
    for (const text of ['#1', '##1', '#', '1', '#"']) expect(read(writeMarked(text))).to.equal(text);
  });

  it('leaves out fields that are undefined, and keeps those that are null', () => {
    expect(writeMarked({ first: undefined, second: null, third: 1.5 })).to.equal('{"second":null,"third":1.5}');
  });

  it('shares one object for zero', () => {
    expect(decimalOf('0')).to.equal(zero);
    expect(read('"#0"')).to.equal(zero);
    expect(decimalOf('-0').isNegative()).to.equal(true);
  });
});
