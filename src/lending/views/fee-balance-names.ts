/**
 * The names of fee balances. In: the figures of a loan and the toggles. Out: its fee balances, under the plain names
 * or, with ALLOW_NON_SCHEDULED_FEES, under those of the schedule and of what is outside it.
 */

import type { Figures } from '../balances.ts';
import type { Decimal } from '../money.ts';
import type { Toggles } from '../toggle-names.ts';

const plainNames = ['feesDue', 'feesPaid', 'feesBalance'] as const;
const scheduledNames = [
  'scheduledFeesDue',
  'scheduledFeesPaid',
  'scheduledFeesBalance',
  'nonScheduledFeeBalance',
  'nonScheduledFeePaidBalance',
] as const;

export type FeeBalanceName = (typeof plainNames)[number] | (typeof scheduledNames)[number];

/** Every fee balance that a loan may have, under any toggles. */
export const feeBalanceNames: readonly FeeBalanceName[] = [...plainNames, ...scheduledNames];

/** The fee balances of a loan, under the names that the toggle requires. */
export function feeBalancesOf(figures: Figures, toggles: Toggles): Partial<Readonly<Record<FeeBalanceName, Decimal>>> {
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
