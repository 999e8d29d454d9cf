import { addDays, daysBetween } from '../dates.ts';
import { lockedOperations } from '../commands.ts';
import { type ArrearsLockReason, type Loan, type LoanPosition, isActive, isLockEndedByPerson } from '../loan.ts';
import type { WorkingCalendar } from '../organization.ts';
import { arrearsOn } from './arrears.ts';
import { chargeCapOf, isCapReached } from './charge-cap.ts';
import type { LocalDate } from '../terms.ts';

/** Whether the end of a day locks the account for its arrears. */
export function isLockDue(loan: Loan, on: LocalDate, calendar: WorkingCalendar): boolean {
  if (!locksInArrears(loan) || hasArrearsLock(loan) || isWhollyLocked(loan.position)) return false;
  return isReached(loan.position, on) && lockReasonOn(loan, on, calendar) !== null;
}

/** Whether the end of a day ends the lock that an earlier one began: the account is no longer in arrears. */
export function isUnlockDue(loan: Loan, on: LocalDate, calendar: WorkingCalendar): boolean {
  return hasArrearsLock(loan) && isReached(loan.position, on) && arrearsOn(loan, on, calendar) === null;
}

/** What is dated later would be taken back: locks wait until the days have come to it. */
function isReached(position: LoanPosition, on: LocalDate): boolean {
  return isActive(position) && position.lastValueDate !== null && position.lastValueDate <= on;
}

function isWhollyLocked(position: LoanPosition): boolean {
  return lockedOperations.every((operation) => position.lockedOperations.includes(operation));
}

/**
 * Why an account is locked on a day: its charges reached their cap, or it was in arrears for more days than its product
 * allows. Null when it is not to be locked, also because a person ended the lock of these arrears.
 */
export function lockReasonOn(loan: Loan, on: LocalDate, calendar: WorkingCalendar): ArrearsLockReason | null {
  const { product, position } = loan;
  if (!locksInArrears(loan)) return null;
  const arrears = arrearsOn(loan, on, calendar);
  if (arrears === null || isLockEndedByPerson(position, arrears.since)) return null;
  if (isCapReached(loan, on)) return 'CAPPING';
  const { lockPeriodDays } = product.internalControls?.lockSettings ?? {};
  return lockPeriodDays !== undefined && arrears.days > lockPeriodDays ? 'PERIOD' : null;
}

/** Whether a lock stands that the end of a day began. */
export function hasArrearsLock({ position }: Pick<Loan, 'position'>): boolean {
  return position.arrearsLock !== null && position.arrearsLock.operations.length > 0;
}

/**
 * The position in which a person has taken back the beginning of a lock that the end of a day began: the lock does not
 * come back in the same arrears.
 * @param before The position that the lock led to.
 */
export function withArrearsLockEnded(before: LoanPosition, restored: LoanPosition): LoanPosition {
  const { arrearsLock, arrearsSince } = before;
  if (arrearsLock === null || restored.arrearsLock !== null) return restored;
  return { ...restored, arrearsLock: { ...arrearsLock, since: arrearsSince ?? arrearsLock.since, operations: [] } };
}

function locksInArrears({ product }: Pick<Loan, 'product'>): boolean {
  const { lockSettings } = product.internalControls ?? {};
  return lockSettings?.lockPeriodDays !== undefined || chargeCapOf(product) !== null;
}

/**
 * The next day on which the end of a day may lock the account, or end that lock, if nothing is posted until then; null
 * when none is known. An account that is not in arrears has none: the day on which its arrears begin is looked at
 * anyway.
 * @param reached The day that the account has reached.
 * @param next The next day on which anything else happens; null when nothing does.
 */
export function nextLockDate(loan: Loan, reached: LocalDate, next: LocalDate | null): LocalDate | null {
  const { position, product } = loan;
  const tomorrow = addDays(reached, 1);
  const { arrearsSince, nonWorkingDaysInArrears = 0 } = position;
  if (hasArrearsLock(loan)) return arrearsSince === null ? tomorrow : null;
  if (arrearsSince === null || !locksInArrears(loan) || isWhollyLocked(position)) return null;
  if (isLockEndedByPerson(position, arrearsSince)) return null;
  const days: LocalDate[] = [];
  const { lockPeriodDays } = product.internalControls?.lockSettings ?? {};
  if (lockPeriodDays !== undefined) {
    // At the earliest, as days that do not count may follow.
    const counted = daysBetween(arrearsSince, reached) + 1 - nonWorkingDaysInArrears;
    days.push(addDays(reached, Math.max(1, lockPeriodDays + 1 - counted)));
  }
  const capped = firstDayOfCap(loan, tomorrow, next);
  if (capped !== null) days.push(capped);
  return days.sort()[0] ?? null;
}

/**
 * The first day from this one on, and before the next on which anything else happens, on which the cap is reached. What
 * is charged does not fall by itself, so halves decide.
 */
function firstDayOfCap(loan: Loan, first: LocalDate, next: LocalDate | null): LocalDate | null {
  if (chargeCapOf(loan.product) === null) return null;
  if (isCapReached(loan, first)) return first;
  let below = 0;
  let reached = next === null ? 0 : daysBetween(first, next) - 1;
  if (reached <= 0 || !isCapReached(loan, addDays(first, reached))) return null;
  while (reached - below > 1) {
    const middle = Math.floor((below + reached) / 2);
    if (isCapReached(loan, addDays(first, middle))) reached = middle;
    else below = middle;
  }
  return addDays(first, reached);
}
