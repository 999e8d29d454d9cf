import { refusalOfCustomAmounts } from '../../allocation.ts';
import { futurePaymentsMaximum } from '../../business-days/future-payments.ts';
import type { Repay } from '../../commands.ts';
import { rowAt } from '../../installments.ts';
import { noAmounts } from '../../ledger.ts';
import type { Loan } from '../../loan.ts';
import { type Decision, type DecisionContext, refuse, transactionOf } from '../decision.ts';
import { refusalOfPayment, targetOf } from '../repayment.ts';
import { dayOfCommand } from '../../instants.ts';

/**
 * Records a repayment that is dated ahead: it waits for its day, and is posted when that day is over. Until then
 * nothing that is owed changes, and what it pays is decided on its day.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE_FOR_REPAYMENTS; INVALID_AMOUNT; INVALID_DATE
 * (outside the years that are computed; a booking after the value date);
 * LOAN_PRODUCT_PREPAYMENT_OPTIONS_MISMATCH; the rules on custom amounts; INVALID_REPAYMENT_ID (no such installment),
 * REPAYMENT_WAS_FULLY_PAID; FUTURE_PAYMENTS_LIMIT_EXCEEDED.
 */
export function decideFuturePayment(loan: Loan, command: Repay, context: DecisionContext): Decision {
  const { product, position } = loan;
  const { amount, customPaymentAmounts: parts, valueDate = dayOfCommand(command) } = command;
  // As on its day.
  const fault = refusalOfPayment(loan, { ...command, receivedOn: valueDate });
  if (fault !== null) return { refusals: [fault] };
  const customFault =
    parts.length > 0
      ? refusalOfCustomAmounts(product.allowCustomRepaymentAllocation, amount, parts, product.currency.digits)
      : null;
  if (customFault !== null) return { refusals: [customFault] };
  const target = targetOf(loan, position.installments, command.installmentEncodedKey);
  if (target !== null && typeof target !== 'number') return { refusals: [target] };
  if ((loan.futurePayments ?? []).length >= futurePaymentsMaximum) {
    return refuse('FUTURE_PAYMENTS_LIMIT_EXCEEDED', 'valueDate');
  }
  const transaction = transactionOf(loan, command, context, 'REPAYMENT', {
    amount,
    valueDate,
    affected: noAmounts,
    taxes: noAmounts,
    customPaymentAmounts: parts,
    prepaymentRecalculationMethod: command.prepaymentRecalculationMethod ?? null,
    installmentKey: target === null ? null : rowAt(position.installments, target).key,
    isInstallmentNamed: target !== null,
  });
  return { fact: { type: 'FUTURE_PAYMENT_RECORDED', transaction } };
}
