import { accrueTo } from '../accrual.ts';
import { owedPenalty } from '../commands/penalties.ts';
import { addDays } from '../dates.ts';
import type { EndOfDay, LoanCommand } from '../commands.ts';
import { dayOfCommand } from '../instants.ts';
import { type Loan, type PostedTransactions, isActive } from '../loan.ts';
import type { WorkingCalendar } from '../organization.ts';
import { isLockDue, isUnlockDue } from './arrears-locks.ts';
import { atBusinessDate } from './business-date.ts';
import { chargesWithinCap } from './charge-cap.ts';
import { dormancyDate } from './dormancy.ts';
import { duePayments } from './future-payments.ts';
import { isAppliedOn } from './interest-after-maturity.ts';
import { type DueLateFee, dueLateFees, lateFeesOf, owedLateFee } from './late-fees.ts';
import { nextBusinessDate } from './next-business-date.ts';
import { type DuePenalty, duePenalties, hasPenalties } from './penalties.ts';
import type { LocalDate } from '../terms.ts';

/** Whether the day to close is over: nothing more can happen on it. */
export function isOver(endOfDay: Pick<EndOfDay, 'businessDate' | 'receivedAt' | 'receivedOn'>): boolean {
  return endOfDay.businessDate < dayOfCommand(endOfDay);
}

/** The business date that follows the end of a day. */
export function businessDateAfter(closedDay: LocalDate): LocalDate {
  return addDays(closedDay, 1);
}

/**
 * The next day to close on the way to the last one: the day after the one that was closed. Before the first end of a
 * day, no day counts as missed.
 */
export function dayToClose(closedDay: LocalDate | undefined, last: LocalDate): LocalDate {
  return closedDay === undefined || closedDay >= last ? last : addDays(closedDay, 1);
}

/** A command that falls due on an account, without what identifies it. */
export type DueCommand = LoanCommand extends infer Command
  ? Command extends LoanCommand
    ? Omit<Command, 'commandId' | 'digest' | 'receivedAt' | 'loanAccountId'>
    : never
  : never;

/** What one day does to an account, in this order. Each is decided on the account that the one before left. */
export interface DueStep {
  /** Distinguishes the commands of one day. */
  readonly purpose: string;
  readonly commandsOn: (
    loan: Loan,
    businessDate: LocalDate,
    calendar: WorkingCalendar,
    posted: PostedTransactions,
  ) => readonly DueCommand[];
}

/** Distinguishes the commands of one step on one day. @param index Of the command in its step, from 0. */
export function purposeOf({ purpose }: DueStep, due: DueCommand, index: number): string {
  // An account that was closed and opened again may have the same day once more, with other repayments.
  const isPayment = due.type === 'REPAY' && due.futurePaymentKey !== undefined;
  return `${purpose}/${isPayment ? due.futurePaymentKey : index}`;
}

/**
 * The steps of a day. The last one brings the account to the day, so the day is done: it comes after what is posted.
 */
export const dueSteps: readonly DueStep[] = [
  // Before what depends on what is late: these repayments are of the day before, which is over.
  {
    purpose: 'payment',
    commandsOn: (loan, businessDate, _calendar, posted) => duePayments(loan, businessDate, posted),
  },
  // Before the interest, which a lock kept from being applied.
  {
    purpose: 'unlock',
    commandsOn: (loan, valueDate, calendar) =>
      isUnlockDue(loan, valueDate, calendar) ? [{ type: 'UNLOCK', valueDate }] : [],
  },
  {
    purpose: 'interest',
    commandsOn: (loan, valueDate) =>
      hasInterestToApply(loan, valueDate) ? [{ type: 'APPLY_INTEREST', valueDate }] : [],
  },
  {
    purpose: 'penalty',
    commandsOn: (loan, valueDate, calendar) =>
      hasPenalties(loan) && isReached(loan, valueDate) && hasRowDueBefore(loan, valueDate)
        ? penaltiesWithinCap(loan, valueDate, calendar).map((penalty) => ({
            type: 'APPLY_PENALTY',
            valueDate,
            ...penalty,
          }))
        : [],
  },
  // After the penalty, which may be a share of what was overdue on the days before.
  {
    purpose: 'late fee',
    commandsOn: (loan, valueDate, calendar) =>
      lateFeesOf(loan.product).length > 0 && isReached(loan, valueDate) && hasRowDueBefore(loan, valueDate)
        ? lateFeesWithinCap(loan, valueDate, calendar).map((fee) => ({ type: 'APPLY_FEE', valueDate, ...fee }))
        : [],
  },
  // After all that was charged on the day.
  {
    purpose: 'lock',
    commandsOn: (loan, valueDate, calendar) =>
      isLockDue(loan, valueDate, calendar) ? [{ type: 'LOCK', valueDate, lockedOperations: [] }] : [],
  },
  {
    purpose: 'closing',
    commandsOn: (loan, date) => (isDormant(loan, date) ? [{ type: 'CHANGE_STATE', action: 'CLOSE' }] : []),
  },
  // An account that was closed on the day has no more days.
  {
    purpose: 'day',
    commandsOn: ({ position }, businessDate) =>
      isActive(position) ? [{ type: 'START_BUSINESS_DAY', businessDate }] : [],
  },
];

function penaltiesWithinCap(loan: Loan, on: LocalDate, calendar: WorkingCalendar): readonly DuePenalty[] {
  const due = duePenalties(atDate(loan, on), on, calendar);
  return chargesWithinCap(loan, on, calendar, due, ({ amount }) => owedPenalty(loan, amount).owed);
}

function lateFeesWithinCap(loan: Loan, on: LocalDate, calendar: WorkingCalendar): readonly DueLateFee[] {
  const due = dueLateFees(atDate(loan, on), on, calendar);
  return chargesWithinCap(loan, on, calendar, due, (fee) => owedLateFee(loan, fee));
}

/** The account as it is on the date, when that is after its last transaction. */
function atDate(loan: Loan, businessDate: LocalDate): Loan {
  return atBusinessDate({ ...loan, businessDate });
}

/**
 * Whether the account comes to the day from before, or is on it. Only a repayment that waited brings it to a day that
 * it has passed: what was late then is charged with its next day.
 */
function isReached({ position: { asOf } }: Loan, day: LocalDate): boolean {
  return asOf !== null && asOf <= day;
}

/** Whether a row can be late on the day. Asked first, because the account at the day takes long to work out. */
function hasRowDueBefore({ position }: Loan, day: LocalDate): boolean {
  return position.installments.some(({ dueDate }) => dueDate < day);
}

/** Whether the account owes nothing for as long as its product keeps it open. */
function isDormant(loan: Loan, on: LocalDate): boolean {
  const date = dormancyDate(loan);
  return date !== null && date <= on;
}

/** Whether a row that is due by then has interest that was not applied. */
function hasInterestToApply(loan: Loan, on: LocalDate): boolean {
  const { position } = loan;
  if (position.asOf === null || position.lockedOperations.includes('APPLY_INTEREST')) return false;
  if (!position.installments.some(({ dueDate }) => dueDate <= on)) return false;
  // A transaction that is dated later is posted again after the interest.
  const { installments } = position.asOf > on ? position : accrueTo(loan, position, on);
  return installments.some(
    (row) =>
      row.dueDate <= on && row.interest.amount.expected.greaterThan(row.interestApplied) && isAppliedOn(loan, row, on),
  );
}

/** The next date, up to this one, on which something happens to the account; null when nothing does. */
export function nextDueDate(loan: Loan, upTo: LocalDate): LocalDate | null {
  const date = nextBusinessDate(loan);
  return date !== null && date <= upTo ? date : null;
}
