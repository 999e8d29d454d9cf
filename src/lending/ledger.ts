import { accrueTo } from './accrual.ts';
import { isPlanned, type FeeCharge, isOutsideRows } from './fees/charges.ts';
import type { ElementAmounts, Loan, LoanPosition } from './loan.ts';
import {
  type Installment,
  type Portion,
  dueOf,
  indexOfInstallment,
  isPaid,
  isWhollyUnpaid,
  rowAt,
  rowExpected,
} from './installments.ts';
import { type Decimal, isPostable, sum, zero } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';
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

/**
 * The position with the ledger's rows and charges. Rows now paid in full get the value date as their repaid date, and
 * the position the later of its last value date and the ledger's.
 */
export function closeLedger({ position, rows, charges, chargeCount, valueDate }: Ledger): LoanPosition {
  const installments = rows.map((row) => withRepaidDate(row, valueDate));
  return {
    ...position,
    installments,
    charges,
    chargeCount,
    lastValueDate: laterDate(position.lastValueDate, valueDate),
  };
}

/** The later of two days, of which the first may be missing. */
export function laterDate(one: LocalDate | null, other: LocalDate): LocalDate {
  return one !== null && one > other ? one : other;
}

function withRepaidDate(row: Installment, valueDate: LocalDate): Installment {
  const isRepaid = !isWhollyUnpaid(row) && isPaid(row);
  const repaidDate = isRepaid ? (row.repaidDate ?? valueDate) : null;
  return repaidDate === row.repaidDate ? row : { ...row, repaidDate };
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
    ? accrueTo(loan, { ...position, lockedOperations: [] }, last)
    : position;
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

/** The portion with `amount` more expected. */
export function addExpected(portion: Portion, amount: Decimal): Portion {
  return { expected: portion.expected.plus(amount), paid: portion.paid };
}
