import { earnedGross, isEarning } from './accrual.ts';
import { type FeeCharge, isPlanned } from './fees/charges.ts';
import { type TaxedPortion, dueOf, indexOfInstallment, lowered, rowAt, unpaid } from './installments.ts';
import type { Ledger } from './ledger.ts';
import type { ElementAmounts } from './loan.ts';
import { type Decimal, larger, smaller, zero } from './money.ts';
import { payable } from './payments.ts';

/**
 * Takes up to `amount` off the interest or the penalties that rows owe, those due first first. What was paid of a row
 * stays paid. Interest that was applied counts as applied no longer.
 * @param isSelected The keys of the rows to reduce.
 * @returns what was taken off
 */
export function reduceRows(
  ledger: Ledger,
  element: 'INTEREST' | 'PENALTY',
  amount: Decimal,
  isSelected: (installmentKey: number) => boolean = () => true,
): Decimal {
  let remaining = amount;
  for (const index of ledger.rows.keys()) {
    if (remaining.isZero()) break;
    if (!isSelected(rowAt(ledger.rows, index).key)) continue;
    const reduction = smaller(remaining, payable(ledger, index, element));
    if (reduction.isZero()) continue;
    if (element === 'INTEREST') reduceInterest(ledger, index, reduction);
    else reducePenalty(ledger, index, reduction);
    remaining = remaining.minus(reduction);
  }
  return amount.minus(remaining);
}

function reduceInterest(ledger: Ledger, index: number, reduction: Decimal): void {
  const { loan, position, rows } = ledger;
  const row = rowAt(rows, index);
  const { interest } = row;
  const earned = isEarning(loan, position, row) ? earnedGross(loan, position, row) : null;
  const owed: TaxedPortion =
    earned === null
      ? interest
      : {
          amount: { expected: earned.amount, paid: interest.amount.paid },
          tax: { expected: earned.tax, paid: interest.tax.paid },
        };
  rows[index] = {
    ...row,
    interest: lessOf(ledger, interest, reduction),
    interestApplied: larger(zero, row.interestApplied.minus(reduction)),
    interestReduced: row.interestReduced.plus(reduction),
  };
  record(ledger, 'interest', reduction, owed.tax.expected.minus(lessOf(ledger, owed, reduction).tax.expected));
}

function reducePenalty(ledger: Ledger, index: number, reduction: Decimal): void {
  const row = rowAt(ledger.rows, index);
  const penalty = lessOf(ledger, row.penalty, reduction);
  ledger.rows[index] = { ...row, penalty };
  record(ledger, 'penalty', reduction, row.penalty.tax.expected.minus(penalty.tax.expected));
}

/**
 * Takes up to `amount` off what is owed of charges, in the order they were made, and off their rows. Skips planned
 * charges, which are not owed yet.
 * @returns what was taken off
 */
export function reduceCharges(ledger: Ledger, amount: Decimal, isSelected: (charge: FeeCharge) => boolean): Decimal {
  let remaining = amount;
  for (const [index, charge] of ledger.charges.entries()) {
    if (remaining.isZero()) break;
    if (!isSelected(charge) || isPlanned(ledger.loan, ledger.position, charge)) continue;
    const reduction = smaller(remaining, dueOf(charge.amount));
    if (reduction.isZero()) continue;
    const after = lessOf(ledger, charge, reduction);
    const tax = charge.tax.expected.minus(after.tax.expected);
    ledger.charges[index] = { ...charge, amount: after.amount, tax: after.tax };
    if (charge.installmentKey !== null) {
      const rowIndex = indexOfInstallment(ledger.rows, charge.installmentKey);
      const row = rowAt(ledger.rows, rowIndex);
      const fee = {
        amount: { expected: row.fee.amount.expected.minus(reduction), paid: row.fee.amount.paid },
        tax: { expected: row.fee.tax.expected.minus(tax), paid: row.fee.tax.paid },
      };
      ledger.rows[rowIndex] = { ...row, fee };
    }
    record(ledger, 'fees', reduction, tax);
    remaining = remaining.minus(reduction);
  }
  return amount.minus(remaining);
}

/**
 * Takes off principal that rows owe, those due last first.
 * @param amount Absent: all of it.
 */
export function writeOffPrincipal(ledger: Ledger, amount?: Decimal): void {
  let remaining = amount;
  for (let index = ledger.rows.length - 1; index >= 0; index -= 1) {
    const row = rowAt(ledger.rows, index);
    const { expected, paid } = row.principal;
    const due = dueOf(row.principal);
    const reduction = remaining === undefined ? due : smaller(remaining, due);
    if (reduction.isZero()) continue;
    const principal = paid.isZero() ? unpaid(expected.minus(reduction)) : { expected: expected.minus(reduction), paid };
    ledger.rows[index] = { ...row, principal };
    record(ledger, 'principal', reduction, zero);
    remaining = remaining?.minus(reduction);
  }
}

function lessOf({ loan }: Ledger, portion: TaxedPortion, reduction: Decimal): TaxedPortion {
  const { currency, rounding } = loan.terms;
  return lowered(portion, reduction, currency, rounding.roundingMode);
}

function record(ledger: Ledger, element: keyof ElementAmounts, amount: Decimal, tax: Decimal): void {
  ledger.affected = { ...ledger.affected, [element]: ledger.affected[element].plus(amount) };
  ledger.taxes = { ...ledger.taxes, [element]: ledger.taxes[element].plus(tax) };
}
