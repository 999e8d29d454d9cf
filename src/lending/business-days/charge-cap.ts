import { accrueTo } from '../accrual.ts';
import { figuresOf } from '../balances.ts';
import { addDays } from '../dates.ts';
import { dueOf } from '../installments.ts';
import { type Loan, type LoanPosition, isLockEndedByPerson } from '../loan.ts';
import { type Decimal, larger, roundDownAmount, sum, zero } from '../money.ts';
import type { WorkingCalendar } from '../organization.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import type { ChargeCap, LoanProduct } from '../products/product.ts';
import { arrearsOn } from './arrears.ts';
import type { LocalDate } from '../terms.ts';

/** Percent are divided by this. */
const percent = 100;

/** The limit that a product sets to the charges of accounts in arrears; null when it sets none. */
export function chargeCapOf({ internalControls }: LoanProduct): ChargeCap | null {
  const { cappingConstraintType, cappingMethod, cappingPercentage } = internalControls?.lockSettings ?? {};
  return cappingConstraintType === undefined || cappingMethod === undefined || cappingPercentage === undefined
    ? null
    : { cappingConstraintType, cappingMethod, cappingPercentage };
}

/**
 * What an account owes besides principal as of the position's day, tax included: interest, fees and penalties. Of
 * scheduled interest, that of rows that are due: the rest is not charged yet.
 */
export function chargesOf(loan: Loan, position: LoanPosition): Decimal {
  const { interest, fees, penalty, nonScheduledFees } = figuresOf(loan, position);
  const isAccrued = behaviourOf(loan.product).interest === 'ACCRUED';
  return sum([isAccrued ? interest.balance : interest.due, fees.due, penalty.balance, nonScheduledFees.balance]);
}

/**
 * Whether the cap of an account in arrears is reached on a day, so that it is locked. SOFT_CAP: what was charged is
 * more than the cap. HARD_CAP: nothing can be charged any more, or the interest of the next day would be too much.
 * @param loan Its position is not after the day.
 */
export function isCapReached(loan: Loan, on: LocalDate): boolean {
  const cap = chargeCapOf(loan.product);
  if (cap === null) return false;
  const limit = limitOf(loan, cap);
  if (cap.cappingConstraintType === 'SOFT_CAP') return chargesOn(loan, on).greaterThan(limit);
  // Scheduled interest falls due whether the account is locked or not.
  const isAccrued = behaviourOf(loan.product).interest === 'ACCRUED';
  return !chargesOn(loan, on).lessThan(limit) || (isAccrued && chargesOn(loan, addDays(on, 1)).greaterThan(limit));
}

/**
 * How much an account in arrears can still be charged on a day, tax included, under a HARD_CAP. Null when nothing
 * limits it: by the product, outside arrears, or because a person ended the lock.
 */
export function leftUnderHardCap(loan: Loan, on: LocalDate, calendar: WorkingCalendar): Decimal | null {
  const cap = chargeCapOf(loan.product);
  if (cap?.cappingConstraintType !== 'HARD_CAP') return null;
  const arrears = arrearsOn(loan, on, calendar);
  if (arrears === null || isLockEndedByPerson(loan.position, arrears.since)) return null;
  return larger(zero, limitOf(loan, cap).minus(chargesOn(loan, on)));
}

/** Those of the charges of a day for which a HARD_CAP leaves something, in their order. The last one may be cut. */
export function chargesWithinCap<Charge>(
  loan: Loan,
  on: LocalDate,
  calendar: WorkingCalendar,
  charges: readonly Charge[],
  owed: (charge: Charge) => Decimal,
): readonly Charge[] {
  if (charges.length === 0) return charges;
  let left = leftUnderHardCap(loan, on, calendar);
  if (left === null) return charges;
  const within: Charge[] = [];
  for (const charge of charges) {
    if (left.isZero()) break;
    within.push(charge);
    left = larger(zero, left.minus(owed(charge)));
  }
  return within;
}

/** The most that may be charged: a share of the principal, rounded down to the currency. */
function limitOf({ position, product }: Loan, { cappingMethod, cappingPercentage }: ChargeCap): Decimal {
  const { installments, principalLent } = position;
  const principal =
    cappingMethod === 'ORIGINAL_PRINCIPAL_PERCENTAGE'
      ? principalLent
      : larger(zero, sum(installments.map((row) => dueOf(row.principal))));
  return roundDownAmount(principal.times(cappingPercentage).dividedBy(percent), product.currency);
}

/** @param on not before the position's `asOf` */
function chargesOn(loan: Loan, on: LocalDate): Decimal {
  return chargesOf(loan, accrueTo(loan, loan.position, on));
}
