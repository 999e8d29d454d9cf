import type { Figures } from '../balances.ts';
import { type Decimal, sum, zero } from '../money.ts';

/** The body of POST /loans/{id}:previewPayOffAmounts: what is owed of each kind, and the total of it. */
export interface PayOffAmountsView {
  readonly principalBalance: Decimal;
  readonly interestBalance: Decimal;
  /** With the fees outside the schedule. */
  readonly feeBalance: Decimal;
  readonly penaltyBalance: Decimal;
  readonly interestFromArrearsBalance: Decimal;
  readonly interestBearingFeeBalance: Decimal;
  readonly interestBearingFeeInterestBalance: Decimal;
  readonly carriedForwardPrincipalInArrears: Decimal;
  readonly carriedForwardInterestBalance: Decimal;
  readonly carriedForwardInterestFromArrearsBalance: Decimal;
  readonly earlyRepaymentCharge: Decimal;
  readonly totalBalance: Decimal;
}

/** The amounts of a pay-off. What loans here never owe is zero. */
export function payOffAmountsOf({ principal, interest, fees, penalty, nonScheduledFees }: Figures): PayOffAmountsView {
  const feeBalance = fees.balance.plus(nonScheduledFees.balance);
  return {
    principalBalance: principal.balance,
    interestBalance: interest.balance,
    feeBalance,
    penaltyBalance: penalty.balance,
    interestFromArrearsBalance: zero,
    interestBearingFeeBalance: zero,
    interestBearingFeeInterestBalance: zero,
    carriedForwardPrincipalInArrears: zero,
    carriedForwardInterestBalance: zero,
    carriedForwardInterestFromArrearsBalance: zero,
    earlyRepaymentCharge: zero,
    totalBalance: sum([principal.balance, interest.balance, feeBalance, penalty.balance]),
  };
}
