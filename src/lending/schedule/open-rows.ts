import type { Decimal } from '../money.ts';
import type { LocalDate, ScheduleTerms } from '../terms.ts';
import type { AccrualPeriod } from './day-count.ts';
import { dueDates } from './due-dates.ts';

/** An installment whose amounts are not computed yet. */
export interface OpenRow extends AccrualPeriod {
  /** From 1. */
  readonly number: number;
}

/** What a schedule is made from. */
export interface ScheduleRequest {
  readonly terms: ScheduleTerms;
  readonly principal: Decimal;
  readonly disbursementDate: LocalDate;
  readonly firstRepaymentDate?: LocalDate;
}

/** The rows of a schedule, each accruing from the due date before it; the first from the disbursement. */
export function openRows({ terms, disbursementDate, firstRepaymentDate }: ScheduleRequest): OpenRow[] {
  const dates = dueDates(terms.dueDates, terms.repaymentInstallments, disbursementDate, firstRepaymentDate);
  return dates.map((dueDate, index) => ({
    number: index + 1,
    accruesAfter: dates[index - 1] ?? disbursementDate,
    dueDate,
  }));
}
