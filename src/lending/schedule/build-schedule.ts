/**
 * The schedule: due dates, interest and principal of each installment.
 * In: terms of a loan. Out: rows with exact amounts.
 * Start with `buildSchedule` below; `due-dates.ts`, `day-count.ts`, `interest.ts`, `annuity.ts` and
 * `principal-plan.ts` are its parts.
 */

import type { PrepaymentRecalculationMethod } from '../payment-options.ts';
import { periodInterest, regularPeriodRate } from './interest.ts';
import { larger, smaller, sum, zero } from '../money.ts';
import type { Decimal } from '../money.ts';
import type { LocalDate, ScheduleRow, ScheduleTerms } from '../terms.ts';
import { dueDates } from './due-dates.ts';
import { fillRows } from './fill-rows.ts';
import { carriesFirstPeriod, equalShares, levelPayment, levelPayments, paysPrincipal } from './principal-plan.ts';
import type { OpenRow, PrincipalPlan, StartOfAccrual } from './principal-plan.ts';
import { roundScheduleAmount } from './rounding.ts';

export interface ScheduleRequest {
  readonly terms: ScheduleTerms;
  readonly principal: Decimal;
  readonly disbursementDate: LocalDate;
  readonly firstRepaymentDate?: LocalDate;
}

/**
 * The schedule of a loan as disbursed; fixed and dynamic loans start with the same one. The principal of the rows sums
 * to the principal lent, no amount is below zero, and the last row closes the loan.
 * @param payment The {@link periodicPayment} of the request, if the caller has it: computing it is half of the work.
 * @throws RangeError when the first repayment date is not after the disbursement, or a date leaves the calendar.
 */
export function buildSchedule(request: ScheduleRequest, payment?: Decimal): ScheduleRow[] {
  const { terms, principal } = request;
  const rows = openRows(request);
  const plan = isAnnuity(terms)
    ? paymentsOf(terms, payment ?? levelPayment(terms, principal, rows), principal, rows)
    : equalShares(terms, principal, rows);
  return fillRows({ terms, rows, outstanding: principal, amountLent: principal, plan, endsWhenRepaid: false });
}

/**
 * The rounded level payment that a DECLINING_BALANCE_DISCOUNTED schedule is built on; zero for the other methods. The
 * total of each row equals it, except the last row, those within the grace period and those whose interest alone is
 * more.
 */
export function periodicPayment(request: ScheduleRequest): Decimal {
  return isAnnuity(request.terms) ? levelPayment(request.terms, request.principal, openRows(request)) : zero;
}

export interface RebuildRequest {
  readonly terms: ScheduleTerms;
  /** The base of FLAT interest; the other methods charge interest on what is outstanding. */
  readonly amountLent: Decimal;
  /** Principal that the rows have to repay from now on. */
  readonly outstanding: Decimal;
  /** The remaining rows, in order, with the amounts they expected before. */
  readonly rows: readonly ScheduleRow[];
  readonly method: PrepaymentRecalculationMethod;
  /** The payment that REDUCE_NUMBER_OF_INSTALLMENTS_NEW keeps; absent means the total of the first row that has one. */
  readonly payment?: Decimal;
  /** Given when part of the first row's period is over; absent means that none is. */
  readonly start?: StartOfAccrual;
}

/**
 * The remaining rows after the outstanding principal has changed. Their numbers and dates stay.
 *
 * | method | principal of a row |
 * |---|---|
 * | NO_RECALCULATION | as before, but the first rows give up what has been paid ahead |
 * | RESCHEDULE_REMAINING_REPAYMENTS | the outstanding principal in proportion to the rows' principal before |
 * | RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS, REDUCE_AMOUNT_PER_INSTALLMENT | as in a fresh schedule |
 * | RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT | as before until nothing is left |
 * | REDUCE_NUMBER_OF_INSTALLMENTS_NEW | what interest leaves of the kept payment; without one, as before |
 *
 * The last two drop the rows that have nothing left to repay, unless interest is FLAT: that is owed whatever has been
 * repaid. The last row takes what the plan leaves over.
 */
