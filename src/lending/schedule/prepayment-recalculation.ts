import type { PrepaymentRecalculationMethod } from '../payment-options.ts';
import { larger, smaller, sum, zero, type Decimal } from '../money.ts';
import type { ScheduleRow, ScheduleTerms } from '../terms.ts';
import { fillRows } from './fill-rows.ts';
import { equalShares, paysPrincipal, type PrincipalPlan, type StartOfAccrual } from './principal-plan.ts';
import { isAnnuity, levelPayment, paymentsOf } from './level-payment.ts';

export interface RebuildRequest {
  readonly terms: ScheduleTerms;
  /** The base of FLAT interest; the other methods charge interest on what is outstanding. */
  readonly amountLent: Decimal;
  /** Principal that the rows have to repay from now on. */
  readonly outstanding: Decimal;
  /** The remaining rows, in order, with the amounts they expected before. */
  readonly rows: readonly ScheduleRow[];
  readonly method: PrepaymentRecalculationMethod;
  /** The level payment before; absent means the total of the first row that has one. */
  readonly payment?: Decimal;
  /** How many of the first rows keep their level payment, when that of the others is computed again; 0 when absent. */
  readonly keptPayments?: number;
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
 * | RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT | what interest leaves of the row's total before |
 * | REDUCE_NUMBER_OF_INSTALLMENTS, .._NEW | what interest leaves of the kept payment; without one, as before |
 *
 * The last four drop the rows that have nothing left to repay, unless interest is FLAT: that is owed whatever has been
 * repaid. The last row takes what the plan leaves over.
 */
export function rebuildRows(request: RebuildRequest): ScheduleRow[] {
  const { terms, method, rows, keptPayments = 0 } = request;
  if (keptPayments > 0 && computesPayment.has(method) && isAnnuity(terms)) {
    const kept = fillRows({ ...request, plan: keptPayment(request), endsWhenRepaid: false }).slice(0, keptPayments);
    const outstanding = request.outstanding.minus(sum(principalsOf(kept)));
    const others = { terms, method, amountLent: request.amountLent, outstanding, rows: rows.slice(keptPayments) };
    return others.rows.length === 0 ? kept : [...kept, ...rebuildRows(others)];
  }
  const endsWhenRepaid = shorteningMethods.has(method) && terms.interest.interestCalculationMethod !== 'FLAT';
  return fillRows({ ...request, plan: planAfter[method](request), endsWhenRepaid });
}

/** The methods that compute a level payment again. */
export const computesPayment: ReadonlySet<PrepaymentRecalculationMethod> = new Set([
  'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS',
  'REDUCE_AMOUNT_PER_INSTALLMENT',
]);

const shorteningMethods: ReadonlySet<PrepaymentRecalculationMethod> = new Set([
  'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT',
  'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT',
  'REDUCE_NUMBER_OF_INSTALLMENTS',
  'REDUCE_NUMBER_OF_INSTALLMENTS_NEW',
]);

const planAfter: Readonly<Record<PrepaymentRecalculationMethod, (request: RebuildRequest) => PrincipalPlan>> = {
  NO_RECALCULATION: ({ rows, outstanding }) => reducedByPrepayment(principalsOf(rows), outstanding),
  RESCHEDULE_REMAINING_REPAYMENTS: ({ terms, rows, outstanding }) => inProportion(terms, outstanding, rows),
  RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS: asNewSchedule,
  REDUCE_AMOUNT_PER_INSTALLMENT: asNewSchedule,
  RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT: ({ rows }) => ({ kind: 'KEPT', principals: principalsOf(rows) }),
  RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT: ({ terms, rows }) => ({
    kind: 'LEVEL_PAYMENT',
    payments: rows.map((row) => (paysPrincipal(terms, row, rows) ? row.principal.plus(row.interest) : zero)),
  }),
  REDUCE_NUMBER_OF_INSTALLMENTS: keptPayment,
  REDUCE_NUMBER_OF_INSTALLMENTS_NEW: keptPayment,
};

function keptPayment({ terms, rows, outstanding, payment, start }: RebuildRequest): PrincipalPlan {
  return isAnnuity(terms)
    ? paymentsOf(terms, payment ?? paymentBefore(terms, rows), outstanding, rows, start)
    : { kind: 'KEPT', principals: principalsOf(rows) };
}

function asNewSchedule({ terms, rows, outstanding, start }: RebuildRequest): PrincipalPlan {
  return isAnnuity(terms)
    ? paymentsOf(terms, levelPayment(terms, outstanding, rows, start), outstanding, rows, start)
    : equalShares(terms, outstanding, rows);
}

function principalsOf(rows: readonly ScheduleRow[]): Decimal[] {
  return rows.map((row) => row.principal);
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
