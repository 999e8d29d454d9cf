import { Decimal as DecimalJs } from 'decimal.js';

/**
 * Exact decimals for money and for everything that money is computed from. 40 significant digits keep twenty decimals
 * of accrual on any amount a ledger holds. Compare with the methods (`lessThan`, `equals`), never with `<`: on these
 * objects `<` compares text.
 */
export const Decimal = DecimalJs.clone({
  precision: 40,
  rounding: DecimalJs.ROUND_HALF_UP,
  toExpNeg: -40,
  toExpPos: 40,
});
export type Decimal = DecimalJs;

export const zero: Decimal = new Decimal(0);

export interface Currency {
  /** ISO 4217, e.g. `EUR`. */
  readonly code: string;
  /** Digits after the point of an amount in this currency: JPY 0, EUR 2, JOD 3, BTC 8. */
  readonly digits: number;
}

/** How an amount is rounded to its currency's digits. HALF_UP unless the product says otherwise. */
export type RoundingMode = 'HALF_UP' | 'HALF_EVEN';

/**
 * Decimals beyond this one are treated as division noise. It is coarser than the noise of a thousand accruals at twenty
 * decimals, and finer than any difference that terms can make.
 */
const significantDecimals = 16;

/**
 * Rounds an amount to its currency's digits: the rounding at posting and at schedule-row creation. Division noise is
 * dropped first, so that thirty thirtieths of half a cent are exactly half a cent, not slightly less.
 */
export function roundAmount(amount: Decimal, currency: Currency, mode: RoundingMode = 'HALF_UP'): Decimal {
  return roundToDigits(amount, currency.digits, mode);
}

/** {@link roundAmount} to a number of digits; 0 rounds to whole units. */
export function roundToDigits(amount: Decimal, digits: number, mode: RoundingMode): Decimal {
  return amount
    .toDecimalPlaces(significantDecimals, DecimalJs.ROUND_HALF_UP)
    .toDecimalPlaces(digits, mode === 'HALF_EVEN' ? DecimalJs.ROUND_HALF_EVEN : DecimalJs.ROUND_HALF_UP);
}

/** The amount in the currency's digits that is not above this one: what is left of a limit. */
export function roundDownAmount(amount: Decimal, currency: Currency): Decimal {
  return amount
    .toDecimalPlaces(significantDecimals, DecimalJs.ROUND_HALF_UP)
    .toDecimalPlaces(currency.digits, DecimalJs.ROUND_DOWN);
}

/** The next whole unit at or above the amount. */
export function roundUpToWholeUnit(amount: Decimal): Decimal {
  return amount.toDecimalPlaces(significantDecimals, DecimalJs.ROUND_HALF_UP).toDecimalPlaces(0, DecimalJs.ROUND_CEIL);
}

/** The most digits of an amount, including those after its point: every reader of a JSON number keeps this many. */
const amountDigitsMaximum = 15;

/**
 * Whether an amount can be lent, charged or paid: above zero, no finer than the currency, and short enough to be read.
 */
export function isPostable(amount: Decimal, currencyDigits: number): boolean {
  return (
    amount.greaterThan(0) &&
    amount.decimalPlaces() <= currencyDigits &&
    // `e` is the decimal exponent (0 for 1): the amount is below ten to this power.
    amount.e < amountDigitsMaximum - currencyDigits
  );
}

/** The exact sum; zero for no amounts. */
export function sum(amounts: Iterable<Decimal>): Decimal {
  let total = zero;
  for (const amount of amounts) total = add(total, amount);
  return total;
}

/** The sum of two amounts. Most summands of a schedule are zero, and testing for zero is cheaper than adding. */
export function add(total: Decimal, amount: Decimal): Decimal {
  if (amount.isZero()) return total;
  return total.isZero() ? amount : total.plus(amount);
}

/** The smaller of two amounts. */
export function smaller(a: Decimal, b: Decimal): Decimal {
  return a.lessThan(b) ? a : b;
}

/** The larger of two amounts. */
export function larger(a: Decimal, b: Decimal): Decimal {
  return a.greaterThan(b) ? a : b;
}
