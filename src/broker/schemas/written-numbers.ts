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
export interface WrittenDecimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** Larger exponents are treated as this one. */
const exponentMaximum = 1e15;

const numberPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** @param text A JSON number. */
export function readDecimal(text: string): WrittenDecimal {
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

function compareMagnitudes(left: WrittenDecimal, right: WrittenDecimal): number {
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
    new LongNumberReader(text, (container, key, digits) => {
      const texts = this.#texts.get(container) ?? new Map<string | number, string>();
      this.#texts.set(container, texts.set(key, digits));
    }).read(value);
  }

  /** The written form of the number under a key or at an index; undefined when its double holds it. */
  textOf(container: unknown, key: string | number): string | undefined {
    return typeof container === 'object' && container !== null ? this.#texts.get(container)?.get(key) : undefined;
  }
}

const token = new RegExp(String.raw`[\s:,]*(${jsonPattern.string}|${jsonPattern.number}|[[\]{}]|[a-z]+)`, 'y');

type NumberListener = (container: object, key: string | number, digits: string) => void;

export class LongNumberReader {
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
