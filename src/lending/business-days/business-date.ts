/**
 * Business days: what the passing of time alone does to an account.
 * In: an account and a business date. Out: the account as it looks on that day, and the commands that fall due.
 * Start with `day-commands.ts`; `next-business-date.ts` says when something happens, `arrears.ts` who is in arrears.
 */

import { accrueTo } from '../accrual.ts';
import { type Loan, isActive } from '../loan.ts';

/**
 * The account as it looks at the start of its business date, which is what the API and events show. What is stored is
 * the position of the last transaction: so a payment of yesterday can still be entered today, and taking one back
 * restores what was there before it. Interest earned since, and what fell due, follow from the day.
 */
export function atBusinessDate(loan: Loan): Loan {
  const { businessDate, position } = loan;
  if (businessDate === null || position.asOf === null || businessDate <= position.asOf || !isActive(position)) {
    return loan;
  }
  return { ...loan, position: accrueTo(loan, position, businessDate) };
}
