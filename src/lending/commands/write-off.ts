import { accrueTo } from '../accrual.ts';
import { decideAdjustment } from './adjustment.ts';
import { figuresOf } from '../balances.ts';
import type { UndoWriteOff, WriteOff } from '../commands.ts';
import { closeOut } from './closing.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { refusalOfDays } from './transaction-days.ts';
import { openLedger } from '../ledger.ts';
import { type Loan, type LoanPosition, isActive } from '../loan.ts';
import { dayOfCommand } from '../instants.ts';
import { type Decimal, sum } from '../money.ts';
import { reduceCharges, reduceRows, writeOffPrincipal } from '../reduced-rows-and-fees.ts';

/**
 * Gives up all that is owed on the value date, and closes the account as WRITTEN_OFF. The rows ask for what was paid
 * of them, so nothing is owed any more.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE (nothing is owed, too); INVALID_DATE (in the
 * future too); ENTRY_DATE_BEFORE_OTHER_TRANSACTION.
 */
export function decideWriteOff(loan: Loan, command: WriteOff, context: DecisionContext): Decision {
  if (!isActive(loan.position) || loan.position.asOf === null) return refuse('INVALID_ACCOUNT_STATE');
  const fault = refusalOfDays(command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < loan.position.asOf) return refuse('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', 'valueDate');

  const accrued = accrueTo(loan, loan.position, valueDate);
  const { interest, fees, nonScheduledFees, penalty } = figuresOf(loan, accrued);
  const ledger = openLedger(loan, accrued, valueDate);
  reduceRows(ledger, 'INTEREST', interest.balance);
  reduceRows(ledger, 'PENALTY', penalty.balance);
  reduceCharges(ledger, fees.balance.plus(nonScheduledFees.balance), () => true);
  writeOffPrincipal(ledger);
  const { affected, taxes } = ledger;
  const amount = sum(Object.values(affected) as Decimal[]);
  if (amount.isZero()) return refuse('INVALID_ACCOUNT_STATE');
  const position: LoanPosition = {
    ...closeOut(loan, ledger, accrued.periodicPayment, command.receivedAt),
    accountState: 'CLOSED',
    accountSubState: 'WRITTEN_OFF',
    closedAt: command.receivedAt,
  };
  return post(loan, command, context, 'WRITE_OFF', position, { amount, valueDate, affected, taxes });
}

/**
 * Takes a write-off back: all that was owed is owed again, and the account is as it was.
 *
 * Refused: INVALID_ACCOUNT_STATE, when the account is not written off; INVALID_DATE (of the booking).
 */
export function decideUndoneWriteOff(loan: Loan, command: UndoWriteOff, context: DecisionContext): Decision {
  const { adjustableTransactionKey: transactionId } = loan;
  if (loan.position.accountSubState !== 'WRITTEN_OFF' || transactionId === null) {
    return refuse('INVALID_ACCOUNT_STATE');
  }
  return decideAdjustment(loan, { ...command, type: 'ADJUST_TRANSACTION', transactionId }, context);
}
