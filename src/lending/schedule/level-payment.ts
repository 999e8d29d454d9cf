import { periodInterest, regularPeriodRate } from './interest.ts';
import { Decimal, zero } from '../money.ts';
import type { ScheduleTerms } from '../terms.ts';
import { annuityPayment, optimizedPayment } from './level-payment-formula.ts';
import { roundScheduleAmount } from './rounding.ts';
import { type StartOfAccrual, type PrincipalPlan, paysPrincipal, carriesFirstPeriod } from './principal-plan.ts';
import { type OpenRow, type ScheduleRequest, openRows } from './open-rows.ts';

/** Whether the schedule is built on a level payment. */
export function isAnnuity(terms: ScheduleTerms): boolean {
  return terms.interest.interestCalculationMethod === 'DECLINING_BALANCE_DISCOUNTED';
}

/**
 * Level payments. Where the terms say so, the payment of row 1 carries the difference of an irregular first period.
 */
export function paymentsOf(
  terms: ScheduleTerms,
  payment: Decimal,
  principal: Decimal,
  rows: readonly OpenRow[],
  start?: StartOfAccrual,
): PrincipalPlan {
  const [first] = rows;
  if (first === undefined || !carriesFirstPeriod(terms, first, rows)) return levelPayments(terms, payment, rows);
  const earned = periodInterest(principal, terms, first, start?.from).plus(start?.accruedInterest ?? zero);
  const charged = roundScheduleAmount(earned, 'INTEREST', terms);
  const regularRate = regularPeriodRate(terms, start?.from ?? first.accruesAfter);
  const regular = roundScheduleAmount(principal.times(regularRate), 'INTEREST', terms);
  return levelPayments(terms, payment, rows, payment.plus(charged).minus(regular));
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

/**
 * The rounded level payment that a DECLINING_BALANCE_DISCOUNTED schedule is built on; zero for the other methods. The
 * total of each row equals it, except the last row, those within the grace period and those whose interest alone is
 * more.
 */
export function periodicPayment(request: ScheduleRequest): Decimal {
  return isAnnuity(request.terms) ? levelPayment(request.terms, request.principal, openRows(request)) : zero;
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
