import { accrueTo } from '../../accrual.ts';
import { figuresOf } from '../../balances.ts';
import type { Refund } from '../../commands.ts';
import { dayOfCommand } from '../../instants.ts';
import { noAmounts } from '../../ledger.ts';
import type { Disbursement, Loan, LoanPosition } from '../../loan.ts';
import { type Decimal, zero } from '../../money.ts';
import { refusal } from '../../refusals.ts';
import { type Decision, type DecisionContext, post, refuse } from '../decision.ts';
import { recalculationMethodOf, refusalOfPayment } from '../repayment.ts';
import { lowerPrincipal } from '../principal-overpayment.ts';

/**
 * Takes back a part or all of what was paid out: the outstanding principal falls by it, as by an overpayment of
 * principal with the product's method. What was not lent cannot be refunded, so all refunds together are at most the
 * disbursement. A loan that then owes nothing is closed. No prepayment: it is possible where none are accepted.
 *
 * Refused, with the first of these that applies: the refusals of a repayment; INVALID_TRANSACTION_ID (no disbursement
 * of the account has this key); INVALID_AMOUNT (more than is left of the disbursement); EXCESS_REPAYMENT_ERROR (more
 * than the principal balance).
 */
export function decideRefund(loan: Loan, command: Refund, context: DecisionContext): Decision {
  const { amount, linkedDisbursementKey } = command;
  const fault = refusalOfPayment(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const refunded = loan.position.disbursements.find(({ transactionKey }) => transactionKey === linkedDisbursementKey);
  if (refunded === undefined) return { refusals: [refusal('INVALID_TRANSACTION_ID', 'linkedDisbursementKey')] };
  if (refundedBy(refunded).plus(amount).greaterThan(loan.loanAmount)) return refuse('INVALID_AMOUNT', 'amount');
  const valueDate = command.valueDate ?? dayOfCommand(command);
  const accrued = accrueTo(loan, loan.position, valueDate);
  if (amount.greaterThan(figuresOf(loan, accrued).principal.balance)) return refuse('EXCESS_REPAYMENT_ERROR', 'amount');

  const lowered = lowerPrincipal(loan, accrued, amount, {
    valueDate,
    method: recalculationMethodOf(loan.product, command),
    now: command.receivedAt,
  });
  const position = withRefund(lowered.position, refunded, amount);
  const additionalFields = { ...command.additionalFields, parentLoanTransactionKey: linkedDisbursementKey };
  return post(loan, { ...command, additionalFields }, context, 'REFUND', position, {
    amount,
    valueDate,
    affected: { ...noAmounts, principal: amount },
    taxes: noAmounts,
    installmentKey: lowered.installmentKey,
  });
}

function withRefund(position: LoanPosition, refunded: Disbursement, amount: Decimal): LoanPosition {
  const disbursements = position.disbursements.map((disbursement) =>
    disbursement === refunded ? { ...refunded, refunded: refundedBy(refunded).plus(amount) } : disbursement,
  );
  return { ...position, disbursements };
}

function refundedBy({ refunded = zero }: Disbursement): Decimal {
  return refunded;
}
