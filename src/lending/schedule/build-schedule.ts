/**
 * The schedule: due dates, interest and principal of each installment.
 * In: terms of a loan. Out: rows with exact amounts.
 * Start with `buildSchedule` below; `due-dates.ts`, `open-rows.ts`, `day-count.ts`, `interest.ts`,
 * `level-payment-formula.ts`, `principal-plan.ts` and `level-payment.ts` are its parts. `prepayment-recalculation.ts`
 * spreads what is left after a payment.
 */

import type { Decimal } from '../money.ts';
import type { ScheduleRow } from '../terms.ts';
import { fillRows } from './fill-rows.ts';
import { equalShares } from './principal-plan.ts';
import { type ScheduleRequest, openRows } from './open-rows.ts';
import { isAnnuity, levelPayment, paymentsOf } from './level-payment.ts';

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
