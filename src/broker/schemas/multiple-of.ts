import { LendstreamError } from '../../errors.ts';
import { type WrittenDecimal, readDecimal, needsDigits } from './written-numbers.ts';

/** The longest `multipleOf`. Digits. */
export const divisorDigitsMaximum = 100;

/** A `multipleOf` of a schema. */
export class Divisor {
  readonly #value: WrittenDecimal;
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
