import type { Decimal } from '../lending/money.ts';

/**
 * Digits before and after the point of a sortable amount. Both are enough for any amount, which has at most fifteen
 * digits, and for interest as it accrues.
 */
const integerDigits = 20;
const fractionDigits = 20;

/**
 * A text of fixed width that sorts like the number: as SQLite and JavaScript compare texts. The digits of a number
 * below zero are counted down from nine, so that the largest one comes last.
 */
export function sortableAmount(amount: Decimal): string {
  const digits = amount
    .abs()
    .toFixed(fractionDigits)
    .padStart(integerDigits + 1 + fractionDigits, '0');
  return amount.isNegative() && !amount.isZero()
    ? `-${digits.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))}`
    : digits;
}

/** Whether {@link sortableAmount} has enough digits for the number. */
export function isSortable(amount: Decimal): boolean {
  return amount.isZero() || (amount.e < integerDigits && amount.decimalPlaces() <= fractionDigits);
}
