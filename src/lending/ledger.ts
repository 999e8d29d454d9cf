import { accrueTo, earnedGross, isEarning, payableInterest } from './accrual.ts';
import { isPlanned, type FeeCharge, isOutsideRows } from './fee-charges.ts';
import type { ElementAmounts, Loan, LoanPosition } from './loan.ts';
import {
  type Installment,
  type Portion,
  type TaxedPortion,
  dueOf,
  indexOfInstallment,
  isPaid,
  isWhollyUnpaid,
  rowAt,
  rowExpected,
} from './installments.ts';
import { type Decimal, isPostable, larger, roundAmount, smaller, sum, zero } from './money.ts';
import { behaviourOf } from './product-behaviour.ts';
import type { AllocationElement } from './product.ts';
import type { LocalDate } from './terms.ts';

/**
 * The rows and charges of a position while one transaction is computed. The arrays belong to the ledger. The rows in
 * them are replaced, never changed, so an untouched row stays the same object.
 */
export interface Ledger {
  readonly loan: Loan;
  readonly position: LoanPosition;
  readonly valueDate: LocalDate;
  readonly rows: Installment[];
  readonly charges: FeeCharge[];
  chargeCount: number;
  affected: ElementAmounts;
  taxes: ElementAmounts;
}

export const noAmounts: ElementAmounts = { principal: zero, interest: zero, fees: zero, penalty: zero };

/** A ledger over copies of the position's row and charge lists, with nothing affected yet. */
export function openLedger(loan: Loan, position: LoanPosition, valueDate: LocalDate): Ledger {
  return {
    loan,
    position,
    valueDate,
    rows: [...position.installments],
    charges: [...position.charges],
    chargeCount: position.chargeCount,
    affected: noAmounts,
    taxes: noAmounts,
  };
}

/** The position with the ledger's rows and charges. Rows now paid in full get the value date as their repaid date. */
export function closeLedger({ position, rows, charges, chargeCount, valueDate }: Ledger): LoanPosition {
  const installments = rows.map((row) => withRepaidDate(row, valueDate));
  return { ...position, installments, charges, chargeCount };
}

function withRepaidDate(row: Installment, valueDate: LocalDate): Installment {
  const isRepaid = !isWhollyUnpaid(row) && isPaid(row);
  const repaidDate = isRepaid ? (row.repaidDate ?? valueDate) : null;
  return repaidDate === row.repaidDate ? row : { ...row, repaidDate };
}

/** How much of one element of a row can be paid now. What can be paid of its fees, its charges say. */
export function payable(ledger: Ledger, index: number, element: Exclude<AllocationElement, 'FEE'>): Decimal {
  const { loan, position, rows } = ledger;
  const row = rowAt(rows, index);
  if (element === 'INTEREST') return payableInterest(loan, position, row);
  return dueOf(element === 'PRINCIPAL' ? row.principal : row.penalty.amount);
}

/**
 * Drops the fees planned for future rows once no principal is left for those rows and the rows after them. A fee for a
 * due date is not owed before that date, and the loan will not reach it.
 */
export function dropPlannedFees(ledger: Ledger): void {
  const { loan, position, rows, charges } = ledger;
  if (behaviourOf(loan.product).dueDateFees === 'FROM_DISBURSEMENT') return;
  const last = rows.findLastIndex(({ principal }) => !dueOf(principal).isZero());
  for (let index = charges.length - 1; index >= 0; index -= 1) {
    const dropped = charges[index];
    if (dropped === undefined || dropped.installmentKey === null || !dropped.amount.paid.isZero()) continue;
    if (!isPlanned(loan, position, dropped)) continue;
    const rowIndex = indexOfInstallment(rows, dropped.installmentKey);
    if (rowIndex <= last) continue;
    charges.splice(index, 1);
    const row = rowAt(rows, rowIndex);
    const fee = {
      amount: addExpected(row.fee.amount, zero.minus(dropped.amount.expected)),
      tax: addExpected(row.fee.tax, zero.minus(dropped.tax.expected)),
    };
    rows[rowIndex] = { ...row, fee };
  }
}

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

/**
 * Whether the total that rows and charges ask for is short enough to be read, and stays so if nothing more is paid.
 * Then every partial sum of it, which balances and schedules show, is short enough too.
 */
export function hasPostableTotals(ledger: Ledger): boolean {
  const { loan } = ledger;
  const { installments, charges, settledFees } = positionIfUnpaid(loan, closeLedger(ledger));
  const outside = charges.filter(isOutsideRows).map(({ amount }) => amount.expected);
  const totalExpected = sum([...installments.map(rowExpected), ...outside, settledFees.expectedOutsideRows]);
  return totalExpected.isZero() || isPostable(totalExpected, loan.product.currency.digits);
}

/**
 * The position on its last due date if nothing is paid until then: overdue principal earns more than was scheduled.
 */
function positionIfUnpaid(loan: Loan, position: LoanPosition): LoanPosition {
  const last = position.installments.at(-1)?.dueDate;
  if (last === undefined || position.asOf === null || position.asOf >= last) return position;
  return behaviourOf(loan.product).interest === 'ACCRUED' && loan.product.interestSettings.accrueLateInterest
    ? accrueTo(loan, position, last)
    : position;
}

/** The amount still owed on the charges that `isSelected` selects. */
export function chargesDue(ledger: Ledger, isSelected: (charge: FeeCharge) => boolean): Decimal {
  return sum(ledger.charges.filter(isSelected).map(({ amount }) => dueOf(amount)));
}

/** Adds a charge to the account and, when it names one, to its row. */
export function addCharge(ledger: Ledger, added: Omit<FeeCharge, 'number'>): void {
  ledger.chargeCount += 1;
  ledger.charges.push({ number: ledger.chargeCount, ...added });
  if (added.installmentKey === null) return;
  const rowIndex = indexOfInstallment(ledger.rows, added.installmentKey);
  const row = rowAt(ledger.rows, rowIndex);
  const fee = {
    amount: addExpected(row.fee.amount, added.amount.expected),
    tax: addExpected(row.fee.tax, added.tax.expected),
  };
  ledger.rows[rowIndex] = { ...row, fee };
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

/** The portion with `amount` more expected. */
export function addExpected(portion: Portion, amount: Decimal): Portion {
  return { expected: portion.expected.plus(amount), paid: portion.paid };
}
