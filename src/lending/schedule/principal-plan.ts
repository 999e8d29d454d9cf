import { periodInterest, regularPeriodRate } from './interest.ts';
import { Decimal, zero } from '../money.ts';
import type { LocalDate, ScheduleTerms } from '../terms.ts';
import { annuityPayment, optimizedPayment } from './annuity.ts';
import type { AccrualPeriod } from './period-length.ts';
import { roundScheduleAmount } from './rounding.ts';

/** An installment whose amounts are not computed yet. */
export interface OpenRow extends AccrualPeriod {
  /** From 1. */
  readonly number: number;
}

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

/** The payment on every row that pays principal; the first row may have its own. */
export function levelPayments(
  terms: ScheduleTerms,
  payment: Decimal,
  rows: readonly OpenRow[],
  firstPayment: Decimal = payment,
): PrincipalPlan {
  const payments = rows.map((row, index) => {
    if (!paysPrincipal(terms, row, rows)) return zero;
    return index === 0 ? firstPayment : payment;
  });
  return { kind: 'LEVEL_PAYMENT', payments };
}

/**
 * The level payment of a declining-balance-discounted schedule, rounded. STANDARD_PAYMENTS computes it from regular
 * periods and leaves the differences of irregular ones to the last row. OPTIMIZED_PAYMENTS computes it from the actual
 * periods, so that the last row equals the others. A first period whose difference its own payment carries counts as
 * regular.
 */
export function levelPayment(
  terms: ScheduleTerms,
  outstanding: Decimal,
  rows: readonly OpenRow[],
  start?: StartOfAccrual,
): Decimal {
  const paying = rows.filter((row) => paysPrincipal(terms, row, rows));
  const [firstRow] = rows;
  if (firstRow === undefined || paying.length === 0) return zero;
  const exact =
    terms.amortizationMethod === 'STANDARD_PAYMENTS'
      ? annuityPayment(outstanding, regularPeriodRate(terms, start?.from ?? firstRow.accruesAfter), paying.length)
      : evenPayment(terms, outstanding, paying, paying[0] === rows[0] ? start : undefined);
  return roundScheduleAmount(exact, 'PAYMENT', terms);
}

function evenPayment(
  terms: ScheduleTerms,
  outstanding: Decimal,
  paying: readonly OpenRow[],
  start?: StartOfAccrual,
): Decimal {
  const [first] = paying;
  const isCarried = first !== undefined && carriesFirstPeriod(terms, first, paying);
  const rates = paying.map((row, index) =>
    index === 0 && isCarried
      ? regularPeriodRate(terms, start?.from ?? row.accruesAfter)
      : periodInterest(new Decimal(1), terms, row, index === 0 ? start?.from : undefined),
  );
  const [firstRate = zero] = rates;
  const accrued = isCarried ? zero : (start?.accruedInterest ?? zero);
  const balanceAtStart = outstanding.plus(accrued.dividedBy(firstRate.plus(1)));
  const payment = optimizedPayment(balanceAtStart, rates);
  // If interest exceeds the payment, the row repays no principal: it is charged its interest, the rest are made even.
  const interestOnly = outstanding.times(firstRate).plus(accrued).greaterThan(payment) && paying.length > 1;
  return interestOnly ? evenPaymentAfterFirst(outstanding, rates) : payment;
}

/**
 * The payment of the rows after those that only pay their interest, of which the first row is one. Whether a row does
 * follows from the rows after it, so that the discount factors are summed from the last row on.
 */
function evenPaymentAfterFirst(outstanding: Decimal, rates: readonly Decimal[]): Decimal {
  let discounts = zero;
  const payments = rates.toReversed().map((rate) => {
    discounts = discounts.plus(1).dividedBy(rate.plus(1));
    return outstanding.dividedBy(discounts);
  });
  const rest = payments.toReversed();
  const repaysPrincipal = (payment: Decimal, index: number): boolean =>
    index > 0 && !outstanding.times(rates[index] ?? zero).greaterThan(payment);
  // The last row always does, because its own payment is computed with its interest.
  return rest.find(repaysPrincipal) ?? zero;
}
