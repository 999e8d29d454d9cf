import type { Decimal } from '../money.ts';
import type { LocalDate, ScheduleTerms } from '../terms.ts';
import type { AccrualPeriod } from './day-count.ts';
import { dueDates, dueDatesFrom } from './due-dates.ts';
import { type RescheduledDate, type Rescheduling, onWorkingDays } from './working-days.ts';

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
  /** Absent: rows are due on the days that the terms say. */
  readonly rescheduling?: Rescheduling;
}

/**
 * The rows of a schedule, each accruing from the due date before it; the first from the disbursement. A row that was
 * moved to a working day keeps the days that it had before.
 */
export function openRows({ terms, disbursementDate, firstRepaymentDate, rescheduling }: ScheduleRequest): OpenRow[] {
  const { dueDates: dateTerms, repaymentInstallments: count } = terms;
  if (rescheduling === undefined) {
    const dates = dueDates(dateTerms, count, disbursementDate, firstRepaymentDate);
    return dates.map((dueDate, index) => ({
      number: index + 1,
      accruesAfter: dates[index - 1] ?? disbursementDate,
      dueDate,
    }));
  }
  const asAgreed = dueDatesFrom(dateTerms, disbursementDate, firstRepaymentDate);
  const dates = onWorkingDays(asAgreed, count, disbursementDate, rescheduling);
  const before = { dueDate: disbursementDate, agreed: disbursementDate };
  return rescheduledPeriods(dates, before).map((period, index) => ({ number: index + 1, ...period }));
}

/**
 * The periods of rows that follow each other.
 * @param before The due date of the row before them, or the disbursement.
 */
export function rescheduledPeriods(dates: readonly RescheduledDate[], before: RescheduledDate): AccrualPeriod[] {
  return dates.map(({ dueDate, agreed }, index) => {
    const previous = dates[index - 1] ?? before;
    const isMoved = dueDate !== agreed || previous.dueDate !== previous.agreed;
    return {
      accruesAfter: previous.dueDate,
      dueDate,
      ...(isMoved ? { unmoved: { accruesAfter: previous.agreed, dueDate: agreed } } : {}),
    };
  });
}
