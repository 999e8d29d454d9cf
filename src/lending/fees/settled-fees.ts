import { type FeeCharge, inOrder, isOutsideRows, isPaidAsFee, isPlanned } from './charges.ts';
import type { Loan, LoanPosition, PositionUndo, SettledFees } from '../loan.ts';
import { dueOf } from '../installments.ts';
import { type Decimal, zero } from '../money.ts';

/**
 * Fees that are paid in full leave the account, so that it does not grow with each fee it ever had. Only their sums
 * stay. The transaction that paid them keeps them in its undo.
 */

export const noSettledFees: SettledFees = { paid: zero, nonScheduledPaid: zero, expectedOutsideRows: zero };

/** Whether a charge is applied and paid in full. */
export function isSettled(loan: Loan, position: LoanPosition, charge: FeeCharge): boolean {
  return dueOf(charge.amount).isZero() && !isPlanned(loan, position, charge);
}

/** The loan without the charges that are settled: their amounts become part of the sums. */
export function withoutSettledFees(loan: Loan): Loan {
  const { position } = loan;
  const settled: FeeCharge[] = [];
  const charges: FeeCharge[] = [];
  for (const charge of position.charges) (isSettled(loan, position, charge) ? settled : charges).push(charge);
  if (settled.length === 0) return loan;
  const settledFees = settled.reduce((sums, charge) => added(sums, charge, 1), position.settledFees);
  return { ...loan, position: { ...position, charges, settledFees } };
}

/** The loan with the charges that a transaction settled: the state that its command led to, before they left it. */
export function withSettledFees(loan: Loan, undo: PositionUndo): Loan {
  const settled = undo.charges.flatMap((charge) => charge.settled ?? []);
  if (settled.length === 0) return loan;
  const { position } = loan;
  const charges = inOrder([...position.charges, ...settled]);
  const settledFees = settled.reduce((sums, charge) => added(sums, charge, -1), position.settledFees);
  return { ...loan, position: { ...position, charges, settledFees } };
}

function added(sums: SettledFees, charge: FeeCharge, sign: 1 | -1): SettledFees {
  const { expected, paid } = charge.amount;
  const plus = (sum: Decimal, isPart: boolean, amount: Decimal): Decimal =>
    isPart ? (sign === 1 ? sum.plus(amount) : sum.minus(amount)) : sum;
  return {
    paid: plus(sums.paid, isPaidAsFee(charge), paid),
    nonScheduledPaid: plus(sums.nonScheduledPaid, charge.allocation === 'NO_ALLOCATION', paid),
    expectedOutsideRows: plus(sums.expectedOutsideRows, isOutsideRows(charge), expected),
  };
}
