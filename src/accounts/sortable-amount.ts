import type { Decimal } from '../lending/money.ts';

/**
 * Digits before and after the point of a sortable amount. Both are enough for any amount, which has at most fifteen
 * digits.
 */
const integerDigits = 20;

const fractionDigits = 10;

/** A text of fixed width that sorts like the amounts. The amount must not be negative. */
export function sortableAmount(amount: Decimal): string {
  return amount.toFixed(fractionDigits).padStart(integerDigits + 1 + fractionDigits, '0');
}
