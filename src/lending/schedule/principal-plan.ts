import type { Decimal } from '../money.ts';
import { zero } from '../money.ts';
import type { LocalDate, ScheduleTerms } from '../terms.ts';
import type { OpenRow } from './open-rows.ts';

/** Where the first open row's interest starts when part of its period is over. */
export interface StartOfAccrual {
  /** The outstanding principal has its present value after this day. */
  readonly from: LocalDate;
  /** Unrounded interest of the first row up to and including that day, still to be expected with the row. */
  readonly accruedInterest: Decimal;
}

/** How principal is spread over rows. The last row of a schedule always takes what is left. */
export type PrincipalPlan =
  /** The total of each row, zero for a row that pays only interest. Principal is what interest leaves of it. */
  | { readonly kind: 'LEVEL_PAYMENT'; readonly payments: readonly Decimal[] }
  /** Unrounded principal by row. */
  | { readonly kind: 'SHARES'; readonly shares: readonly Decimal[] }
  /** Principal by row, used unchanged. */
  | { readonly kind: 'KEPT'; readonly principals: readonly Decimal[] };

/** Whether the row repays principal: not within the grace period, and on every n-th row or the last. */
export function paysPrincipal(terms: ScheduleTerms, row: OpenRow, rows: readonly OpenRow[]): boolean {
  if (row.number === rows.at(-1)?.number) return true;
  if (terms.gracePeriodType === 'PAY_INTEREST_ONLY' && row.number <= terms.gracePeriod) return false;
  const interval =
    terms.interest.interestCalculationMethod === 'DECLINING_BALANCE_DISCOUNTED' ? 1 : terms.principalRepaymentInterval;
  return row.number % interval === 0;
}

/**
 * Whether the row pays the level payment plus the interest difference of an irregular first period of the loan.
 */
export function carriesFirstPeriod(terms: ScheduleTerms, row: OpenRow, rows: readonly OpenRow[]): boolean {
  return terms.adjustTotalDueForFirstRepayment && row.number === 1 && paysPrincipal(terms, row, rows);
}

/** The same principal for every row that pays principal. */
export function equalShares(terms: ScheduleTerms, outstanding: Decimal, rows: readonly OpenRow[]): PrincipalPlan {
  const paying = rows.map((row) => paysPrincipal(terms, row, rows));
  const share = outstanding.dividedBy(Math.max(paying.filter(Boolean).length, 1));
  return { kind: 'SHARES', shares: paying.map((pays) => (pays ? share : zero)) };
}
