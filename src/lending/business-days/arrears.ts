import { addDays, clampedDate, daysBetween, partsOf } from '../dates.ts';
import { type Installment, dueOf, rowDue } from '../installments.ts';
import { type Loan, type LoanPosition, isActive } from '../loan.ts';
import { type Decimal, larger, sum, zero } from '../money.ts';
import type { WorkingCalendar } from '../organization.ts';
import type { ArrearsSettings, LoanProduct } from '../products/product.ts';
import { alwaysOpen, nonWorkingDaysIn } from '../schedule/calendar.ts';
import { firstOpenDay } from '../schedule/working-days.ts';
import type { LocalDate } from '../terms.ts';

/** Percent are divided by this. */
const percent = 100;

/** The settings of a product that has none: late is in arrears. */
const noTolerance: ArrearsSettings = { toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD' };

/** The rows that were due before the day and are not paid in full, the oldest first. */
export function lateRows(rows: readonly Installment[], on: LocalDate): Installment[] {
  return rows.filter((row) => row.dueDate < on && !rowDue(row).isZero());
}

/** How many days the oldest late row is late; 0 when none is. */
export function daysLate(rows: readonly Installment[], on: LocalDate): number {
  const [oldest] = lateRows(rows, on);
  return oldest === undefined ? 0 : daysBetween(oldest.dueDate, on);
}

/**
 * The last day on which a row that was not paid is tolerated. By period: so many days after its due date. By day of
 * the month: the next such day after its due date, or the last day of a shorter month. Where non-working days do not
 * count, the days are working days, and those before the next working day are tolerated too.
 */
export function lastToleratedDay(
  dueDate: LocalDate,
  { arrearsTolerancePeriod, product }: ArrearsTerms,
  calendar: WorkingCalendar = alwaysOpen,
): LocalDate {
  const settings = product.arrearsSettings ?? noTolerance;
  const isByMonth = settings.toleranceCalculationMethod === 'MONTHLY_ARREARS_TOLERANCE_DAY';
  const from = isByMonth ? nextDayOfMonth(dueDate, settings.monthlyToleranceDay ?? 1) : dueDate;
  const days = isByMonth ? 0 : (arrearsTolerancePeriod ?? settings.tolerancePeriod?.defaultValue ?? 0);
  if (!excludesNonWorkingDays(product)) return addDays(from, days);
  let counted = from;
  for (let day = 0; day <= days; day += 1) counted = firstOpenDay(addDays(counted, 1), calendar);
  return addDays(counted, -1);
}

function excludesNonWorkingDays({ arrearsSettings }: LoanProduct): boolean {
  return arrearsSettings?.nonWorkingDaysMethod === 'EXCLUDED';
}

type ArrearsTerms = Pick<Loan, 'arrearsTolerancePeriod' | 'product'>;
type ArrearsLoan = ArrearsTerms & Pick<Loan, 'position'>;

function nextDayOfMonth(after: LocalDate, day: number): LocalDate {
  const { year, month } = partsOf(after);
  const here = clampedDate(year, month, day);
  if (here > after) return here;
  return month === 12 ? clampedDate(year + 1, 1, day) : clampedDate(year, month + 1, day);
}

/**
 * The account with the state that its late rows give it on its business date: ACTIVE_IN_ARREARS as soon as a row is
 * late for longer than is tolerated and the late amount is above the tolerated one; ACTIVE otherwise. An account
 * without a business date, or that is not active, keeps its state.
 * @param calendar The days on which the institution is closed, as they are known now.
 */
export function withArrears(loan: Loan, calendar: WorkingCalendar = alwaysOpen): Loan {
  const { position, businessDate } = loan;
  if (businessDate === null || !isActive(position)) return loan;
  const on = position.asOf === null || position.asOf < businessDate ? businessDate : position.asOf;
  const arrearsSince = inArrearsSince(loan, on, calendar);
  const accountState = arrearsSince === null ? 'ACTIVE' : 'ACTIVE_IN_ARREARS';
  const isCountedAnew = loan.product.arrearsSettings?.dateCalculationMethod === 'LAST_LATE_REPAYMENT';
  const isUnchanged = accountState === position.accountState && !isCountedAnew;
  const since = isUnchanged ? position.arrearsSince : arrearsSince;
  const { nonWorkingDaysInArrears: notCountedBefore = 0, ...others } = position;
  const isCounted = since === null || !excludesNonWorkingDays(loan.product);
  const notCounted = isCounted ? 0 : nonWorkingDaysIn(calendar, since, on);
  const isSame = accountState === position.accountState && since === position.arrearsSince;
  if (isSame && notCounted === notCountedBefore) return loan;
  const next: LoanPosition = { ...others, accountState, arrearsSince: since };
  return { ...loan, position: notCounted === 0 ? next : { ...next, nonWorkingDaysInArrears: notCounted } };
}

/**
 * Since when an account is in arrears on a day, and for how many days, those that count, this one included; null when
 * it is not.
 * @param on not before the position's `asOf`
 */
export function arrearsOn(
  loan: Loan,
  on: LocalDate,
  calendar: WorkingCalendar = alwaysOpen,
): { readonly since: LocalDate; readonly days: number } | null {
  const { arrearsSince, nonWorkingDaysInArrears = 0 } = withArrears({ ...loan, businessDate: on }, calendar).position;
  if (arrearsSince === null) return null;
  return { since: arrearsSince, days: daysBetween(arrearsSince, on) + 1 - nonWorkingDaysInArrears };
}

/**
 * Whether the account goes into arrears on a working day after this one, if nothing is paid: its late rows would put it
 * there if every day counted. Which day it is depends on the calendar of that time.
 */
export function awaitsWorkingDay(loan: ArrearsLoan, on: LocalDate): boolean {
  const { accountState } = loan.position;
  return (
    excludesNonWorkingDays(loan.product) && accountState === 'ACTIVE' && inArrearsSince(loan, on, alwaysOpen) !== null
  );
}

/** The day from which the account is in arrears, if it is on this day; null when it is not. */
function inArrearsSince(loan: ArrearsLoan, on: LocalDate, calendar: WorkingCalendar): LocalDate | null {
  const late = lateRows(loan.position.installments, on);
  const [first] = late.filter(({ dueDate }) => lastToleratedDay(dueDate, loan, calendar) < on);
  if (first === undefined) return null;
  const tolerated = toleratedAmount(loan);
  if (!isMaterial(loan, late, tolerated)) return null;
  const began = addDays(lastToleratedDay(first.dueDate, loan, calendar), 1);
  if (loan.product.arrearsSettings?.dateCalculationMethod !== 'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD') {
    return began;
  }
  // The late amount grows on the days on which a row becomes late.
  const days = late.map(({ dueDate }) => addDays(dueDate, 1)).map((day) => (day < began ? began : day));
  return days.find((day) => isMaterial(loan, lateRows(late, day), tolerated)) ?? began;
}

/** Whether what these late rows owe is not below the tolerated amount. Nothing is tolerated of the last row. */
function isMaterial({ position }: ArrearsLoan, late: readonly Installment[], tolerated: Decimal): boolean {
  return late.at(-1) === position.installments.at(-1) || !sum(late.map(rowDue)).lessThan(tolerated);
}

/** Below this amount late rows are tolerated: a share of the outstanding principal, and at least the floor. */
function toleratedAmount({ product, position: { installments } }: ArrearsLoan): Decimal {
  const { tolerancePercentageOfOutstandingPrincipal: share, toleranceFloorAmount = zero } =
    product.arrearsSettings ?? noTolerance;
  if (share?.defaultValue === undefined) return toleranceFloorAmount;
  const outstanding = sum(installments.map(({ principal }) => dueOf(principal)));
  return larger(outstanding.times(share.defaultValue).dividedBy(percent), toleranceFloorAmount);
}
