import { periodInterest } from './schedule/interest.ts';
import type { Loan, LoanPosition } from './loan.ts';
import { withoutFeesDueWhileLocked } from './fees/locked-fees.ts';
import { type Installment, dueOf, lowered } from './installments.ts';
import { type Decimal, larger, roundAmount, smaller, sum, zero } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';
import { roundScheduleAmount, roundsInterestIntoLastRow } from './schedule/rounding.ts';
import { taxWithin, taxedAmount } from './taxes.ts';
import { termsInForce } from './agreed-terms.ts';
import type { LocalDate } from './terms.ts';

/** Accrued interest keeps this many digits after the point. */
const accrualDecimalPlaces = 20;

/** Decimals of accrued interest that count when it is rounded: fewer than it is stored with. */
const workingDecimalPlaces = 15;

/**
 * Moves a position forward to a day. Scheduled interest stays as it is. Accrued interest is earned on the principal
 * that was actually outstanding since the last movement of principal. The rows expect what they have earned so
 * far, plus what they will earn if everything is paid on its due date from now on. What late principal earns belongs
 * to the row in whose period it does, or to the last one (see {@link raisesLastRow}). While interest is locked, none is
 * earned; while fees are, those planned for the days that pass are dropped.
 * @param date not before the position's `asOf`: principal has not changed in between
 */
export function accrueTo(loan: Loan, position: LoanPosition, date: LocalDate): LoanPosition {
  const { product, terms } = loan;
  const known = accrualsOf.get(position) ?? [];
  const found = known.find((each) => each.date === date && each.product === product && each.terms === terms);
  if (found !== undefined) return found.accrued;
  const accrued = accruedTo(loan, position, date);
  accrualsOf.set(position, [{ product, terms, date, accrued }, ...known.slice(0, 1)]);
  return accrued;
}

/** A position moved forward to a day, with what it depends on besides the position. */
interface Accrual extends Pick<Loan, 'product' | 'terms'> {
  readonly date: LocalDate;
  readonly accrued: LoanPosition;
}

/**
 * The last two accruals of a position; positions never change in place. The end of a day asks for each several times:
 * whether there is interest to apply, how much, and what the day and the one before it show.
 */
const accrualsOf = new WeakMap<LoanPosition, readonly Accrual[]>();

function accruedTo(loan: Loan, position: LoanPosition, date: LocalDate): LoanPosition {
  if (behaviourOf(loan.product).interest === 'SCHEDULED') return { ...position, asOf: date };
  if (position.lockedOperations.includes('APPLY_INTEREST')) {
    return expectInterest(loan, { ...withoutFeesDueWhileLocked(loan, position, date), asOf: date });
  }
  const terms = termsInForce(loan, position);
  const since = position.asOf ?? date;
  const outstanding = principalDueOf(position.installments);
  let overdue = zero;
  let late = zero;
  const last = position.installments.at(-1);
  const installments = position.installments.map((row) => {
    const from = row.accruesAfter > since ? row.accruesAfter : since;
    const to = row.dueDate < date ? row.dueDate : date;
    const isApart = row !== last && raisesLastRow(loan);
    const overdueBefore = overdue;
    const base = outstanding.minus(isApart ? overdueBefore : overdueThatRests(loan, overdueBefore));
    overdue = overdue.plus(dueOf(row.principal));
    if (isApart && from < to && !overdueBefore.isZero()) {
      late = late.plus(periodInterest(overdueBefore, terms, row, from, to));
    }
    const hasMatured = row === last && earnsAfterMaturity(loan);
    const afterMaturity = hasMatured ? interestAfterMaturity(outstanding, terms, row.dueDate, since, date) : zero;
    const added = row === last ? afterMaturity.plus(late) : zero;
    if (from >= to && added.isZero()) return row;
    const earned = (from >= to ? zero : periodInterest(base, terms, row, from, to)).plus(added);
    const interestAccrued = row.interestAccrued.plus(earned).toDecimalPlaces(accrualDecimalPlaces);
    return { ...row, interestAccrued };
  });
  const passed = withoutFeesDueWhileLocked(loan, { ...position, installments }, date);
  return expectInterest(loan, { ...passed, asOf: date });
}

/** Whether the interest that late principal earns is asked for with the last row, instead of the row of its days. */
export function raisesLastRow({ product }: Pick<Loan, 'product'>): boolean {
  return (
    behaviourOf(product).interest === 'ACCRUED' &&
    product.interestSettings.accrueLateInterest &&
    product.paymentSettings.latePaymentsRecalculationMethod === 'LAST_INSTALLMENT_INCREASE'
  );
}

/** Whether the principal that is outstanding after the last due date goes on earning interest, for the last row. */
export function earnsAfterMaturity({ product }: Pick<Loan, 'product'>): boolean {
  return behaviourOf(product).interest === 'ACCRUED' && product.interestSettings.accrueInterestAfterMaturity === true;
}

