import { addDays, clampedDate, daysBetween, partsOf } from '../dates.ts';
import { type Installment, dueOf, rowDue } from '../installments.ts';
import { type Loan, type LoanPosition, isActive } from '../loan.ts';
import { type Decimal, larger, sum, zero } from '../money.ts';
import type { ArrearsSettings } from '../products/product.ts';
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
 * the month: the next such day after its due date, or the last day of a shorter month.
 */
export function lastToleratedDay(dueDate: LocalDate, { arrearsTolerancePeriod, product }: ArrearsTerms): LocalDate {
  const settings = product.arrearsSettings ?? noTolerance;
  if (settings.toleranceCalculationMethod === 'MONTHLY_ARREARS_TOLERANCE_DAY') {
    return nextDayOfMonth(dueDate, settings.monthlyToleranceDay ?? 1);
  }
  const { defaultValue = 0 } = settings.tolerancePeriod ?? {};
  return addDays(dueDate, arrearsTolerancePeriod ?? defaultValue);
}

type ArrearsTerms = Pick<Loan, 'arrearsTolerancePeriod' | 'product'>;

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
 */
export function withArrears(loan: Loan): Loan {
  const { position, businessDate } = loan;
  if (businessDate === null || !isActive(position)) return loan;
  const on = position.asOf === null || position.asOf < businessDate ? businessDate : position.asOf;
  const arrearsSince = inArrearsSince(loan, on);
  const accountState = arrearsSince === null ? 'ACTIVE' : 'ACTIVE_IN_ARREARS';
  const isCountedAnew = loan.product.arrearsSettings?.dateCalculationMethod === 'LAST_LATE_REPAYMENT';
  const isUnchanged = accountState === position.accountState && !isCountedAnew;
  const since = isUnchanged ? position.arrearsSince : arrearsSince;
  if (accountState === position.accountState && since === position.arrearsSince) return loan;
  return { ...loan, position: { ...position, accountState, arrearsSince: since } };
}

/** The day from which the account is in arrears, if it is on this day; null when it is not. */
function inArrearsSince(loan: Loan, on: LocalDate): LocalDate | null {
  const late = lateRows(loan.position.installments, on);
  const [first] = late.filter(({ dueDate }) => lastToleratedDay(dueDate, loan) < on);
  if (first === undefined) return null;
  const last = loan.position.installments.at(-1);
  const isMatured = late.some((row) => row === last);
  const lateAmount = sum(late.map(rowDue));
  if (!isMatured && lateAmount.lessThan(toleratedAmount(loan, loan.position))) return null;
  return addDays(lastToleratedDay(first.dueDate, loan), 1);
}

/** Below this amount late rows are tolerated: a share of the outstanding principal, and at least the floor. */
function toleratedAmount({ product }: Loan, { installments }: LoanPosition): Decimal {
  const { tolerancePercentageOfOutstandingPrincipal: share, toleranceFloorAmount = zero } =
    product.arrearsSettings ?? noTolerance;
  if (share?.defaultValue === undefined) return toleranceFloorAmount;
  const outstanding = sum(installments.map(({ principal }) => dueOf(principal)));
  return larger(outstanding.times(share.defaultValue).dividedBy(percent), toleranceFloorAmount);
}