export function rebuildRows(request: RebuildRequest): ScheduleRow[] {
  const { terms, method } = request;
  const endsWhenRepaid = shorteningMethods.has(method) && terms.interest.interestCalculationMethod !== 'FLAT';
  return fillRows({ ...request, plan: planAfter[method](request), endsWhenRepaid });
}

const shorteningMethods: ReadonlySet<PrepaymentRecalculationMethod> = new Set([
  'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT',
  'REDUCE_NUMBER_OF_INSTALLMENTS_NEW',
]);

const planAfter: Readonly<Record<PrepaymentRecalculationMethod, (request: RebuildRequest) => PrincipalPlan>> = {
  NO_RECALCULATION: ({ rows, outstanding }) => reducedByPrepayment(principalsOf(rows), outstanding),
  RESCHEDULE_REMAINING_REPAYMENTS: ({ terms, rows, outstanding }) => inProportion(terms, outstanding, rows),
  RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS: asNewSchedule,
  REDUCE_AMOUNT_PER_INSTALLMENT: asNewSchedule,
  RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT: ({ rows }) => ({ kind: 'KEPT', principals: principalsOf(rows) }),
  REDUCE_NUMBER_OF_INSTALLMENTS_NEW: ({ terms, rows, outstanding, payment, start }) =>
    isAnnuity(terms)
      ? paymentsOf(terms, payment ?? paymentBefore(terms, rows), outstanding, rows, start)
      : { kind: 'KEPT', principals: principalsOf(rows) },
};

function asNewSchedule({ terms, rows, outstanding, start }: RebuildRequest): PrincipalPlan {
  return isAnnuity(terms)
    ? paymentsOf(terms, levelPayment(terms, outstanding, rows, start), outstanding, rows, start)
    : equalShares(terms, outstanding, rows);
}

function principalsOf(rows: readonly ScheduleRow[]): Decimal[] {
  return rows.map((row) => row.principal);
}

function isAnnuity(terms: ScheduleTerms): boolean {
  return terms.interest.interestCalculationMethod === 'DECLINING_BALANCE_DISCOUNTED';
}

function openRows({ terms, disbursementDate, firstRepaymentDate }: ScheduleRequest): OpenRow[] {
  const dates = dueDates(terms.dueDates, terms.repaymentInstallments, disbursementDate, firstRepaymentDate);
  return dates.map((dueDate, index) => ({
    number: index + 1,
    accruesAfter: dates[index - 1] ?? disbursementDate,
    dueDate,
  }));
}

/**
 * Level payments. Where the terms say so, the payment of row 1 carries the difference of an irregular first period.
 */
function paymentsOf(
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

/** Takes the principal that is no longer outstanding from the first rows. */
function reducedByPrepayment(principals: readonly Decimal[], outstanding: Decimal): PrincipalPlan {
  let paid = larger(sum(principals).minus(outstanding), zero);
  const remainingPrincipals = principals.map((principal) => {
    const reduction = smaller(paid, principal);
    paid = paid.minus(reduction);
    return principal.minus(reduction);
  });
  return { kind: 'KEPT', principals: remainingPrincipals };
}

function inProportion(terms: ScheduleTerms, outstanding: Decimal, rows: readonly ScheduleRow[]): PrincipalPlan {
  const totalPrincipal = sum(principalsOf(rows));
  if (totalPrincipal.isZero()) return equalShares(terms, outstanding, rows);
  return { kind: 'SHARES', shares: rows.map((row) => outstanding.times(row.principal).dividedBy(totalPrincipal)) };
}

function paymentBefore(terms: ScheduleTerms, rows: readonly ScheduleRow[]): Decimal {
  const row = rows.find((candidate) => paysPrincipal(terms, candidate, rows));
  return row === undefined ? zero : row.principal.plus(row.interest);
}
