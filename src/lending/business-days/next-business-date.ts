import { addDays } from '../dates.ts';
import { type Installment, rowDue } from '../installments.ts';
import { type Loan, isActive } from '../loan.ts';
import { awaitsWorkingDay, lastToleratedDay } from './arrears.ts';
import { nextLockDate } from './arrears-locks.ts';
import { dormancyDate } from './dormancy.ts';
import { nextPaymentDate } from './future-payments.ts';
import { nextDayAfterMaturity } from './interest-after-maturity.ts';
import { requiredLateFeeDay } from './late-fees.ts';
import { firstPenaltyDay } from './penalties.ts';
import type { LocalDate } from '../terms.ts';

/**
 * The first business date after the account's own on which time alone changes it: an installment falls due, becomes
 * late, is in arrears, or has a penalty or a fee for being late; the day of a repayment that waits is over; the account
 * is locked or that lock ends, or it was paid long enough ago to be closed.
 * Null when nothing will happen. The end of a day passes over an account before this date.
 */
export function nextBusinessDate(loan: Loan): LocalDate | null {
  const { position, businessDate } = loan;
  if (position.asOf === null || !isActive(position)) return null;
  const reached = businessDate === null || businessDate < position.asOf ? position.asOf : businessDate;
  let next: LocalDate | null = null;
  for (const row of position.installments) {
    for (const date of datesOf(loan, row, reached)) {
      if (date > reached && (next === null || date < next)) next = date;
    }
  }
  const dormancy = dormancyDate(loan);
  if (dormancy !== null) {
    const closing = dormancy > reached ? dormancy : addDays(reached, 1);
    if (next === null || closing < next) next = closing;
  }
  const interest = nextDayAfterMaturity(loan, reached);
  if (interest !== null && (next === null || interest < next)) next = interest;
  // Also when something was posted on this date already: what is late on it depends on the repayment.
  const payment = nextPaymentDate(loan);
  if (payment !== null && (next === null || payment < next)) next = payment;
  // The days that do not count are not known here: the account looks at each day until one of them counts.
  if (awaitsWorkingDay(loan, reached)) {
    const tomorrow = addDays(reached, 1);
    if (next === null || tomorrow < next) next = tomorrow;
  }
  const lock = nextLockDate(loan, reached, next);
  return lock !== null && (next === null || lock < next) ? lock : next;
}

function datesOf(loan: Loan, row: Installment, reached: LocalDate): LocalDate[] {
  if (row.dueDate > reached) return [row.dueDate];
  if (rowDue(row).isZero()) return [];
  const days = [addDays(row.dueDate, 1), addDays(lastToleratedDay(row.dueDate, loan), 1)];
  const penalty = loan.position.lockedOperations.includes('APPLY_PENALTIES') ? null : firstPenaltyDay(loan, row);
  // From its first penalty on, a late row has one every day.
  if (penalty !== null) days.push(penalty > reached ? penalty : addDays(reached, 1));
  const lateFee = requiredLateFeeDay(loan, row);
  if (lateFee !== null) days.push(lateFee > reached ? lateFee : addDays(reached, 1));
  return days;
}
