import type { Decimal } from '../money.ts';
import type { LocalDate, ScheduleTerms } from '../terms.ts';
import type { AccrualPeriod } from './day-count.ts';
import { dueDates, dueDatesFrom } from './due-dates.ts';
import { type Rescheduling, onWorkingDays } from './working-days.ts';

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
  return dates.map(({ dueDate, agreed }, index) => {
    const before = dates[index - 1] ?? { dueDate: disbursementDate, agreed: disbursementDate };
    const isMoved = dueDate !== agreed || before.dueDate !== before.agreed;
    return {
      number: index + 1,
      accruesAfter: before.dueDate,
      dueDate,
      ...(isMoved ? { unmoved: { accruesAfter: before.agreed, dueDate: agreed } } : {}),
    };
  });
}
