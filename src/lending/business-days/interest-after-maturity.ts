import { earnsAfterMaturity } from '../accrual.ts';
import { addMonths, partsOf } from '../dates.ts';
import { type Installment, dueOf } from '../installments.ts';
import type { Loan } from '../loan.ts';
import type { LocalDate } from '../terms.ts';

const monthsPerYear = 12;

/**
 * Whether the interest that a row has earned is applied by the end of a day: by any until its due date, and what the
 * last row earns after that once a month, on the day of the month of its due date.
 */
export function isAppliedOn(loan: Loan, row: Installment, on: LocalDate): boolean {
  const isAfterMaturity = on > row.dueDate && row.number === loan.position.installments.length;
  return !isAfterMaturity || !earnsAfterMaturity(loan) || monthOf(row.dueDate, on).date === on;
}

/**
 * The next day on which interest earned after the last due date is applied; null when there is none: before that date,
 * while interest is locked, and once no principal earns it and all of it is applied.
 * @param reached The day that the account has reached.
 */
export function nextDayAfterMaturity(loan: Loan, reached: LocalDate): LocalDate | null {
  const { installments, lockedOperations } = loan.position;
  const last = installments.at(-1);
  if (last === undefined || last.dueDate > reached || !earnsAfterMaturity(loan)) return null;
  if (lockedOperations.includes('APPLY_INTEREST')) return null;
  const isEarning = installments.some(({ principal }) => !dueOf(principal).isZero());
  if (!isEarning && !last.interest.amount.expected.greaterThan(last.interestApplied)) return null;
  const { date, months } = monthOf(last.dueDate, reached);
  return date > reached ? date : addMonths(last.dueDate, months + 1);
}

/** The day of the month of a date, in the month of a later one, and how many months lie between. */
function monthOf(dueDate: LocalDate, on: LocalDate): { readonly date: LocalDate; readonly months: number } {
  const [due, month] = [partsOf(dueDate), partsOf(on)];
  const months = (month.year - due.year) * monthsPerYear + (month.month - due.month);
  return { date: addMonths(dueDate, months), months };
}
