/**
 * An exact ratio of two whole numbers, in lowest terms. Day counts stay ratios until money is multiplied by them. So
 * the only division comes last, and an amount exactly between two minor units is recognised as a tie.
 */
export interface Fraction {
  readonly numerator: number;
  /** Above zero. */
  readonly denominator: number;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : greatestCommonDivisor(b, a % b);
}

/**
 * The ratio of two whole numbers in lowest terms.
 * @throws RangeError when the denominator is not above zero or a part is not a safe integer: exactness would be lost.
 */
export function fraction(numerator: number, denominator = 1): Fraction {
  if (!Number.isSafeInteger(numerator) || !Number.isSafeInteger(denominator) || denominator <= 0) {
    throw new RangeError(`no exact fraction: ${numerator}/${denominator}`);
  }
  const divisor = greatestCommonDivisor(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** The exact sum. @throws RangeError as {@link fraction} */
export function addFractions(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

/** The exact product. @throws RangeError as {@link fraction} */
export function multiplyFractions(a: Fraction, b: Fraction): Fraction {
  return fraction(a.numerator * b.numerator, a.denominator * b.denominator);
}
