import { addDays } from '../dates.ts';
import { feeAmount } from '../fees/amounts.ts';
import { newCharge } from '../fees/charges.ts';
import type { Installment } from '../installments.ts';
import type { Loan } from '../loan.ts';
import { type Decimal, zero } from '../money.ts';
import { type LoanProduct, type ProductFee, findFee } from '../products/product.ts';
import type { WorkingCalendar } from '../organization.ts';
import { alwaysOpen } from '../schedule/calendar.ts';
import type { LocalDate } from '../terms.ts';
import { lastToleratedDay, lateRows } from './arrears.ts';

/** A fee of the product that a late row has on a day. */
export interface DueLateFee {
  readonly predefinedFeeKey: string;
  readonly installmentNumber: number;
}

type TolerantLoan = Pick<Loan, 'product' | 'arrearsTolerancePeriod'>;

/** The fees that every late row of an account has. */
export function lateFeesOf({ feesSettings }: LoanProduct): ProductFee[] {
  return feesSettings.fees.filter(
    ({ trigger, feeApplication, state }) =>
      trigger === 'LATE_REPAYMENT' && feeApplication === 'REQUIRED' && state === 'ACTIVE',
  );
}

/** The first day on which a row that still owes can have a fee for being late: the one after the last tolerated day. */
export function firstLateFeeDay(
  loan: TolerantLoan,
  { dueDate }: Installment,
  calendar: WorkingCalendar = alwaysOpen,
): LocalDate {
  return addDays(lastToleratedDay(dueDate, loan, calendar), 1);
}

/** The first day on which a late row has the fees that every late row has; null when it had them, or has none. */
export function requiredLateFeeDay(
  loan: Pick<Loan, 'position'> & TolerantLoan,
  row: Installment,
  calendar: WorkingCalendar = alwaysOpen,
): LocalDate | null {
  if (row.lateFeesDecidedOn !== null || loan.position.lockedOperations.includes('APPLY_FEES')) return null;
  return lateFeesOf(loan.product).length === 0 ? null : firstLateFeeDay(loan, row, calendar);
}

/**
 * The fees that late rows have on a day: each fee once for each row that still owes after its tolerated days.
 * @param loan The account at the day.
 */
export function dueLateFees(loan: Loan, on: LocalDate, calendar: WorkingCalendar = alwaysOpen): DueLateFee[] {
  return lateRows(loan.position.installments, on).flatMap((row) => {
    const first = requiredLateFeeDay(loan, row, calendar);
    if (first === null || on < first) return [];
    return lateFeesOf(loan.product).map(({ encodedKey }) => ({
      predefinedFeeKey: encodedKey,
      installmentNumber: row.number,
    }));
  });
}

/** What a fee for being late comes to, tax included; zero when it cannot be charged. */
export function owedLateFee(loan: Loan, { predefinedFeeKey, installmentNumber }: DueLateFee): Decimal {
  const fee = findFee(loan.product, predefinedFeeKey);
  const row = loan.position.installments.find(({ number }) => number === installmentNumber);
  if (fee === undefined || row === undefined) return zero;
  const net = feeAmount(loan, fee, undefined, row.principal.expected);
  if ('errorReason' in net) return zero;
  const { allocation } = fee;
  return newCharge(loan, { encodedKey: '', fee, allocation, net, installmentKey: row.key }).amount.expected;
}
