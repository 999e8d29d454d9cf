import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { isDeepStrictEqual } from 'node:util';
import { areUnique } from '../../src/broker/unique-items.ts';

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
    it(`says ${unique} for ${description}`, () => {
      expect(areUnique(JSON.parse(json) as unknown[])).to.equal(unique);
    });
  }

  it('agrees with comparing every item with every other', () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), (items) => {
        // As a parser gives them: without a negative zero, which it compares as another number.
        const parsed = JSON.parse(JSON.stringify(items)) as unknown[];
        const repeated = parsed.some((item, index) =>
          parsed.slice(0, index).some((one) => isDeepStrictEqual(one, item)),
        );
        expect(areUnique(parsed)).to.equal(!repeated);
      }),
    );
  });
});
