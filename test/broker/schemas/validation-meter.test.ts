import { expect } from 'chai';
import { describe, it } from 'mocha';
import { collectedViolationsMaximum } from '../../../src/broker/schemas/metered-code.ts';
import {
  ValidationBudget,
  ValidationBudgetUsedUp,
  validationStepsPerEvent,
} from '../../../src/broker/schemas/validation-budget.ts';
import { WrittenNumbers } from '../../../src/broker/schemas/written-numbers.ts';
import { meter } from '../../../src/broker/schemas/validation-meter.ts';

/** The steps of a call. */
function stepsOf(called: () => unknown): number {
  const budget = new ValidationBudget(0);
  meter.run(budget, undefined, () => called() !== undefined, null);
  return budget.stepsMaximum - budget.steps;
}

const functionNamed = (name: string): ((...values: unknown[]) => unknown) =>
  meter.counting(Object.assign(() => 'its own', { code: `require("ajv/dist/runtime/${name}").default` })) as (
    ...values: unknown[]
  ) => unknown;

describe('The meter of validation', () => {
  it('charges the budget of the request, whatever the result of the validation', () => {
    const budget = new ValidationBudget(0);
    meter.run(budget, undefined, () => (meter.spend(7), true), null);
    const failing = () => {
      meter.spend(5);
      throw new Error('broken');
    };
    expect(() => meter.run(budget, undefined, failing, null)).to.throw('broken');
    expect(budget.stepsMaximum - budget.steps).to.equal(12);
  });

  it('stops at the first step beyond the budget', () => {
    const budget = new ValidationBudget(0);
    const spending = (steps: number) => () => (meter.spend(steps), true);
    meter.run(budget, undefined, spending(budget.stepsMaximum), null);
    expect(budget.steps).to.equal(0);
    expect(() => meter.run(budget, undefined, spending(1), null)).to.throw(ValidationBudgetUsedUp);
  });

  it('stops at the first step beyond the share of one event, and leaves the rest to other events', () => {
    const budget = new ValidationBudget(1_000_000);
    const spending = (steps: number) => () => (meter.spend(steps), true);
    meter.run(budget, undefined, spending(validationStepsPerEvent), null);
    expect(() => meter.run(budget, undefined, spending(budget.steps + 1), null)).to.throw(ValidationBudgetUsedUp);
    expect(() =>
      meter.run(new ValidationBudget(1_000_000), undefined, spending(validationStepsPerEvent + 1), null),
    ).to.throw(ValidationBudgetUsedUp);
    expect(budget.steps).to.be.lessThan(0);
  });

  it('charges more for more keys, longer names and longer lists', () => {
    const object = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    stepsOf(() => expect(meter.keys({ b: 1, a: 2 })).to.deep.equal(['b', 'a']));
    expect(stepsOf(() => meter.keys(object(10_000)))).to.be.greaterThan(1_000_000);
    expect(stepsOf(() => meter.assign({}, object(100)))).to.be.greaterThan(100 * 100);
    stepsOf(() => expect(meter.pointerStep('a/b~c')).to.equal('a~1b~0c'));
    expect(stepsOf(() => meter.pointerStep('x'.repeat(1_000)))).to.be.at.least(1_000);
    const full = Array.from({ length: 999 }, () => 0);
    stepsOf(() => {
      expect(meter.joined(null, [1])).to.deep.equal([1]);
      expect(meter.joined([1], [2])).to.deep.equal([1, 2]);
      expect(meter.joined(full, [1, 2, 3])).to.have.length(1_000);
    });
    const complete = Array.from({ length: collectedViolationsMaximum }, () => 0);
    expect(stepsOf(() => expect(meter.joined(complete, [1])).to.equal(complete))).to.equal(0);
  });

  it('compares values exactly, and charges each part', () => {
    const equal = functionNamed('equal');
    const cases: [left: unknown, right: unknown, isEqual: boolean][] = [
      [1, 1, true],
      [1, '1', false],
      [null, {}, false],
      [[], {}, false],
      [{}, [], false],
      [[1, [2]], [1, [2]], true],
      [[1], [1, 2], false],
      [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
      [{ a: 1 }, { a: 1, b: 2 }, false],
      [{ a: undefined }, { b: undefined }, false],
    ];
    for (const [left, right, isEqual] of cases) {
      stepsOf(() => expect(equal(left, right), JSON.stringify([left, right])).to.equal(isEqual));
    }
    const long = Array.from({ length: 1_000 }, (_, index) => ({ index }));
    expect(stepsOf(() => equal(long, structuredClone(long)))).to.be.greaterThan(20_000);
  });

  it('counts characters, and a surrogate pair as one', () => {
    const length = functionNamed('ucs2length');
    const texts = ['', 'a', 'ü', '😀', 'a😀b😀', '\ud800', '\udc00\ud800', '\ud800\ud800\udc00'];
    stepsOf(() => expect(texts.map((text) => length(text))).to.deep.equal([0, 1, 1, 1, 4, 1, 2, 2]));
    const pairs = ['\ud800\udc00', '\udbff\udfff'];
    stepsOf(() => expect(pairs.map((text) => length(text))).to.deep.equal([1, 1]));
    const others = ['\ud7ff\udc00', '\udc00\udc00', '\ud800\udbff', '\ud800\ue000'];
    stepsOf(() => expect(others.map((text) => length(text))).to.deep.equal([2, 2, 2, 2]));
    expect(stepsOf(() => length('x'.repeat(1_000)))).to.be.at.least(1_000);
  });

  it('has a text for each number of a document whose digits count, and none where they do not', () => {
    const text = '[12,1200e-2,12345678901234567890,0.5]';
    const numbers = JSON.parse(text) as number[];
    const textsWith = (written: WrittenNumbers | undefined): (string | undefined)[] => {
      let texts: (string | undefined)[] = [];
      meter.run(
        new ValidationBudget(0),
        written,
        () => (texts = numbers.map((number, index) => meter.numberText(number, numbers, index))).length > 0,
        null,
      );
      return texts;
    };
    expect(textsWith(new WrittenNumbers(text, numbers))).to.deep.equal([
      '12e0',
      '12e0',
      '1234567890123456789e1',
      '5e-1',
    ]);
    expect(textsWith(undefined)).to.deep.equal([undefined, undefined, undefined, undefined]);
  });

  it('leaves other functions unchanged', () => {
    expect(functionNamed('re2')()).to.equal('its own');
  });
});
