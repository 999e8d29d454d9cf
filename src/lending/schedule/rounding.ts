import { roundAmount, roundToDigits, roundUpToWholeUnit } from '../money.ts';
import type { Currency, Decimal } from '../money.ts';
import type { RoundingTerms } from '../terms.ts';

interface Terms {
  readonly currency: Currency;
  readonly rounding: RoundingTerms;
}

/** What an amount of a schedule row is: each may be rounded its own way. */
export type ScheduleAmount = 'PAYMENT' | 'PRINCIPAL' | 'INTEREST';

/** Whether the last row asks for what the rounding of all rows' interest leaves over. */
export function takesInterestRemainder({ rounding }: Pick<Terms, 'rounding'>): boolean {
  return rounding.roundingRepaymentScheduleMethod === 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT';
}

/**
 * Rounds one amount of a schedule row: to whole units where the rounding of the repayment currency reaches it, to the
 * currency's digits otherwise. It reaches the payment always, principal and interest only under ROUND_ALL.
 */
export function roundScheduleAmount(amount: Decimal, kind: ScheduleAmount, { currency, rounding }: Terms): Decimal {
  const reached = kind === 'PAYMENT' || rounding.repaymentElementsRoundingMethod === 'ROUND_ALL';
  if (!reached || rounding.repaymentCurrencyRounding === 'NO_ROUNDING') {
    return roundAmount(amount, currency, rounding.roundingMode);
  }
  return rounding.repaymentCurrencyRounding === 'ROUND_UP_TO_NEAREST_WHOLE_UNIT'
    ? roundUpToWholeUnit(amount)
    : roundToDigits(amount, 0, rounding.roundingMode);
}
