import { earnedGross, isEarning, payableInterest } from './accrual.ts';
import { type FeeCharge, isPlanned } from './fees/charges.ts';
import { type Installment, type Portion, type TaxedPortion, dueOf, indexOfInstallment, rowAt } from './installments.ts';
import type { Ledger } from './ledger.ts';
import type { ElementAmounts } from './loan.ts';
import { type Decimal, larger, roundAmount, smaller, sum, zero } from './money.ts';
import type { AllocationElement } from './products/product.ts';

/** Pays up to `amount` of one element of one row and returns what was paid. */
export function pay(ledger: Ledger, index: number, element: AllocationElement, amount: Decimal): Decimal {
  const row = rowAt(ledger.rows, index);
  if (element === 'FEE') return payCharges(ledger, amount, (charge) => charge.installmentKey === row.key);
  const paid = smaller(amount, payable(ledger, index, element));
  if (paid.isZero()) return zero;
  if (element === 'PRINCIPAL') {
    ledger.rows[index] = { ...row, principal: addPaid(row.principal, paid), lastPaidDate: ledger.valueDate };
    recordPayment(ledger, 'principal', paid, zero);
    return paid;
  }
  const name = element === 'INTEREST' ? 'interest' : 'penalty';
  const owed = element === 'INTEREST' ? owedInterest(ledger, row) : undefined;
  const portion = payTaxed(ledger, row[name], paid, owed);
  ledger.rows[index] = { ...row, [name]: portion, lastPaidDate: ledger.valueDate };
  recordPayment(ledger, name, paid, portion.tax.paid.minus(row[name].tax.paid));
  return paid;
}

/** What a row asks for in interest. While interest is still being earned, tax is paid on what has been earned. */
function owedInterest({ loan, position }: Ledger, row: Installment): { amount: Decimal; tax: Decimal } {
  return isEarning(loan, position, row)
    ? earnedGross(loan, position, row)
    : { amount: row.interest.amount.expected, tax: row.interest.tax.expected };
}

/** Pays charges in the order they were made, up to `amount` in all, and their rows with them. Skips planned charges. */
export function payCharges(ledger: Ledger, amount: Decimal, isSelected: (charge: FeeCharge) => boolean): Decimal {
  let remaining = amount;
  for (const [index, charge] of ledger.charges.entries()) {
    if (remaining.isZero()) break;
    if (!isSelected(charge) || isPlanned(ledger.loan, ledger.position, charge)) continue;
    const paid = smaller(remaining, dueOf(charge.amount));
    if (paid.isZero()) continue;
    const after = payTaxed(ledger, charge, paid);
    const tax = after.tax.paid.minus(charge.tax.paid);
    ledger.charges[index] = { ...charge, amount: after.amount, tax: after.tax };
    if (charge.installmentKey !== null) {
      const rowIndex = indexOfInstallment(ledger.rows, charge.installmentKey);
      const row = rowAt(ledger.rows, rowIndex);
      const fee = { amount: addPaid(row.fee.amount, paid), tax: addPaid(row.fee.tax, tax) };
      ledger.rows[rowIndex] = { ...row, fee, lastPaidDate: ledger.valueDate };
    }
    recordPayment(ledger, 'fees', paid, tax);
    remaining = remaining.minus(paid);
  }
  return amount.minus(remaining);
}

/** How much of one element of a row can be paid now. What can be paid of its fees, its charges say. */
export function payable(ledger: Ledger, index: number, element: Exclude<AllocationElement, 'FEE'>): Decimal {
  const { loan, position, rows } = ledger;
  const row = rowAt(rows, index);
  if (element === 'INTEREST') return payableInterest(loan, position, row);
  return dueOf(element === 'PRINCIPAL' ? row.principal : row.penalty.amount);
}

/** The amount still owed on the charges that `isSelected` selects. */
export function chargesDue(ledger: Ledger, isSelected: (charge: FeeCharge) => boolean): Decimal {
  return sum(ledger.charges.filter(isSelected).map(({ amount }) => dueOf(amount)));
}

/**
 * The tax paid follows the amount paid: the same share of it, rounded, and all of it with the last cent. It depends on
 * how much was paid, not on the number of payments.
 */
function payTaxed(
  { loan }: Ledger,
  { amount, tax }: TaxedPortion,
  paid: Decimal,
  owed: { amount: Decimal; tax: Decimal } = { amount: amount.expected, tax: tax.expected },
): TaxedPortion {
  const paidAfter = amount.paid.plus(paid);
  const { currency, rounding } = loan.terms;
  const share = paidAfter.equals(owed.amount)
    ? owed.tax
    : roundAmount(owed.tax.times(paidAfter).dividedBy(owed.amount), currency, rounding.roundingMode);
  const taxPaid = smaller(tax.expected, larger(tax.paid, share));
  return { amount: addPaid(amount, paid), tax: { expected: tax.expected, paid: taxPaid } };
}

function recordPayment(ledger: Ledger, element: keyof ElementAmounts, amount: Decimal, tax: Decimal): void {
  ledger.affected = { ...ledger.affected, [element]: ledger.affected[element].plus(amount) };
  ledger.taxes = { ...ledger.taxes, [element]: ledger.taxes[element].plus(tax) };
}

function addPaid(portion: Portion, amount: Decimal): Portion {
  return { expected: portion.expected, paid: portion.paid.plus(amount) };
}
