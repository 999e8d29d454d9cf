import { expectInterest } from '../accrual.ts';
import { figuresOf } from '../balances.ts';
import { type Ledger, closeLedger, dropPlannedFees, openLedger } from '../ledger.ts';
import type { Loan, LoanPosition } from '../loan.ts';
import type { Decimal } from '../money.ts';
import { dormancyPeriodDays } from '../products/product.ts';

/** The position after a movement recorded in the ledger: expected interest is recomputed; closed if nothing is owed. */
export function closeOut(loan: Loan, ledger: Ledger, periodicPayment: Decimal | null, now: number): LoanPosition {
  return closedWhenRepaid(loan, recomputed(loan, ledger, periodicPayment), now);
}

/**
 * The same after a movement that pays or forgives: an account that its product keeps open for some days once it is paid
 * stays active. A locked or terminated one is closed.
 */
export function closeOutInTime(loan: Loan, ledger: Ledger, periodicPayment: Decimal | null, now: number): LoanPosition {
  const position = recomputed(loan, ledger, periodicPayment);
  const isKept = dormancyPeriodDays(loan.product) > 0 && position.accountSubState === null;
  return isKept ? position : closedWhenRepaid(loan, position, now);
}

function recomputed(loan: Loan, ledger: Ledger, periodicPayment: Decimal | null): LoanPosition {
  dropPlannedFees(ledger);
  const position = expectInterest(loan, { ...closeLedger(ledger), periodicPayment });
  return closeLedger(openLedger(loan, position, ledger.valueDate));
}

/** The position; CLOSED and REPAID if nothing is owed any more, including fees outside the schedule. */
export function closedWhenRepaid(loan: Loan, position: LoanPosition, now: number): LoanPosition {
  if (!owesNothing(loan, position)) return position;
  return {
    ...position,
    accountState: 'CLOSED',
    accountSubState: 'REPAID',
    lockedOperations: [],
    arrearsLock: null,
    closedAt: now,
  };
}

/** Whether nothing is owed any more, including fees outside the schedule. */
export function owesNothing(loan: Loan, position: LoanPosition = loan.position): boolean {
  const { total, nonScheduledFees } = figuresOf(loan, position);
  return total.isZero() && nonScheduledFees.balance.isZero();
}
