import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  linearPattern,
  patternOnDemand,
  patternInstructionsMaximum,
} from '../../../src/broker/schemas/linear-patterns.ts';
import { ValidationBudget, ValidationBudgetUsedUp } from '../../../src/broker/schemas/validation-budget.ts';
import { meter } from '../../../src/broker/schemas/validation-meter.ts';

function matching(pattern: string, texts: readonly string[], budget = new ValidationBudget(0)): boolean[] {
  const { test } = linearPattern(pattern);
  const matches: boolean[] = [];
  meter.run(budget, undefined, () => matches.push(...texts.map(test)) > 0, null);
  return matches;
}

describe('A linear pattern', () => {
  it('matches as a regular expression does', () => {
    expect(matching('^[A-Z]{3}-\\d{4,12}$', ['ABC-1234', 'ABC-123', 'xABC-1234'])).to.deep.equal([true, false, false]);
    expect(matching('\\p{Lu}', ['Äpfel', 'äpfel'])).to.deep.equal([true, false]);
  });

  it('is the same object for the same text, and another object for another text', () => {
    expect(linearPattern('^a')).to.equal(linearPattern('^a'));
    expect(String(linearPattern('^a'))).not.to.equal(String(linearPattern('^b')));
  });

  it('is kept until fifty others were compiled after its last use', () => {
    const first = linearPattern('^kept$');
    const compileOthers = (from: number, to: number): void => {
      for (let index = from; index < to; index += 1) linearPattern(`^other${index}$`);
    };
    compileOthers(0, 49);
    expect(linearPattern('^kept$')).to.equal(first);
    compileOthers(49, 98);
    expect(linearPattern('^kept$')).to.equal(first);
    compileOthers(98, 148);
    expect(linearPattern('^kept$')).to.not.equal(first);
  });

  it('has at most the maximum number of instructions of a pattern', () => {
    linearPattern(`a{${patternInstructionsMaximum - 10}}`);
    expect(() => linearPattern(`(?:ab){${patternInstructionsMaximum}}`)).to.throw(/too large/);
    expect(() => linearPattern('(')).to.throw();
  });

  it('may be compiled when it is first tried', () => {
    const pattern = patternOnDemand('(');
    expect(String(pattern)).to.equal('(');
    expect(() => pattern.test('a')).to.throw();
    const valid = patternOnDemand('^later$');
    expect(meter.run(new ValidationBudget(0), undefined, () => valid.test('later'), null)).to.equal(true);
    expect(meter.run(new ValidationBudget(0), undefined, () => valid.test('sooner'), null)).to.equal(false);
  });

  it('costs little for a known path, and its full cost where paths multiply', () => {
    const usual = new ValidationBudget(0);
    const texts = Array.from({ length: 1_000 }, (_, index) => `ABC-${10_000 + index}`);
    matching('^[A-Z]{3}-\\d{4,12}$', texts, usual);
    expect(usual.stepsMaximum - usual.steps).to.be.lessThan(2_000_000);
    let state = 1;
    const letter = () => ((state = (state * 48_271) % 2_147_483_647) % 2 === 0 ? 'a' : 'b');
    const costly = Array.from({ length: 50 }, () => Array.from({ length: 9_000 }, letter).join(''));
    for (const pattern of ['^(?:a|b)*a(?:a|b){480}$', '^(?:a|b|x)*a(?:a|b|x|\\d){40}$']) {
      expect(() => matching(pattern, costly), pattern).to.throw(ValidationBudgetUsedUp);
    }
  });
});
