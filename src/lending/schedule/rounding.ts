import { roundAmount, roundToDigits, roundUpToWholeUnit } from '../money.ts';
import type { Currency, Decimal } from '../money.ts';
import type { RoundingTerms } from '../terms.ts';

interface Terms {
  readonly currency: Currency;
  readonly rounding: RoundingTerms;
}

/** The kind of amount in a schedule row: each kind may be rounded differently. */
export type ScheduleAmount = 'PAYMENT' | 'PRINCIPAL' | 'INTEREST';

/** Whether the last row asks for the remainder that rounding all rows' interest leaves. */
export function roundsInterestIntoLastRow({ rounding }: Pick<Terms, 'rounding'>): boolean {
  return rounding.roundingRepaymentScheduleMethod === 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT';
}

/**
 * Rounds one amount of a schedule row: to whole units where the rounding of the repayment currency applies, else to the
 * currency's digits. It always applies to the payment, and to principal and interest only under ROUND_ALL.
 */
export function roundScheduleAmount(amount: Decimal, kind: ScheduleAmount, { currency, rounding }: Terms): Decimal {
  const isApplicable = kind === 'PAYMENT' || rounding.repaymentElementsRoundingMethod === 'ROUND_ALL';
  if (!isApplicable || rounding.repaymentCurrencyRounding === 'NO_ROUNDING') {
    return roundAmount(amount, currency, rounding.roundingMode);
  }
  return rounding.repaymentCurrencyRounding === 'ROUND_UP_TO_NEAREST_WHOLE_UNIT'
    ? roundUpToWholeUnit(amount)
    : roundToDigits(amount, 0, rounding.roundingMode);
}
