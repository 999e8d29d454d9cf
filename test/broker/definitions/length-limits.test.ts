import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  countViolations,
  lengthViolations,
  nameCharactersMaximum,
} from '../../../src/broker/definitions/length-limits.ts';
import type { FieldViolation } from '../../../src/errors.ts';

const lines = (violations: readonly FieldViolation[]): string[] =>
  violations.map(({ field, message }) => `${field}: ${message}`);

describe('texts and lists of definitions', () => {
  it('may have the maximum length and not one more', () => {
    expect(lengthViolations('a', 'x'.repeat(nameCharactersMaximum))).to.deep.equal([]);
    expect(lines(lengthViolations('a', 'x'.repeat(nameCharactersMaximum + 1)))).to.deep.equal([
      'a: must contain at most 255 characters',
    ]);
    expect(countViolations('a', [1, 2], 2)).to.deep.equal([]);
    expect(lines(countViolations('a', [1, 2, 3], 2))).to.deep.equal(['a: must contain at most 2 elements']);
  });
});
