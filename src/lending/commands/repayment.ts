import { accrueTo } from '../accrual.ts';
import { allocate, allocateCustom, dueNow, refusalOfCustomAmounts } from '../allocation.ts';
import { indexOfEncodedKey } from '../identifiers.ts';
import { type Installment, currentRowIndex, isPaid, rowAt } from '../installments.ts';
import { figuresOf } from '../balances.ts';
import type { Repay } from '../commands.ts';
import { closeOutInTime } from './closing.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { refusalOfDays } from './transaction-days.ts';
import { type Ledger, openLedger } from '../ledger.ts';
import { type Loan, isActive } from '../loan.ts';
import { dayOfCommand } from '../instants.ts';
import { type Decimal, isPostable, sum, zero } from '../money.ts';
import type { PrepaymentRecalculationMethod } from '../payment-options.ts';
import { fitsProduct, reamortize } from '../prepayment.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import type { LoanProduct } from '../products/product.ts';
import { type Refusal, refusal } from '../refusals.ts';

/**
 * Pays what is owed, in the product's order or as custom amounts say; of the named installment alone when it names one,
 * and then nothing is recalculated. What a dynamic loan is paid beyond the current
 * installment goes to principal, and the recalculation method spreads the rows after it again. A repayment of all that
 * is owed closes the loan.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE_FOR_REPAYMENTS; INVALID_AMOUNT; INVALID_DATE;
 * REPAYMENT_DATE_IN_THE_FUTURE_ERROR; ENTRY_DATE_BEFORE_OTHER_TRANSACTION (before the disbursement);
 * LOAN_PRODUCT_PREPAYMENT_OPTIONS_MISMATCH; the rules on custom amounts; INVALID_REPAYMENT_ID (no such installment),
 * REPAYMENT_WAS_FULLY_PAID; EXCESS_REPAYMENT_ERROR; PREPAYMENT_NOT_ALLOWED_ERROR.
 */
