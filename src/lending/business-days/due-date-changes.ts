import { expectInterest, lessReduced, raisesLastRow, withInterestTax } from '../accrual.ts';
import { termsInForce } from '../agreed-terms.ts';
import type { RecalculateDueDates } from '../commands.ts';
import { type Decision, type DecisionContext, post, refuse } from '../commands/decision.ts';
import { dayOfCommand } from '../instants.ts';
import { type Installment, isPaid, isWhollyUnpaid, unpaid } from '../installments.ts';
import { hasPostableTotals, laterDate, noAmounts, openLedger } from '../ledger.ts';
import { type Loan, type LoanPosition, isActive } from '../loan.ts';
import { type Decimal, larger, sum, zero } from '../money.ts';
import type { WorkingCalendar } from '../organization.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import { type AccrualPeriod, elapsedYears } from '../schedule/day-count.ts';
import { dueDatesFrom } from '../schedule/due-dates.ts';
import { fillRows } from '../schedule/fill-rows.ts';
import { isAnnuity, paymentsOf } from '../schedule/level-payment.ts';
import { type OpenRow, rescheduledPeriods } from '../schedule/open-rows.ts';
import { equalShares } from '../schedule/principal-plan.ts';
import { type RescheduledDate, type Rescheduling, onWorkingDays } from '../schedule/working-days.ts';
import type { LocalDate, ScheduleRow } from '../terms.ts';

/** Accrued interest keeps this many digits after the point. */
const accrualDecimalPlaces = 20;

/**
 * Lays the rows that are still to come on the working days of the calendar in force. No transaction is posted where
 * they lie there already. No person chooses the dates, so the transaction counts as one that no person posted.
 *
 * Refused: INVALID_ACCOUNT_STATE; INVALID_AMOUNT (all that the rows then ask for has more digits than can be read).
 */
export function decideDueDates(loan: Loan, command: RecalculateDueDates, context: DecisionContext): Decision {
  if (!isActive(loan.position)) return refuse('INVALID_ACCOUNT_STATE');
  const valueDate = command.valueDate ?? lastDayReached(loan, dayOfCommand(command));
  const position = onCalendar(loan, valueDate, context.calendar);
  if (position === null) return { facts: [] };
  if (!hasPostableTotals(openLedger(loan, position, valueDate))) return refuse('INVALID_AMOUNT');
  return post(loan, command, context, 'DUE_DATE_CHANGED', position, {
    amount: zero,
    valueDate,
    affected: noAmounts,
    taxes: noAmounts,
    isSystemPosted: true,
  });
}

/**
 * The day after which rows of an account move when this day ends: the day itself, or a later one that the account has
 * reached. Null when none moves.
 */
export function dayToMoveAfter(loan: Loan, day: LocalDate, calendar: WorkingCalendar): LocalDate | null {
  if (!isActive(loan.position)) return null;
  const last = lastDayReached(loan, day);
  return onCalendar(loan, last, calendar) === null ? null : last;
}

/** This day, or a later one that the account has reached by an end of a day or a transaction. */
export function lastDayReached({ businessDate, position: { asOf, lastValueDate } }: Loan, day: LocalDate): LocalDate {
  return [businessDate, asOf, lastValueDate].reduce<LocalDate>((last, other) => laterDate(other, last), day);
}

/**
 * The position with the rows that are due after the day on the working days of the calendar; null when none moves.
 * Rows move after the last one that is due by the day, or of which something was paid or applied: what such a row owes
 * depends on the days before it. A last row that holds interest of late principal
 * moves until it earns its own. Their dates come from those that they had before they were ever moved, or with
 * EXTEND_SCHEDULE from the terms, so that a change and its opposite lead back.
 *
 * Interest follows the dates as in a new schedule. A level payment stays, as do equal shares of principal; rows that
 * pay neither, because they were recalculated, keep their principal.
 */
