import type { AdjustTransaction, CommandHeader } from '../commands.ts';
import { type Decision, type DecisionContext, refuse, transactionOf } from './decision.ts';
import type { FuturePaymentTakenBack, TransactionAdjusted } from './facts.ts';
import { refusalOfDays } from './transaction-days.ts';
import type { ElementAmounts, Loan, LoanTransaction } from '../loan.ts';
import { dayOfCommand } from '../instants.ts';
import { zero } from '../money.ts';
import { adjustmentOf } from '../transaction-types.ts';

/**
 * Takes back the last transaction that has not been taken back. Balances, schedule and state become exactly what they
 * were before it, so a loan that it closed is open again. Transactions after it that no person posted were taken back
 * before, and are posted again afterwards (see `later-transactions.ts`). A repayment that waits for its day is taken
 * back at any time, whatever was posted since, as it has changed nothing.
 *
 * Refused, with the first of these that applies: INVALID_TRANSACTION_ID; TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT (an
 * adjustment, what replaced an account by another one, or due dates, which follow the calendar);
 * TRANSACTION_ALREADY_ADJUSTED;
 * NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE; INVALID_ACCOUNT_STATE (of an account that was closed by hand: the
 * closure is undone first); INVALID_DATE (of the booking).
 */
export function decideAdjustment(loan: Loan, command: AdjustTransaction, context: DecisionContext): Decision {
  const original = context.transactions.find(command.transactionId);
  if (original === undefined) return refuse('INVALID_TRANSACTION_ID', 'transactionId');
  if (adjustmentOf(original.type) === null) {
    return refuse('TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT', 'transactionId');
  }
  // Both accounts must change: that has a command of its own.
  const isOfTwoAccounts =
    original.type === 'TRANSFER' || (original.type === 'DISBURSEMENT' && isReplacing(loan, original));
  if (original.originalTransactionKey !== null || isOfTwoAccounts || original.type === 'DUE_DATE_CHANGED') {
    return refuse('TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT', 'transactionId');
  }
  if (original.adjustmentTransactionKey !== null) return refuse('TRANSACTION_ALREADY_ADJUSTED', 'transactionId');
  if (original.isWaiting === true) {
    const fault = refusalOfDays(command);
    return fault === null ? { fact: withdrawn(loan, original, command, context) } : { refusals: [fault] };
  }
  if (original.encodedKey !== loan.adjustableTransactionKey) {
    return refuse('NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE', 'transactionId');
  }
  const { accountState, stateBeforeClosure } = loan.position;
  if (accountState === 'CLOSED' && stateBeforeClosure !== null) return refuse('INVALID_ACCOUNT_STATE');
  const fault = refusalOfDays(command);
  if (fault !== null) return { refusals: [fault] };
  return { fact: { ...adjusted(loan, original, command, context), isFinal: true } };
}

/** Whether the disbursement is that of what the account took over from another. */
function isReplacing({ originalAccount, position }: Loan, { encodedKey }: LoanTransaction): boolean {
  return originalAccount !== undefined && position.disbursements[0]?.transactionKey === encodedKey;
}

/**
 * The fact that takes back `original`, the last transaction that has not been taken back. Its booking date is that of
 * the command, else the command's day.
 * @throws Error for a transaction that cannot be taken back
 */
export function adjusted(
  loan: Loan,
  original: LoanTransaction,
  command: CommandHeader & Pick<AdjustTransaction, 'bookingDate' | 'notes'>,
  { newKey }: Pick<DecisionContext, 'newKey'>,
): TransactionAdjusted {
  const type = adjustmentOf(original.type);
  if (type === null) throw new Error(`${original.type} cannot be taken back`);
  return {
    type: 'TRANSACTION_ADJUSTED',
    original,
    transaction: transactionOf(
      loan,
      command,
      { newKey },
      type,
      {
        amount: zero.minus(original.amount),
        valueDate: original.valueDate,
        bookingDate: command.bookingDate ?? dayOfCommand(command),
        affected: negated(original.affected),
        taxes: negated(original.taxes),
        fees: original.fees.map((fee) => ({ ...fee, amount: zero.minus(fee.amount), tax: zero.minus(fee.tax) })),
        installmentKey: original.installmentKey,
        originalTransactionKey: original.encodedKey,
      },
      // Its terms are those that it returns to.
      { ...loan.position, ...original.undo?.fields },
    ),
  };
}

/** The fact that takes back a repayment that waits for its day. */
export function withdrawn(
  loan: Loan,
  original: LoanTransaction,
  command: Parameters<typeof adjusted>[2],
  context: Pick<DecisionContext, 'newKey'>,
): FuturePaymentTakenBack {
  const { transaction } = adjusted(loan, original, command, context);
  return { type: 'FUTURE_PAYMENT_TAKEN_BACK', original, transaction };
}

function negated({ principal, interest, fees, penalty }: ElementAmounts): ElementAmounts {
  return {
    principal: zero.minus(principal),
    interest: zero.minus(interest),
    fees: zero.minus(fees),
    penalty: zero.minus(penalty),
  };
}
