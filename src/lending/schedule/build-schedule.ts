/**
 * The schedule: due dates, interest and principal of each installment.
 * In: terms of a loan. Out: rows with exact amounts.
 * Start with `buildSchedule` below; `due-dates.ts`, `day-count.ts`, `interest.ts`, `annuity.ts`, `principal-plan.ts`
 * and `level-payment.ts` are its parts. `rebuild-rows.ts` spreads what is left after a payment.
 */

import type { Decimal } from '../money.ts';
import { zero } from '../money.ts';
import type { LocalDate, ScheduleRow, ScheduleTerms } from '../terms.ts';
import { dueDates } from './due-dates.ts';
import { fillRows } from './fill-rows.ts';
import { equalShares, type OpenRow } from './principal-plan.ts';
import { isAnnuity, levelPayment, paymentsOf } from './level-payment.ts';

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

function openRows({ terms, disbursementDate, firstRepaymentDate }: ScheduleRequest): OpenRow[] {
  const dates = dueDates(terms.dueDates, terms.repaymentInstallments, disbursementDate, firstRepaymentDate);
  return dates.map((dueDate, index) => ({
    number: index + 1,
    accruesAfter: dates[index - 1] ?? disbursementDate,
    dueDate,
  }));
}

/**
 * The rounded level payment that a DECLINING_BALANCE_DISCOUNTED schedule is built on; zero for the other methods. The
 * total of each row equals it, except the last row, those within the grace period and those whose interest alone is
 * more.
 */
export function periodicPayment(request: ScheduleRequest): Decimal {
  return isAnnuity(request.terms) ? levelPayment(request.terms, request.principal, openRows(request)) : zero;
}
