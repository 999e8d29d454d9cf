import { expect } from 'chai';
import { describe, it } from 'mocha';
import { schemaPatternCostMaximum } from '../../../src/broker/schemas/schema-cost.ts';
import { patternCost } from '../../../src/broker/schemas/pattern-cost.ts';

describe('The cost of a regular expression', () => {
  const costs: [pattern: string, cost: number][] = [
    ['', 0],
    ['abc', 3],
    ['a{9}', 9],
    ['a{2,9}', 9],
    ['a{9,}', 10],
    ['a{0}', 1],
    ['a{', 2],
    ['\\{9}', 3],
    ['(ab){9}', 27],
    ['((a{9}){9}){9}', 819],
    ['[abc]{9}', 9],
    ['[]a]{9}', 9],
    ['[^]a]{9}', 9],
    ['[\\]a]{9}', 9],
    ['\\p{L}', 10],
    ['\\p{L}{3}', 30],
    ['\\pL{3}', 30],
    ['[\\p{L}\\P{N}]{2}', 44],
    ['[', 1],
    [')', 1],
    ['(((', 0],
    ['a\\', 2],
  ];
  for (const [pattern, cost] of costs) {
    it(`is ${cost} for ${pattern === '' ? 'none' : pattern}`, () => {
      expect(patternCost(pattern)).to.equal(cost);
    });
  }

  it('is computed immediately for a text of the maximum length of a schema', () => {
    expect(patternCost('(a{999}'.repeat(30_000))).to.be.greaterThan(schemaPatternCostMaximum);
  });
});
