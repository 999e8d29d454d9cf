import type { PrepaymentRecalculationMethod } from './payment-options.ts';
import { type Ledger, dropPlannedFees } from './ledger.ts';
import type { Loan } from './loan.ts';
import { expectInterest } from './accrual.ts';
import { addDays } from './dates.ts';
import { type Installment, type TaxedPortion, dueOf, rowAt, rowExpected } from './installments.ts';
import { type Decimal, sum, zero } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';
import type { LoanProduct } from './products/product.ts';
import { computesPayment, rebuildRows } from './schedule/prepayment-recalculation.ts';
import type { StartOfAccrual } from './schedule/principal-plan.ts';
import { levelPayment } from './schedule/level-payment.ts';
import { termsInForce } from './agreed-terms.ts';
import type { LocalDate } from './terms.ts';

/**
 * Whether a method can be used with a product. Agreed rows stay as they are. A level payment can be reduced, or kept
 * over fewer installments, only where the product has one.
 */
export function fitsProduct(
  method: PrepaymentRecalculationMethod,
  product: Pick<LoanProduct, 'type' | 'interestSettings'>,
): boolean {
  if (method === 'NO_RECALCULATION') return true;
  if (behaviourOf(product).rows === 'AGREED') return false;
  return (
    !method.startsWith('REDUCE_') ||
    product.interestSettings.interestCalculationMethod === 'DECLINING_BALANCE_DISCOUNTED'
  );
}

/**
 * Spreads the principal of the rows from `first` on again, after `amount` of it was paid outside them. Rows at the end
 * that no longer ask for anything are dropped.
 * @param asOf the day up to which interest is known
 * @returns the level payment from now on; null where there is none
 */
export function reamortize(
  ledger: Ledger,
  first: number,
  amount: Decimal,
  method: PrepaymentRecalculationMethod,
  asOf: LocalDate,
): Decimal | null {
  const { loan, position, rows } = ledger;
  const terms = termsInForce(loan, position);
  const open = rows.slice(first);
  const outstanding = sum(open.map(({ principal }) => dueOf(principal))).minus(amount);
  const interests =
    method === 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT' ? asExpected(ledger, first) : rows;
  const before = open.map((row, index) => ({
    number: row.number,
    accruesAfter: row.accruesAfter,
    dueDate: row.dueDate,
    unmoved: row.unmoved,
    principal: dueOf(row.principal),
    interest: withoutAddedTax(loan, rowAt(interests, first + index).interest),
  }));
  const start = startOf(loan, open[0], asOf);
  const { periodicPayment } = position;
  const keptPayments = open.filter(({ dueDate }) => dueDate <= lastKeptDueDate(loan, asOf)).length;
  const rebuilt = rebuildRows({
    terms,
    amountLent: position.principalLent,
    outstanding,
    rows: before,
    method,
    keptPayments,
    ...(periodicPayment === null ? {} : { payment: periodicPayment }),
    ...(start === null ? {} : { start }),
  });
  for (const [index, row] of open.entries()) {
    const principal = rebuilt[index]?.principal ?? zero;
    rows[first + index] = {
      ...row,
      principal: { expected: row.principal.paid.plus(principal), paid: row.principal.paid },
    };
  }
  dropPlannedFees(ledger);
  dropEmptyRows(loan, rows, first);
  if (periodicPayment === null || !computesPayment.has(method) || keptPayments === open.length) return periodicPayment;
  if (keptPayments === 0) return levelPayment(terms, outstanding, before, start ?? undefined);
  const outstandingLater = outstanding.minus(sum(rebuilt.slice(0, keptPayments).map(({ principal }) => principal)));
  return levelPayment(terms, outstandingLater, before.slice(keptPayments));
}

/**
 * The rows with the interest that they were to earn, had nothing been paid from row `first` on, and what is due before
 * it been paid: rows that are late do not raise it.
 */
function asExpected({ loan, position, rows }: Ledger, first: number): readonly Installment[] {
  const installments = [...rows.slice(0, first), ...position.installments.slice(first)];
  return expectInterest(loan, { ...position, installments }).installments;
}

/** The last due date whose payment stays on this day: that of rows so close is not computed again. */
function lastKeptDueDate({ product }: Loan, day: LocalDate): LocalDate {
  const threshold = product.interestSettings.pmtAdjustmentThreshold;
  return threshold === undefined ? '' : addDays(day, threshold.numberOfDays);
}

/** The interest of a row as the schedule computes it: without the tax that is added to it. */
function withoutAddedTax({ product }: Loan, { amount, tax }: TaxedPortion): Decimal {
  return product.taxSettings.taxCalculationMethod === 'EXCLUSIVE'
    ? amount.expected.minus(tax.expected)
    : amount.expected;
}

function startOf(loan: Loan, row: Installment | undefined, asOf: LocalDate): StartOfAccrual | null {
  const isAccrued = behaviourOf(loan.product).interest === 'ACCRUED';
  if (!isAccrued || row === undefined || row.accruesAfter >= asOf || row.dueDate <= asOf) return null;
  return { from: asOf, accruedInterest: row.interestAccrued };
}

/**
 * Drops rows from the end that no longer ask for anything, but none before `first`. Accrued interest that a row
 * expects is on principal that is gone; scheduled interest stays owed.
 */
function dropEmptyRows(loan: Loan, rows: Installment[], first: number): void {
  const isAccrued = behaviourOf(loan.product).interest === 'ACCRUED';
  while (rows.length > Math.max(first, 1)) {
    const row = rowAt(rows, rows.length - 1);
    const stillExpected = isAccrued ? rowExpected(row).minus(row.interest.amount.expected) : rowExpected(row);
    if (!stillExpected.isZero() || !row.interestAccrued.isZero() || !row.principalOverpaid.isZero()) return;
    rows.pop();
  }
}
