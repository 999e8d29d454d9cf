import { type Figures, figuresOf } from '../balances.ts';
import type { Loan } from '../loan.ts';
import type { Decimal } from '../money.ts';
import type { Toggles } from '../toggle-names.ts';

const commonNames = [
  'principalDue',
  'principalPaid',
  'principalBalance',
  'interestDue',
  'interestPaid',
  'interestBalance',
  'penaltyDue',
  'penaltyPaid',
  'penaltyBalance',
] as const;
const feeNames = ['feesDue', 'feesPaid', 'feesBalance'] as const;
const scheduledFeeNames = [
  'scheduledFeesDue',
  'scheduledFeesPaid',
  'scheduledFeesBalance',
  'nonScheduledFeeBalance',
  'nonScheduledFeePaidBalance',
] as const;

export type BalanceName = (typeof commonNames)[number] | (typeof feeNames)[number] | (typeof scheduledFeeNames)[number];

/** Balances by name. ALLOW_NON_SCHEDULED_FEES and the loan's own fees decide which fee names are present. */
export type Balances = Partial<Readonly<Record<BalanceName, Decimal>>>;

/** Every balance name a loan may have, under any toggles. */
export const balanceNames: readonly BalanceName[] = [...commonNames, ...feeNames, ...scheduledFeeNames];

/**
 * The body of GET /loans/{id}/balances. The toggle ALLOW_NON_SCHEDULED_FEES renames the three fee balances and adds
 * those of fees outside the schedule. A loan that has such a fee keeps the added ones when the toggle is switched off:
 * whatever keeps a loan open must be visible.
 */
export function balancesOf(loan: Loan, toggles: Toggles): Balances {
  const figures = figuresOf(loan);
  return {
    principalDue: figures.principal.due,
    principalPaid: figures.principal.paid,
    principalBalance: figures.principal.balance,
    interestDue: figures.interest.due,
    interestPaid: figures.interest.paid,
    interestBalance: figures.interest.balance,
    ...feeBalancesOf(figures, toggles),
    penaltyDue: figures.penalty.due,
    penaltyPaid: figures.penalty.paid,
    penaltyBalance: figures.penalty.balance,
  };
}

/** The fee balances alone, under the names that the toggle requires. */
export function feeBalancesOf(figures: Figures, toggles: Toggles): Balances {
  const { due, paid, balance } = figures.fees;
  const outside = {
    nonScheduledFeeBalance: figures.nonScheduledFees.balance,
    nonScheduledFeePaidBalance: figures.nonScheduledFees.paid,
  };
  if (toggles.ALLOW_NON_SCHEDULED_FEES) {
    return { scheduledFeesDue: due, scheduledFeesPaid: paid, scheduledFeesBalance: balance, ...outside };
  }
  const hasOutside = !outside.nonScheduledFeeBalance.isZero() || !outside.nonScheduledFeePaidBalance.isZero();
  return { feesDue: due, feesPaid: paid, feesBalance: balance, ...(hasOutside ? outside : {}) };
}