export function onCalendar(loan: Loan, day: LocalDate, calendar: WorkingCalendar): LoanPosition | null {
  const { position, product } = loan;
  const method = product.scheduleSettings.repaymentReschedulingMethod;
  if (method === undefined || position.accountSubState === 'TERMINATED') return null;
  const rows = position.installments;
  const first = rows.findLastIndex((row) => !mayMove(loan, row, day)) + 1;
  if (first === rows.length) return null;
  const periods = periodsFrom(loan, first, day, { method, calendar });
  const moved = rows.map((row, index): Installment => {
    const period = periods[index - first];
    return period === undefined || isSamePeriod(row, period) ? row : withPeriod(loan, row, period);
  });
  return moved.every((row, index) => row === rows[index]) ? null : withAmounts(loan, moved, first);
}

function mayMove(loan: Loan, row: Installment, day: LocalDate): boolean {
  if (row.dueDate <= day || !isWhollyUnpaid(row) || isPaid(row)) return false;
  const { asOf, installments } = loan.position;
  if (!raisesLastRow(loan) || row !== installments.at(-1)) return row.interestApplied.isZero();
  // Interest of late principal was earned in other periods: it neither keeps the row, nor changes with its days.
  const hasBegun = asOf !== null && row.accruesAfter < asOf;
  return !hasBegun || row.interestAccrued.isZero();
}

/** The date of a row before it was moved to a working day. */
function agreedDate({ unmoved, dueDate }: Installment): LocalDate {
  return unmoved?.dueDate ?? dueDate;
}

function periodsFrom(loan: Loan, first: number, day: LocalDate, rescheduling: Rescheduling): AccrualPeriod[] {
  const { installments, disbursements } = loan.position;
  const [disbursement] = disbursements;
  if (disbursement === undefined) throw new Error('an active loan without a disbursement');
  const { date, firstRepaymentDate } = disbursement;
  const last = installments[first - 1];
  const before: RescheduledDate =
    last === undefined ? { dueDate: date, agreed: date } : { dueDate: last.dueDate, agreed: agreedDate(last) };
  const later = installments.slice(first);
  const agreed =
    rescheduling.method === 'EXTEND_SCHEDULE'
      ? datesAfter(dueDatesFrom(loan.terms.dueDates, date, firstRepaymentDate ?? undefined), before.agreed)
      : allOf(later.map(agreedDate));
  const dates = onWorkingDays(agreed, later.length, laterDate(before.dueDate, day), rescheduling);
  return rescheduledPeriods(dates, before);
}

function* datesAfter(dates: Iterator<LocalDate, never>, day: LocalDate): Generator<LocalDate, never> {
  for (;;) {
    const date = dates.next().value;
    if (date > day) yield date;
  }
}

function* allOf(dates: readonly LocalDate[]): Generator<LocalDate, never> {
  yield* dates;
  throw new Error('more dates than rows');
}

function isSamePeriod(row: Installment, { accruesAfter, dueDate, unmoved = null }: AccrualPeriod): boolean {
  return (
    row.accruesAfter === accruesAfter &&
    row.dueDate === dueDate &&
    row.unmoved?.accruesAfter === unmoved?.accruesAfter &&
    row.unmoved?.dueDate === unmoved?.dueDate
  );
}

/** The row in its new period. What it earned so far is the share of it that is over. */
function withPeriod(loan: Loan, row: Installment, period: AccrualPeriod): Installment {
  const { accruesAfter, dueDate, unmoved = null } = period;
  return { ...row, accruesAfter, dueDate, unmoved, interestAccrued: accruedIn(loan, row, period) };
}