/**
 * The interest of all outstanding principal for the days after the last due date, unrounded. They belong to no period
 * of the schedule: they count by the day count, and interest that is compounded grows from the due date.
 */
function interestAfterMaturity(
  outstanding: Decimal,
  terms: ReturnType<typeof termsInForce>,
  dueDate: LocalDate,
  since: LocalDate,
  date: LocalDate,
): Decimal {
  const from = since > dueDate ? since : dueDate;
  if (from >= date) return zero;
  const interest = { ...terms.interest, scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT' } as const;
  return periodInterest(outstanding, { ...terms, interest }, { accruesAfter: dueDate, dueDate: date }, from, date);
}

/** Sets the accrued interest that rows expect, from the principal that is outstanding now. */
export function expectInterest(loan: Loan, position: LoanPosition): LoanPosition {
  if (behaviourOf(loan.product).interest === 'SCHEDULED') return position;
  const { asOf } = position;
  const terms = termsInForce(loan, position);
  let outstanding = principalDueOf(position.installments);
  let overdue = zero;
  let lateToCome = zero;
  const last = position.installments.at(-1);
  const expected = position.installments.map((row) => {
    const base = outstanding;
    outstanding = outstanding.minus(dueOf(row.principal));
    if (asOf !== null && row.dueDate <= asOf) {
      overdue = overdue.plus(dueOf(row.principal));
      return grossOf(loan, row.interestAccrued);
    }
    if (asOf === null || row.accruesAfter > asOf) {
      const own = interestToCome(loan, position, row, base);
      return row === last && !lateToCome.isZero() ? grossOf(loan, own.interest.plus(lateToCome)) : own;
    }
    // The running row still earns on overdue principal. From its due date on, no principal is assumed overdue.
    const late = overdue.minus(overdueThatRests(loan, overdue));
    if (row !== last && raisesLastRow(loan)) {
      lateToCome = periodInterest(late, terms, row, asOf, row.dueDate);
      return grossOf(loan, row.interestAccrued.plus(periodInterest(base, terms, row, asOf, row.dueDate)));
    }
    return grossOf(loan, row.interestAccrued.plus(periodInterest(base.plus(late), terms, row, asOf, row.dueDate)));
  });
  const installments = position.installments.map((row, index) => {
    const isRemainder = row.number === loan.terms.repaymentInstallments && roundsInterestIntoLastRow(loan.terms);
    const interests = isRemainder ? expected.map(({ interest }) => interest) : [];
    const own = expected[index]?.gross ?? noGrossInterest;
    const gross = isRemainder ? notBelowCharged(loan, row, grossInterestOfLast(loan, interests)) : own;
    return withInterest(row, lessReduced(loan, row, gross));
  });
  return { ...position, installments };
}

/** The interest of a row, unrounded, and as it is asked for. */
interface ExpectedInterest {
  readonly interest: Decimal;
  readonly gross: GrossInterest;
}

function grossOf(loan: Loan, interest: Decimal): ExpectedInterest {
  return { interest, gross: grossInterest(loan, interest) };
}

/** What a row that has not begun will earn, with what it depends on besides the row. */
interface InterestToCome extends Pick<Loan, 'product' | 'terms'>, Pick<LoanPosition, 'rateSegments'> {
  /** The principal outstanding until its due date, if everything is paid on time. */
  readonly base: Decimal;
  readonly expected: ExpectedInterest;
}

/** By row, as rows never change in place. From one day to the next, only what the running row earns is another. */
const interestsToCome = new WeakMap<Installment, InterestToCome>();

function interestToCome(loan: Loan, position: LoanPosition, row: Installment, base: Decimal): ExpectedInterest {
  const { product, terms } = loan;
  const { rateSegments } = position;
  const known = interestsToCome.get(row);
  const isKnown = known?.product === product && known.terms === terms && known.rateSegments === rateSegments;
  if (isKnown && known.base.equals(base)) return known.expected;
  const earned = periodInterest(base, termsInForce(loan, position), row, row.accruesAfter, row.dueDate);
  const expected = grossOf(loan, row.interestAccrued.plus(earned));
  interestsToCome.set(row, { product, terms, rateSegments, base, expected });
  return expected;
}

/**
 * Interest of the last row, but no less than was applied or paid of it. What late principal earned is paid before the
 * other rows are all earned, and the remainder of their rounding may be less then.
 */
function notBelowCharged(loan: Loan, { interest, interestApplied }: Installment, gross: GrossInterest): GrossInterest {
  const charged = larger(interest.amount.paid, interestApplied);
  if (!raisesLastRow(loan) || !charged.greaterThan(gross.amount)) return gross;
  const { taxSettings } = loan.product;
  if (!taxSettings.taxesOnInterestEnabled) return { amount: charged, tax: zero };
  const tax = taxWithin(charged, taxSettings, loan.terms.currency, loan.terms.rounding.roundingMode);
  return { amount: charged, tax: larger(interest.tax.paid, tax) };
}

/** The part of overdue principal that earns nothing: all of it when the product accrues no late interest. */
function overdueThatRests({ product }: Loan, overdue: Decimal): Decimal {
  return product.interestSettings.accrueLateInterest ? zero : overdue;
}

function withInterest(row: Installment, { amount, tax }: GrossInterest): Installment {
  if (amount.equals(row.interest.amount.expected) && tax.equals(row.interest.tax.expected)) return row;
  return {
    ...row,
    interest: {
      amount: { expected: amount, paid: row.interest.amount.paid },
      tax: { expected: tax, paid: row.interest.tax.paid },
    },
  };
}

function principalDueOf(rows: readonly Installment[]): Decimal {
  return sum(rows.map(({ principal }) => dueOf(principal)));
}

/**
 * The interest of a row that can be paid as of the position's day. Scheduled: all that is unpaid. Accrued: what the row
 * has earned so far, which on its due date is all of it.
 */
export function payableInterest(loan: Loan, position: LoanPosition, row: Installment): Decimal {
  return isEarning(loan, position, row)
    ? larger(zero, earnedGross(loan, position, row).amount.minus(row.interest.amount.paid))
    : dueOf(row.interest.amount);
}

/** Whether a row owes only what it has earned so far: its interest accrues, and it is not due yet. */
export function isEarning({ product }: Loan, { asOf }: LoanPosition, row: Installment): boolean {
  return behaviourOf(product).interest === 'ACCRUED' && (asOf === null || row.dueDate > asOf);
}

/** The accrued interest that a row has earned so far and asks for, rounded, and the tax in it. */
export function earnedGross(loan: Loan, { installments }: LoanPosition, row: Installment): GrossInterest {
  const isLast = row.number === loan.terms.repaymentInstallments;
  const accrued = isLast ? installments.map(({ interestAccrued }) => interestAccrued) : [];
  const gross = isLast
    ? notBelowCharged(loan, row, grossInterestOfLast(loan, accrued))
    : grossInterest(loan, row.interestAccrued);
  return lessReduced(loan, row, gross);
}

/** The interest that a row asks for once its reductions are taken off. */
export function lessReduced(
  loan: Loan,
  { interest, interestReduced }: Installment,
  gross: GrossInterest,
): GrossInterest {
  if (interestReduced.isZero()) return gross;
  const portion = {
    amount: { expected: gross.amount, paid: interest.amount.paid },
    tax: { expected: gross.tax, paid: interest.tax.paid },
  };
  const { currency, rounding } = loan.terms;
  const reduction = smaller(interestReduced, larger(zero, dueOf(portion.amount)));
  const { amount, tax } = lowered(portion, reduction, currency, rounding.roundingMode);
  return { amount: amount.expected, tax: tax.expected };
}

interface GrossInterest {
  readonly amount: Decimal;
  readonly tax: Decimal;
}

const noGrossInterest: GrossInterest = { amount: zero, tax: zero };

/** Rounds a row's interest as the schedule does, and adds its tax or takes it out. */
export function grossInterest(loan: Loan, interest: Decimal): GrossInterest {
  return withInterestTax(loan, roundScheduleAmount(toWorkingPrecision(interest), 'INTEREST', loan.terms));
}

/**
 * The rounded interest of the schedule's last installment, and the tax in it. It is the row's own interest. Where the
 * terms put the interest remainder there, it is the interest of all rows less what the earlier rows ask for.
 * @param interests of all rows, unrounded, including the last one
 */
export function grossInterestOfLast(loan: Loan, interests: readonly Decimal[]): GrossInterest {
  const { terms } = loan;
  const lastInterest = interests.at(-1) ?? zero;
  // A row that earns nothing, because all principal was repaid earlier, has no remainder to make up for.
  if (lastInterest.isZero() || !roundsInterestIntoLastRow(terms)) return grossInterest(loan, lastInterest);
  const totalInterest = roundAmount(toWorkingPrecision(sum(interests)), terms.currency, terms.rounding.roundingMode);
  const before = interests
    .slice(0, -1)
    .map((interest) => roundScheduleAmount(toWorkingPrecision(interest), 'INTEREST', terms));
  return withInterestTax(loan, larger(totalInterest.minus(sum(before)), zero));
}

/**
 * The parts of a period are each cut at their last digit. Their sum must not turn a tie between two minor units into
 * the lower one.
 */
function toWorkingPrecision(interest: Decimal): Decimal {
  return interest.toDecimalPlaces(workingDecimalPlaces);
}

/** Already rounded interest as it is owed, and the tax in it if the product taxes interest. */
export function withInterestTax(loan: Loan, rounded: Decimal): GrossInterest {
  const { taxSettings } = loan.product;
  if (!taxSettings.taxesOnInterestEnabled) return { amount: rounded, tax: zero };
  const { owed, tax } = taxedAmount(rounded, taxSettings, loan.terms.currency, loan.terms.rounding.roundingMode);
  return { amount: owed, tax };
}
