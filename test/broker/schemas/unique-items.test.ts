import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { isDeepStrictEqual } from 'node:util';
import { areUnique, type ItemComparison } from '../../../src/broker/schemas/unique-items.ts';

const uncounted: ItemComparison = { spend: () => {}, numberText: () => undefined };

describe('areUnique', () => {
  const cases: [description: string, json: string, unique: boolean][] = [
    ['no item', '[]', true],
    ['numbers written differently', '[1, 1.0]', false],
    ['the two zeros', '[0, -0]', false],
    ['a number and its text', '[1, "1"]', true],
    ['false, null and zero', '[false, null, 0, ""]', true],
    ['objects with their keys in another order', '[{"a": 1, "b": [2]}, {"b": [2], "a": 1}]', false],
    ['arrays in another order', '[[1, 2], [2, 1]]', true],
    ['an object and the text of it', '[{"a":1}, "{\\"a\\":1}"]', true],
    ['numbers too large for a double', '[[1e999], [null]]', true],
    ['nested zeros', '[[0], [-0]]', false],
  ];
  for (const [description, json, unique] of cases) {
    it(`returns ${unique} for ${description}`, () => {
      expect(areUnique(JSON.parse(json) as unknown[], uncounted)).to.equal(unique);
    });
  }

  it('reports how many parts it compares: all of them', () => {
    let steps = 0;
    const counted = { ...uncounted, spend: (more: number) => void (steps += more) };
    areUnique([1, 'a', [{ a: 1 }]], counted);
    const ofFew = steps;
    areUnique([Array.from({ length: 1_000 }, () => 'a'.repeat(100))], counted);
    expect(steps).to.be.greaterThan(ofFew + 100_000);
  });

  const costs: [description: string, items: readonly unknown[], steps: number][] = [
    ['plain items', [1, 'abc', null], 600],
    ['an empty array and an empty object', [[], {}], 400],
    ['each value and character within', [['ab', 1]], 200 + (200 + 4) + 200],
    ['each value and character of a key', [{ key: 'ab' }], 200 + 6 + (200 + 4)],
  ];
  for (const [description, items, expected] of costs) {
    it(`reports the cost of ${description}`, () => {
      let steps = 0;
      areUnique(items, { ...uncounted, spend: (more) => void (steps += more) });
      expect(steps).to.equal(expected);
    });
  }

  it('treats numbers as different when their texts differ', () => {
    const digits = ['9007199254740992', '9007199254740993'];
    const written = {
      ...uncounted,
      numberText: (_value: number, _holder: object, key: string | number) => digits[+key],
    };
    const items = digits.map(Number);
    expect(areUnique(items, uncounted)).to.equal(false);
    expect(areUnique(items, written)).to.equal(true);
  });

  it('agrees with comparing every item with every other', () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), (items) => {
        // As a parser returns them: without a negative zero, which it treats as another number.
        const parsed = JSON.parse(JSON.stringify(items)) as unknown[];
        const repeated = parsed.some((item, index) =>
          parsed.slice(0, index).some((one) => isDeepStrictEqual(one, item)),
        );
        expect(areUnique(parsed, uncounted)).to.equal(!repeated);
      }),
    );
  });
});
