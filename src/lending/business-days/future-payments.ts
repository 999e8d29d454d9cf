import type { Repay } from '../commands.ts';
import { addDays } from '../dates.ts';
import { dayOfCommand } from '../instants.ts';
import { type FuturePayment, type Loan, type PostedTransactions, isActive } from '../loan.ts';
import type { LoanProduct } from '../products/product.ts';
import { settingAt } from '../products/repeated-settings.ts';
import { type RequestedRepayment, requestedRepayment } from '../replay/reposting.ts';
import type { LocalDate } from '../terms.ts';

/** The most repayments of one account that wait for their day: each makes the record of the account longer. */
export const futurePaymentsMaximum = 100;

/** Whether repayments of a product may be dated ahead. Overpayments are no more accepted of them than of others. */
export function acceptsFuturePayments(product: LoanProduct): boolean {
  const accepted = settingAt(product, 'paymentSettings.prepaymentSettings.futurePaymentsAcceptance');
  return accepted === 'ACCEPT_FUTURE_PAYMENTS' || accepted === 'ACCEPT_OVERPAYMENTS';
}

/** Whether a repayment is dated after its command's day, under a product that accepts that. */
export function isFuturePayment({ product }: Pick<Loan, 'product'>, command: Repay): boolean {
  const { valueDate } = command;
  return valueDate !== undefined && valueDate > dayOfCommand(command) && acceptsFuturePayments(product);
}

/** The repayments that wait for their day, the next one first. None of an account that cannot be repaid now. */
export function futurePaymentsOf({
  futurePayments = none,
  position,
}: Pick<Loan, 'futurePayments' | 'position'>): readonly FuturePayment[] {
  return isActive(position) ? futurePayments : none;
}

const none: readonly FuturePayment[] = [];

/** The account with one more repayment that waits: after those of its day, which came before it. */
export function withFuturePayment(loan: Loan, payment: FuturePayment): Loan {
  const { futurePayments = none } = loan;
  const isLater = (other: FuturePayment): boolean => other.valueDate > payment.valueDate;
  const earlier = futurePayments.filter((other) => !isLater(other));
  return { ...loan, futurePayments: [...earlier, payment, ...futurePayments.filter(isLater)] };
}

/** The account without the repayment that waits under this key; the same account when none does. */
export function withoutFuturePayment(loan: Loan, transactionKey: string): Loan {
  const { futurePayments = none, ...others } = loan;
  const left = futurePayments.filter((payment) => payment.transactionKey !== transactionKey);
  if (left.length === futurePayments.length) return loan;
  return left.length === 0 ? others : { ...loan, futurePayments: left };
}

/**
 * The business date at whose start a repayment that waits is posted: the one after its day, so that the day is over and
 * nothing of it is late yet. Of an account that was not open then, the next one. Null when none waits.
 */
export function nextPaymentDate(loan: Pick<Loan, 'futurePayments' | 'position' | 'businessDate'>): LocalDate | null {
  const [next] = futurePaymentsOf(loan);
  if (next === undefined) return null;
  const afterItsDay = addDays(next.valueDate, 1);
  const { businessDate } = loan;
  return businessDate === null || businessDate < afterItsDay ? afterItsDay : addDays(businessDate, 1);
}

/**
 * The repayments whose day is over when a business date starts, as their senders asked for them, in the order in which
 * they are posted: by day, and of one day as they came.
 */
export function duePayments(loan: Loan, businessDate: LocalDate, posted: PostedTransactions): RequestedRepayment[] {
  return futurePaymentsOf(loan)
    .filter(({ valueDate }) => valueDate < businessDate)
    .map(({ transactionKey }) => {
      const transaction = posted.find(transactionKey);
      if (transaction === undefined) throw new Error(`no transaction ${transactionKey} waits`);
      return { ...requestedRepayment(loan, transaction), futurePaymentKey: transactionKey };
    });
}
