import { collectedViolationsMaximum } from './metered-code.ts';
import { ValidationBudgetUsedUp, type ValidationBudget } from './validation-budget.ts';
import { canonicalNumber, type WrittenNumbers } from './written-numbers.ts';

/**
 * The state that validators use while they run. All requests share the compiled code of a validator, so the budget of a
 * request is kept here during one call, which nothing interrupts.
 */
class ValidationMeter {
  /** What is left of the budget for the event that is being checked. Generated code subtracts from it. Steps. */
  steps = 0;
  /** The digits of those numbers of the event being checked that a double does not hold. */
  written: WrittenNumbers | undefined;

  /**
   * Runs one validation and takes its steps from a budget.
   * @throws ValidationBudgetUsedUp when the budget does not suffice.
   */
  run(
    budget: ValidationBudget,
    written: WrittenNumbers | undefined,
    validate: (value: unknown) => boolean,
    value: unknown,
  ): boolean {
    const allowed = Math.min(budget.steps, budget.stepsPerEvent);
    this.steps = allowed;
    this.written = written;
    try {
      return validate(value);
    } finally {
      budget.steps -= allowed - this.steps;
      this.written = undefined;
    }
  }

  /**
   * Takes steps from the budget.
   * @throws ValidationBudgetUsedUp when none are left.
   */
  readonly spend = (steps: number): void => {
    this.steps -= steps;
    if (this.steps < 0) this.stop();
  };

  readonly stop = (): never => {
    throw new ValidationBudgetUsedUp();
  };

  /** A text for a number in a list, the same for equal numbers; undefined where doubles tell the numbers apart. */
  readonly numberText = (value: number, container: unknown, key: string | number): string | undefined =>
    this.written === undefined
      ? undefined
      : canonicalNumber(this.digitsOf(container, key) ?? this.plainDigitsOf(value));

  /**
   * The digits of a number that a double does not hold. Every digit is charged, since callers go through all of them.
   */
  readonly digitsOf = (container: unknown, key: string | number): string | undefined => {
    const digits = this.written?.textOf(container, key);
    if (digits !== undefined) this.spend(stepsPerWrittenNumber + digits.length * stepsPerDigit);
    return digits;
  };

  /** The digits of any other number. */
  readonly plainDigitsOf = (value: number): string => {
    this.spend(stepsPerWrittenNumber);
    return String(value);
  };

  /** The names of an object's fields. */
  readonly keys = (object: object): string[] => {
    const keys = Object.keys(object);
    this.spend(keys.length * (keys.length < largeObjectKeys ? stepsPerKey : stepsPerKeyOfLargeObject));
    return keys;
  };

  /** Joins the names of evaluated fields. */
  readonly assign = (target: object, source: object): object => {
    this.spend(Object.keys(source).length * stepsPerKeyOfLargeObject);
    return Object.assign(target, source);
  };

  /** The name of a field, escaped as a step of a JSON pointer. */
  readonly pointerStep = (key: string): string => {
    this.spend(stepsPerPointerStep + key.length);
    if (!/[~/]/.test(key)) return key;
    return key.replaceAll('~', '~0').replaceAll('/', '~1');
  };

  /** Joins two lists of violations, up to the number that is collected. */
  readonly joined = (collected: readonly unknown[] | null, further: readonly unknown[]): readonly unknown[] => {
    if (collected === null) return further;
    if (collected.length >= collectedViolationsMaximum) return collected;
    this.spend(stepsPerKey * (collected.length + further.length));
    return [...collected, ...further].slice(0, collectedViolationsMaximum);
  };

  /** The counting version of a function that validators call, or the function itself where it needs none. */
  readonly counting = (called: object): unknown => {
    const name = String(Reflect.get(called, 'code'));
    if (name.includes('runtime/equal')) return this.#equal;
    return name.includes('runtime/ucs2length') ? this.#charactersOf : called;
  };

  readonly #equal = (left: unknown, right: unknown): boolean => {
    this.spend(stepsPerComparison);
    if (left === right) return true;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
    if (Array.isArray(left)) {
      if (!Array.isArray(right) || left.length !== right.length) return false;
      return left.every((item, index) => this.#equal(item, right[index]));
    }
    if (Array.isArray(right)) return false;
    const names = this.keys(left);
    return (
      names.length === this.keys(right).length &&
      names.every(
        (name) => Object.hasOwn(right, name) && this.#equal(Reflect.get(left, name), Reflect.get(right, name)),
      )
    );
  };

  /** A character of two UTF-16 units counts as one. */
  readonly #charactersOf = (text: string): number => {
    this.spend(text.length * stepsPerCharacter);
    let characters = text.length;
    for (let at = 1; at < text.length; at += 1) {
      if (isBetween(text.charCodeAt(at), 0xdc00, 0xdfff) && isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff)) {
        characters -= 1;
      }
    }
    return characters;
  };
}

function isBetween(unit: number, least: number, most: number): boolean {
  return unit >= least && unit <= most;
}

/** The cost of operations, in steps of the budget. */
const stepsPerKey = 5;
const stepsPerKeyOfLargeObject = 150;
const stepsPerPointerStep = 50;
const stepsPerComparison = 20;
const stepsPerCharacter = 2;
const stepsPerWrittenNumber = 400;
const stepsPerDigit = 5;

/** From this many fields on, the engine may have to collect the keys of an object on each call. */
const largeObjectKeys = 32;

/** The meter of all validators in this process. */
export const meter = new ValidationMeter();
