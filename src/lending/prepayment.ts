import type { PrepaymentRecalculationMethod } from './payment-options.ts';
import { type Ledger, dropPlannedFees } from './ledger.ts';
import type { Loan } from './loan.ts';
import { type Installment, dueOf, rowAt, rowExpected } from './installments.ts';
import { type Decimal, sum, zero } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';
import type { LoanProduct } from './products/product.ts';
import { rebuildRows } from './schedule/prepayment-recalculation.ts';
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
  const needsLevelPayment =
    method === 'REDUCE_AMOUNT_PER_INSTALLMENT' || method === 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
  return !needsLevelPayment || product.interestSettings.interestCalculationMethod === 'DECLINING_BALANCE_DISCOUNTED';
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
  const before = open.map((row) => ({
    number: row.number,
    accruesAfter: row.accruesAfter,
    dueDate: row.dueDate,
    principal: dueOf(row.principal),
    interest: row.interest.amount.expected.minus(row.interest.tax.expected),
  }));
  const start = startOf(loan, open[0], asOf);
  const { periodicPayment } = position;
  const rebuilt = rebuildRows({
    terms,
    amountLent: position.principalLent,
    outstanding,
    rows: before,
    method,
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
  const isRepriced =
    method === 'REDUCE_AMOUNT_PER_INSTALLMENT' || method === 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS';
  if (periodicPayment === null || !isRepriced) return periodicPayment;
  return levelPayment(terms, outstanding, before, start ?? undefined);
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