export function decideRepayment(loan: Loan, command: Repay, context: DecisionContext): Decision {
  const { product } = loan;
  const { customPaymentAmounts: parts, amount } = command;
  const { prepaymentAcceptance } = product.paymentSettings.prepaymentSettings;
  const method = recalculationMethodOf(product, command);
  const fault = refusalOfPayment(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const isCustom = parts.length > 0;
  const customFault = isCustom
    ? refusalOfCustomAmounts(product.allowCustomRepaymentAllocation, amount, parts, product.currency.digits)
    : null;
  if (customFault !== null) return { refusals: [customFault] };

  const valueDate = command.valueDate ?? dayOfCommand(command);
  const ledger = openLedger(loan, accrueTo(loan, loan.position, valueDate), valueDate);
  const target = targetOf(loan, ledger.rows, command.installmentEncodedKey);
  if (target !== null && typeof target !== 'number') return { refusals: [target] };
  if (!isCustom && amount.greaterThan(figuresOf(loan, ledger.position).total)) {
    return refuse('EXCESS_REPAYMENT_ERROR', 'amount');
  }
  const due = dueNow(ledger, target);
  const reamortizes = target === null && method !== 'NO_RECALCULATION' && behaviourOf(product).rows === 'REDRAWN';
  const prepaidPrincipal = isCustom
    ? allocateCustom(ledger, parts, reamortizes, target)
    : allocate(ledger, amount, reamortizes, target);
  if ('errorReason' in prepaidPrincipal) return { refusals: [prepaidPrincipal] };
  if (target !== null && !prepaidPrincipal.isZero()) return refuse('EXCESS_REPAYMENT_ERROR', 'amount');
  const nonScheduled = parts.filter((part) => part.customPaymentAmountType === 'NON_SCHEDULED_FEE');
  const scheduled = amount.minus(sum(nonScheduled.map((part) => part.amount)));
  if (prepaymentAcceptance === 'NO_PREPAYMENTS' && scheduled.greaterThan(due)) {
    return refuse('PREPAYMENT_NOT_ALLOWED_ERROR', 'amount');
  }
  const periodicPayment = prepaidPrincipal.isZero()
    ? keepTotals(ledger, method)
    : prepay(ledger, prepaidPrincipal, method);
  const position = closeOutInTime(loan, ledger, periodicPayment, command.receivedAt);
  return post(loan, command, context, 'REPAYMENT', position, {
    amount,
    valueDate,
    affected: ledger.affected,
    taxes: ledger.taxes,
    customPaymentAmounts: parts,
    prepaymentRecalculationMethod: command.prepaymentRecalculationMethod ?? null,
    installmentKey: target === null ? null : rowAt(ledger.position.installments, target).key,
    isInstallmentNamed: target !== null,
  });
}

/**
 * Where the product fixes the totals of rows, and rows after the current one were paid ahead without a recalculation,
 * these keep what they ask for: as they will earn less interest, they repay more principal.
 */
function keepTotals(ledger: Ledger, method: PrepaymentRecalculationMethod): Decimal | null {
  const { loan, position, rows, valueDate } = ledger;
  const next = currentRowIndex(ledger) + 1;
  const isPaidAhead = rows.some(({ principal }, index) => {
    return index >= next && !principal.paid.equals(rowAt(position.installments, index).principal.paid);
  });
  return isPaidAhead && method === 'NO_RECALCULATION' && fixesTotals(loan.product)
    ? reamortize(ledger, next, zero, 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT', valueDate)
    : position.periodicPayment;
}

/** Whether a row that earns less interest keeps its total, and not its principal. */
export function fixesTotals({ paymentSettings }: LoanProduct): boolean {
  return paymentSettings.prepaymentSettings.elementsRecalculationMethod === 'TOTAL_EXPECTED_FIXED';
}

/** The index of the installment that a repayment names; null when it names none. */
export function targetOf(
  loan: Loan,
  rows: readonly Installment[],
  encodedKey: string | undefined,
): number | null | Refusal {
  if (encodedKey === undefined) return null;
  const index = indexOfEncodedKey(loan, rows, encodedKey);
  if (index === -1) return refusal('INVALID_REPAYMENT_ID', 'installmentEncodedKey');
  return isPaid(rowAt(rows, index)) ? refusal('REPAYMENT_WAS_FULLY_PAID', 'installmentEncodedKey') : index;
}

/** Principal paid ahead counts as paid with the current row. The rows after it have that much less to repay. */
function prepay(ledger: Ledger, prepaidPrincipal: Decimal, method: PrepaymentRecalculationMethod): Decimal | null {
  const current = currentRowIndex(ledger);
  const periodicPayment = reamortize(ledger, current + 1, prepaidPrincipal, method, ledger.valueDate);
  const row = rowAt(ledger.rows, current);
  ledger.rows[current] = {
    ...row,
    principal: {
      expected: row.principal.expected.plus(prepaidPrincipal),
      paid: row.principal.paid.plus(prepaidPrincipal),
    },
    lastPaidDate: ledger.valueDate,
  };
  ledger.affected = { ...ledger.affected, principal: ledger.affected.principal.plus(prepaidPrincipal) };
  return periodicPayment;
}

/** The fields that repayments and overpayments share: money that moves on a day. */
type PaymentFields = Pick<
  Repay,
  'amount' | 'valueDate' | 'bookingDate' | 'receivedAt' | 'receivedOn' | 'prepaymentRecalculationMethod'
>;

/** How the remaining rows are spread again: by the command's method, else by the product's. */
export function recalculationMethodOf(
  { paymentSettings }: LoanProduct,
  command: PaymentFields,
): PrepaymentRecalculationMethod {
  return command.prepaymentRecalculationMethod ?? paymentSettings.prepaymentSettings.prepaymentRecalculationMethod;
}

/** Checks a movement before what is owed is considered. Returns null when nothing is wrong. */
export function refusalOfPayment({ position, product }: Loan, command: PaymentFields): Refusal | null {
  if (!isActive(position) || position.asOf === null) {
    return refusal('INVALID_ACCOUNT_STATE_FOR_REPAYMENTS');
  }
  if (!isPostable(command.amount, product.currency.digits)) {
    return refusal('INVALID_AMOUNT', 'amount');
  }
  const fault = refusalOfDays(command, 'INVALID_DATE', 'REPAYMENT_DATE_IN_THE_FUTURE_ERROR');
  if (fault !== null) return fault;
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < position.asOf) return refusal('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', 'valueDate');
  return fitsProduct(recalculationMethodOf(product, command), product)
    ? null
    : refusal('LOAN_PRODUCT_PREPAYMENT_OPTIONS_MISMATCH', 'prepaymentRecalculationMethod');
}
