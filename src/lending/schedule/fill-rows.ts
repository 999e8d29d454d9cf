import { periodInterest } from './interest.ts';
import { larger, roundAmount, smaller, zero } from '../money.ts';
import type { Decimal } from '../money.ts';
import type { ScheduleRow, ScheduleTerms } from '../terms.ts';
import type { PrincipalPlan, StartOfAccrual } from './principal-plan.ts';
import type { OpenRow } from './open-rows.ts';
import { roundScheduleAmount, roundsInterestIntoLastRow } from './rounding.ts';

export interface RowsToFill {
  readonly terms: ScheduleTerms;
  readonly rows: readonly OpenRow[];
  readonly outstanding: Decimal;
  /** The base of FLAT interest. */
  readonly amountLent: Decimal;
  readonly plan: PrincipalPlan;
  readonly start?: StartOfAccrual;
  /** The principal of the first rows, whatever the plan says; empty when absent. */
  readonly keptPrincipals?: readonly Decimal[];
  /** Whether the schedule ends with the row that brings the balance to zero, instead of continuing with empty rows. */
  readonly endsWhenRepaid: boolean;
}

/**
 * Gives each row its interest on the balance before it, and its principal by the plan, rounded as the terms say.
 * Principal is never below zero or above the balance. The last row takes what is left, so the rows' principal sums to
 * what is outstanding.
 */
export function fillRows({
  terms,
  rows,
  outstanding,
  amountLent,
  plan,
  start,
  keptPrincipals = [],
  endsWhenRepaid,
}: RowsToFill): ScheduleRow[] {
  const flat = terms.interest.interestCalculationMethod === 'FLAT';
  const filled: ScheduleRow[] = [];
  let balance = outstanding;
  let exactInterest = zero;
  let expectedInterest = zero;
  for (const [index, row] of rows.entries()) {
    const begin = index === 0 ? start : undefined;
    const ofPeriod = periodInterest(flat ? amountLent : balance, terms, row, begin?.from);
    const unrounded = begin === undefined ? ofPeriod : ofPeriod.plus(begin.accruedInterest);
    const rounded = roundScheduleAmount(unrounded, 'INTEREST', terms);
    exactInterest = exactInterest.plus(unrounded);
    const planned = keptPrincipals[index] ?? plannedPrincipal(terms, plan, index, unrounded, rounded);
    const closes = index === rows.length - 1 || (endsWhenRepaid && planned.greaterThanOrEqualTo(balance));
    const principal = closes ? balance : smaller(larger(planned, zero), balance);
    const interest = closes ? closingInterest(terms, rounded, exactInterest, expectedInterest) : rounded;
    filled.push({ ...placeOf(row), principal, interest });
    if (endsWhenRepaid && closes) break;
    balance = balance.minus(principal);
    expectedInterest = expectedInterest.plus(interest);
  }
  return filled;
}

function placeOf({ number, accruesAfter, dueDate, unmoved }: OpenRow): OpenRow {
  return { number, accruesAfter, dueDate, ...(unmoved === undefined ? {} : { unmoved }) };
}

function plannedPrincipal(
  terms: ScheduleTerms,
  plan: PrincipalPlan,
  index: number,
  unroundedInterest: Decimal,
  interest: Decimal,
): Decimal {
  if (plan.kind === 'LEVEL_PAYMENT') return (plan.payments[index] ?? zero).minus(interest);
  if (plan.kind === 'KEPT') return plan.principals[index] ?? zero;
  const share = plan.shares[index] ?? zero;
  if (share.isZero() || terms.rounding.repaymentElementsRoundingMethod !== 'PAYMENT_DUE') {
    return roundScheduleAmount(share, 'PRINCIPAL', terms);
  }
  return roundScheduleAmount(share.plus(unroundedInterest), 'PAYMENT', terms).minus(interest);
}

/** The last row's interest: its own, or all rows' exact interest less what the earlier rows expect. */
function closingInterest(terms: ScheduleTerms, own: Decimal, exact: Decimal, expectedBefore: Decimal): Decimal {
  if (!roundsInterestIntoLastRow(terms)) return own;
  return larger(roundAmount(exact, terms.currency, terms.rounding.roundingMode).minus(expectedBefore), zero);
}
