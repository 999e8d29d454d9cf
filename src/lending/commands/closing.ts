import { expectInterest } from '../accrual.ts';
import { figuresOf } from '../balances.ts';
import { type Ledger, closeLedger, dropPlannedFees, openLedger } from '../ledger.ts';
import type { Loan, LoanPosition } from '../loan.ts';
import type { Decimal } from '../money.ts';

/** The position after a movement recorded in the ledger: expected interest is recomputed; closed if nothing is owed. */
export function closeOut(loan: Loan, ledger: Ledger, periodicPayment: Decimal | null, now: number): LoanPosition {
  dropPlannedFees(ledger);
  const recomputed = expectInterest(loan, { ...closeLedger(ledger), periodicPayment });
  return closedWhenRepaid(loan, closeLedger(openLedger(loan, recomputed, ledger.valueDate)), now);
}

/** The position; CLOSED and REPAID if nothing is owed any more, including fees outside the schedule. */
export function closedWhenRepaid(loan: Loan, position: LoanPosition, now: number): LoanPosition {
  if (!owesNothing(loan, position)) return position;
  return { ...position, accountState: 'CLOSED', accountSubState: 'REPAID', lockedOperations: [], closedAt: now };
}

/** Whether nothing is owed any more, including fees outside the schedule. */
export function owesNothing(loan: Loan, position: LoanPosition = loan.position): boolean {
  const { total, nonScheduledFees } = figuresOf(loan, position);
  return total.isZero() && nonScheduledFees.balance.isZero();
}
