import { owesNothing } from '../commands/closing.ts';
import { addDays } from '../dates.ts';
import { type Loan, type LoanPosition, isActive } from '../loan.ts';
import { dormancyPeriodDays } from '../products/product.ts';
import type { LocalDate } from '../terms.ts';

/** The position with the day since which it owes nothing. Only accounts that stay active when paid have one. */
export function withPaidSince(loan: Loan, position: LoanPosition): LoanPosition {
  if (dormancyPeriodDays(loan.product) === 0) return position;
  const { paidSince, ...others } = position;
  if (!isActive(position) || !owesNothing(loan, position)) return paidSince === undefined ? position : others;
  const since = paidSince ?? position.lastValueDate;
  return since === null || since === paidSince ? position : { ...position, paidSince: since };
}

/** The day on which the account is closed if it stays as it is; null when it stays open. A locked account does. */
export function dormancyDate({ product, position }: Pick<Loan, 'product' | 'position'>): LocalDate | null {
  const { paidSince, accountSubState } = position;
  if (paidSince === undefined || accountSubState !== null || !isActive(position)) return null;
  return addDays(paidSince, dormancyPeriodDays(product));
}
