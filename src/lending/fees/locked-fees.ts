import { type FeeCharge, isPlanned } from './charges.ts';
import type { Loan, LoanPosition } from '../loan.ts';
import { type Installment, dueOf } from '../installments.ts';
import { sum } from '../money.ts';
import type { LocalDate } from '../terms.ts';

/**
 * The position without the fees that would fall due up to a day although fees are locked. They were only planned, so
 * they are not charged, and their rows no longer expect them.
 */
export function withoutFeesDueWhileLocked(loan: Loan, position: LoanPosition, date: LocalDate): LoanPosition {
  if (!position.lockedOperations.includes('APPLY_FEES')) return position;
  const { installments, charges } = position;
  const onDate = { installments, asOf: date };
  const dropped = charges.filter((charge) => isPlanned(loan, position, charge) && !isPlanned(loan, onDate, charge));
  if (dropped.length === 0) return position;
  const gone = new Set(dropped);
  return {
    ...position,
    charges: charges.filter((charge) => !gone.has(charge)),
    installments: installments.map((row) => without(row, dropped)),
  };
}

function without(row: Installment, charges: readonly FeeCharge[]): Installment {
  const own = charges.filter(({ installmentKey }) => installmentKey === row.key);
  if (own.length === 0) return row;
  const { amount, tax } = row.fee;
  return {
    ...row,
    fee: {
      amount: { expected: amount.expected.minus(sum(own.map((charge) => dueOf(charge.amount)))), paid: amount.paid },
      tax: { expected: tax.expected.minus(sum(own.map((charge) => dueOf(charge.tax)))), paid: tax.paid },
    },
  };
}