function accruedIn(loan: Loan, row: Installment, period: AccrualPeriod): Decimal {
  const { asOf } = loan.position;
  // A row that earned something began before the day.
  if (row.interestAccrued.isZero() || asOf === null) return row.interestAccrued;
  const terms = termsInForce(loan, loan.position);
  const earned = elapsedYears(terms, row, row.accruesAfter, asOf);
  const now = elapsedYears(terms, period, period.accruesAfter, asOf);
  const [numerator, denominator] = [now.numerator * earned.denominator, now.denominator * earned.numerator];
  if (denominator === 0 || numerator === denominator) return row.interestAccrued;
  return row.interestAccrued.times(numerator).dividedBy(denominator).toDecimalPlaces(accrualDecimalPlaces);
}

/** The position with the moved rows, from `first` on with the amounts of their periods. */
function withAmounts(loan: Loan, moved: readonly Installment[], first: number): LoanPosition {
  const { position } = loan;
  const { before, after } = schedulesOf(loan, moved, first);
  const installments = moved.map((row, index): Installment => {
    const [old, now] = [before[index], after[index]];
    if (index < first || old === undefined || now === undefined) return row;
    const principal = now.principal.equals(old.principal) ? row.principal : unpaid(now.principal);
    const isSameInterest = now.interest.equals(old.interest) || behaviourOf(loan.product).interest === 'ACCRUED';
    const interest = isSameInterest ? row.interest : changedInterest(loan, row, old.interest, now.interest);
    return principal === row.principal && interest === row.interest ? row : { ...row, principal, interest };
  });
  return expectInterest(loan, { ...position, installments });
}

/** The interest of a row with what its days changed. A refund may have left it with more than its principal earns. */
function changedInterest(loan: Loan, row: Installment, before: Decimal, now: Decimal): Installment['interest'] {
  const [old, asked] = [before, now].map((interest) => lessReduced(loan, row, withInterestTax(loan, interest)));
  if (old === undefined || asked === undefined) return row.interest;
  const { amount, tax } = row.interest;
  return {
    amount: unpaid(larger(zero, amount.expected.plus(asked.amount).minus(old.amount))),
    tax: unpaid(larger(zero, tax.expected.plus(asked.tax).minus(old.tax))),
  };
}

/**
 * What the rows ask for by the terms, in their periods before and after. The rows from `first` on repay what the terms
 * say if they did before. The running row may differ because a payment within it changed the others; then those do.
 */
function schedulesOf(
  loan: Loan,
  moved: readonly Installment[],
  first: number,
): { readonly before: ScheduleRow[]; readonly after: ScheduleRow[] } {
  const { position } = loan;
  const terms = termsInForce(loan, position);
  const principals = position.installments.map(({ principal }) => principal.expected);
  const outstanding = sum(principals);
  const fill = (rows: readonly OpenRow[], kept: number): ScheduleRow[] =>
    fillRows({
      terms,
      rows,
      outstanding,
      amountLent: position.principalLent,
      plan: isAnnuity(terms)
        ? paymentsOf(terms, position.periodicPayment ?? zero, position.principalLent, rows)
        : equalShares(terms, position.principalLent, rows),
      keptPrincipals: principals.slice(0, kept),
      endsWhenRepaid: false,
    });
  // Agreed interest that is no longer that of the principal tells of an overpayment or a refund.
  const hasInterestOf = (row: Installment, interest: Decimal): boolean =>
    behaviourOf(loan.product).interest === 'ACCRUED' ||
    lessReduced(loan, row, withInterestTax(loan, interest)).amount.equals(row.interest.amount.expected);
  const isAsBefore = (rows: readonly ScheduleRow[], kept: number): boolean =>
    position.installments.every((row, index) => {
      const { principal, interest } = rows[index] ?? { principal: zero, interest: zero };
      return principal.equals(row.principal.expected) && (index < kept || hasInterestOf(row, interest));
    });
  for (const kept of [first, first + 1]) {
    const before = fill(position.installments, kept);
    if (isAsBefore(before, kept)) return { before, after: fill(moved, kept) };
  }
  return { before: fill(position.installments, principals.length), after: fill(moved, principals.length) };
}
