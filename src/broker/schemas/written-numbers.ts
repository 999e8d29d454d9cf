import { LendstreamError } from '../../errors.ts';
import { jsonPattern } from '../../json-bytes.ts';

/**
 * Numbers as they are written. A double holds some sixteen digits, so a program may read two different numbers of an
 * event as the same one. Where that matters, the rules of a schema are checked against the digits.
 */

/** Numbers of at most this many characters and without an exponent have different doubles when they differ. */
export const plainNumberCharactersMaximum = 15;

/**
 * The value of a number: digits times ten to the power of the exponent. The digits have neither leading nor trailing
 * zeros; zero has no digits.
 */
interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** Larger exponents are treated as this one. */
const exponentMaximum = 1e15;

const numberPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** @param text A JSON number. */
function readDecimal(text: string): Decimal {
  const [, sign = '', whole = '', fraction = '', power = '0'] = numberPattern.exec(text) ?? [];
  const all = whole + fraction;
  let begin = 0;
  while (all.charAt(begin) === '0') begin += 1;
  let end = all.length;
  while (end > begin && all.charAt(end - 1) === '0') end -= 1;
  const digits = all.slice(begin, end);
  const bounded = Math.max(-exponentMaximum, Math.min(Number(power), exponentMaximum));
  const exponent = digits === '' ? 0 : bounded - fraction.length + (all.length - end);
  return { isNegative: sign === '-' && digits !== '', digits, exponent };
}

/** Negative when the left JSON number is less than the right one, 0 when they are equal. Linear in their length. */
export function compareNumbers(left: string, right: string): number {
  const first = readDecimal(left);
  const second = readDecimal(right);
  if (first.isNegative !== second.isNegative) return first.isNegative ? -1 : 1;
  return (first.isNegative ? -1 : 1) * compareMagnitudes(first, second);
}

function compareMagnitudes(left: Decimal, right: Decimal): number {
  if (left.digits === '' || right.digits === '') return left.digits.length - right.digits.length;
  const leftPower = left.exponent + left.digits.length;
  const rightPower = right.exponent + right.digits.length;
  if (leftPower !== rightPower) return leftPower < rightPower ? -1 : 1;
  // Both are fractions with the same power now, so digits compare from the left.
  if (left.digits === right.digits) return 0;
  return left.digits < right.digits ? -1 : 1;
}

/** Whether a JSON number has only zeros after its decimal point: `1.0` and `1e400` are whole. */
export function isIntegerText(text: string): boolean {
  return readDecimal(text).exponent >= 0;
}

/** A text, the same for equal numbers. */
export function canonicalNumber(text: string): string {
  const { isNegative, digits, exponent } = readDecimal(text);
  return `${isNegative ? '-' : ''}${digits}e${exponent}`;
}

/** The longest `multipleOf`. Digits. */
export const divisorDigitsMaximum = 100;

/** A `multipleOf` of a schema. */
export class Divisor {
  readonly #value: Decimal;
  readonly #digits: bigint;
  /** The divisor in units of a hundred-millionth, when it is a whole number of units and small enough; else 0. */
  readonly #units: number;
  readonly #spend: (steps: number) => void;

  /**
   * @param text A JSON number above zero.
   * @param spend Called with the cost of each division that reads digits. Steps of the budget for validation.
   * @throws UNPROCESSABLE when it is longer than {@link divisorDigitsMaximum}.
   */
  constructor(text: string, spend: (steps: number) => void = () => {}) {
    this.#spend = spend;
    this.#value = readDecimal(text);
    if (this.#value.digits.length > divisorDigitsMaximum) {
      const detail = `Invalid schema: a multipleOf has more than ${divisorDigitsMaximum} digits`;
      throw new LendstreamError('UNPROCESSABLE', detail);
    }
    this.#digits = BigInt(this.#value.digits);
    this.#units = needsDigits(text) ? 0 : (unitsOf(Number(text)) ?? 0);
  }

  /**
   * Whether a number is a multiple.
   * @param value The number as a double.
   * @param text The written form of the number, when the double may not hold it.
   */
  divides(value: number, text: string | undefined): boolean {
    if (text === undefined) {
      const units = this.#units === 0 ? undefined : unitsOf(value);
      if (units !== undefined) return units % this.#units === 0;
    }
    const all = text ?? String(value);
    this.#spend(stepsPerDivision + all.length * stepsPerDividedDigit);
    const { digits, exponent } = readDecimal(all);
    if (digits === '') return true;
    const power = exponent - this.#value.exponent;
    if (power >= 0) return (remainder(digits, this.#digits) * powerOfTen(power, this.#digits)) % this.#digits === 0n;
    // A multiple would end with zeros, and the digits do not include trailing zeros.
    return false;
  }
}

/** The cost of a division, and of each digit. Steps. */
const stepsPerDivision = 2_000;
const stepsPerDividedDigit = 20;

const unitsPerOne = 100_000_000;

/**
 * Above this, two neighbouring counts of units may have the same double: from 2 ** 26 on, doubles lie further apart
 * than units.
 */
const unitsMaximum = 2 ** 52;

/** A number in units of a hundred-millionth, when only one whole number of units has its double; else undefined. */
function unitsOf(value: number): number | undefined {
  const units = Math.round(value * unitsPerOne);
  return Math.abs(units) <= unitsMaximum && units / unitsPerOne === value ? units : undefined;
}

/** How many digits are read at once: as many as are cheap to divide. */
const chunkDigits = 200;

function remainder(digits: string, divisor: bigint): bigint {
  let rest = 0n;
  for (let at = 0; at < digits.length; at += chunkDigits) {
    const chunk = digits.slice(at, at + chunkDigits);
    rest = (rest * 10n ** BigInt(chunk.length) + BigInt(chunk)) % divisor;
  }
  return rest;
}

function powerOfTen(power: number, modulus: bigint): bigint {
  let result = 1n;
  let factor = 10n % modulus;
  for (let rest = BigInt(power); rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * factor) % modulus;
    factor = (factor * factor) % modulus;
  }
  return result % modulus;
}

/** Whether a JSON number needs its digits because another one may have the same double. */
export function needsDigits(text: string): boolean {
  return text.length > plainNumberCharactersMaximum || /[eE]/.test(text);
}

/** The digits of those numbers of a JSON document that need them, by the object or list that holds them. */
export class WrittenNumbers {
  readonly #texts = new WeakMap<object, Map<string | number, string>>();

