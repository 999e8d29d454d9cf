import { figuresOf } from '../balances.ts';
import type { Loan } from '../loan.ts';
import type { Decimal } from '../money.ts';
import type { Toggles } from '../toggle-names.ts';
import { type FeeBalanceName, feeBalanceNames, feeBalancesOf } from './fee-balance-names.ts';

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
export type BalanceName = (typeof commonNames)[number] | FeeBalanceName;

/** Balances by name. ALLOW_NON_SCHEDULED_FEES and the loan's own fees decide which fee names are present. */
export type Balances = Partial<Readonly<Record<BalanceName, Decimal>>>;

/** Every balance name a loan may have, under any toggles. */
export const balanceNames: readonly BalanceName[] = [...commonNames, ...feeBalanceNames];

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