  /**
   * @param text The document. A parser has accepted it, and no key repeats in it.
   * @param value The value that the parser returned.
   */
  constructor(text: string, value: unknown) {
    new Reader(text, (container, key, digits) => {
      const texts = this.#texts.get(container) ?? new Map<string | number, string>();
      this.#texts.set(container, texts.set(key, digits));
    }).read(value);
  }

  /** The written form of the number under a key or at an index; undefined when its double holds it. */
  textOf(container: unknown, key: string | number): string | undefined {
    return typeof container === 'object' && container !== null ? this.#texts.get(container)?.get(key) : undefined;
  }
}

/**
 * Where the numbers of a schema keep their digits. Code that copies a schema has to copy them with it: a spread does,
 * `Object.entries` does not.
 */
const digitsOfSchema = Symbol('digits');

/** Notes the written form of those numbers of a schema that a double does not hold. */
export function recordDigits(text: string, schema: unknown): void {
  if (!/\d[\d.]{14}|\d[eE]/.test(text)) return;
  new Reader(text, (container, key, digits) => {
    Object.defineProperty(container, digitsOfSchema, {
      value: { ...recordedDigits(container), [key]: digits },
      enumerable: true,
      configurable: true,
    });
  }).read(schema);
}

/** The written form of the number of a schema under a key or at an index; undefined when its double holds it. */
export function writtenDigits(container: object, key: string | number): string | undefined {
  return recordedDigits(container)[key];
}

/** Copies the digits of a part of a schema to a copy of that part, with the same keys or some of them renamed. */
export function copyDigits(from: object, to: object, renamed: Readonly<Record<string, string>> = {}): void {
  const digits = Object.entries(recordedDigits(from));
  if (digits.length === 0) return;
  const value = Object.fromEntries(digits.map(([key, text]) => [renamed[key] ?? key, text]));
  Object.defineProperty(to, digitsOfSchema, { value, enumerable: true, configurable: true });
}

/** A part of a schema under the keywords of another one, which win; each number keeps its own digits. */
export function mergeSchemas<Part extends object>(under: Part, over: Part): Part {
  const merged = { ...under, ...over };
  const kept = Object.entries(recordedDigits(under)).filter(([key]) => !Object.hasOwn(over, key));
  const value = { ...Object.fromEntries(kept), ...recordedDigits(over) };
  if (!(digitsOfSchema in merged)) return merged;
  return Object.defineProperty(merged, digitsOfSchema, { value, enumerable: true, configurable: true });
}

function recordedDigits(container: object): Readonly<Record<string, string>> {
  return (Reflect.get(container, digitsOfSchema) as Record<string, string> | undefined) ?? {};
}

const token = new RegExp(String.raw`[\s:,]*(${jsonPattern.string}|${jsonPattern.number}|[[\]{}]|[a-z]+)`, 'y');

type NumberListener = (container: object, key: string | number, digits: string) => void;

class Reader {
  readonly #text: string;
  readonly #onNumber: NumberListener;

  constructor(text: string, onNumber: NumberListener) {
    this.#text = text;
    this.#onNumber = onNumber;
  }

  read(value: unknown): void {
    token.lastIndex = 0;
    this.#value(this.#next(), value, {}, '');
  }

  #next(): string {
    return token.exec(this.#text)?.[1] ?? '';
  }

  #value(first: string, value: unknown, container: object, key: string | number): void {
    if (first === '{') {
      for (let name = this.#next(); name !== '}' && name !== ''; name = this.#next()) {
        const field = JSON.parse(name) as string;
        this.#value(this.#next(), memberOf(value, field), value as object, field);
      }
    } else if (first === '[') {
      let index = 0;
      for (let item = this.#next(); item !== ']' && item !== ''; item = this.#next(), index += 1) {
        this.#value(item, memberOf(value, index), value as object, index);
      }
    } else if (typeof value === 'number' && needsDigits(first)) this.#onNumber(container, key, first);
  }
}

function memberOf(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
