import { accrueTo } from '../../accrual.ts';
import { type Figures, figuresOf } from '../../balances.ts';
import type { RestructuringCommand, UndoRestructuringCommand, WriteOffAmounts } from '../../commands.ts';
import { dayOfCommand } from '../../instants.ts';
import { openLedger } from '../../ledger.ts';
import { type Loan, type LoanPosition, isActive } from '../../loan.ts';
import { type Decimal, isPostable, sum, zero } from '../../money.ts';
import { reduceCharges, reduceRows, writeOffPrincipal } from '../../reduced-rows-and-fees.ts';
import { type Refusal, refusal } from '../../refusals.ts';
import type { LocalDate } from '../../terms.ts';
import { adjusted } from '../adjustment.ts';
import { closeOut } from '../closing.ts';
import { type Decision, type DecisionContext, post, refuse } from '../decision.ts';
import type { TransactionAdjusted } from '../facts.ts';
import { interestApplied } from '../interest-application.ts';
import { settledInFull } from '../pay-off.ts';
import { type Step, inSteps } from '../transactions-in-steps.ts';
import { refusalOfDays } from '../transaction-days.ts';

/** The purpose of the key that the new account gets. */
export const newAccountKeyPurpose = 'account/loan';

/** The day on which an account is replaced: that of the expected disbursement, or else the command's. */
export function dayOfRestructuring(command: RestructuringCommand): LocalDate {
  return command.valueDate ?? dayOfCommand(command);
}

/**
 * Replaces an account by a new one, on the side of the old: what is not written off goes to the new account, and the
 * old one is closed as RESCHEDULED or REFINANCED. It posts, as far as there is something to post: INTEREST_APPLIED;
 * WRITE_OFF of the write-off amounts; TRANSFER of all that is left, which is the amount of the new account before the
 * top-up.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE; INVALID_DISBURSEMENT_DATE (in the future too);
 * ENTRY_DATE_BEFORE_OTHER_TRANSACTION; NEGATIVE_TOP_UP_AMOUNT; NEGATIVE_WRITE_OFF_AMOUNT;
 * WRITE_OFF_AMOUNT_MORE_THAN_BALANCE_AMOUNT; INVALID_AMOUNT (not in whole minor units, or nothing is left).
 */
export function decideRestructuring(loan: Loan, command: RestructuringCommand, context: DecisionContext): Decision {
  const { position } = loan;
  if (!isActive(position) || position.asOf === null) return refuse('INVALID_ACCOUNT_STATE');
  const valueDate = dayOfRestructuring(command);
  const fault = refusalOfDays({ ...command, valueDate }, 'INVALID_DISBURSEMENT_DATE');
  const errorSource = 'loanAccount.disbursementDetails.expectedDisbursementDate';
  if (fault !== null) return { refusals: [{ ...fault, errorSource }] };
  if (valueDate < position.asOf) return refuse('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', errorSource);
  const figures = figuresOf(loan, accrueTo(loan, position, valueDate));
  const amountFault = refusalOfAmounts(loan, figures, command);
  if (amountFault !== null) return { refusals: [amountFault] };

  const accountSubState = command.type === 'RESCHEDULE' ? 'RESCHEDULED' : 'REFINANCED';
  const rescheduledTo = { id: command.newAccountId, encodedKey: context.newKey(newAccountKeyPurpose) };
  const transferred: Step = (current, own) => {
    const settled = settledInFull(current, valueDate, command.receivedAt);
    if (settled === null) return null;
    const { amount, affected, taxes } = settled;
    const closed: LoanPosition = {
      ...settled.position,
      accountState: 'CLOSED',
      accountSubState,
      lockedOperations: [],
      arrearsLock: null,
      closedAt: command.receivedAt,
      rescheduledTo,
    };
    return post(current, command, own, 'TRANSFER', closed, { amount, valueDate, affected, taxes });
  };
  const steps = [
    (current: Loan, own: DecisionContext) => interestApplied(current, command, own, valueDate),
    writtenOff(command, valueDate),
    transferred,
  ];
  return inSteps(loan, context, steps) ?? refuse('INVALID_ACCOUNT_STATE');
}

/** Gives up the write-off amounts: interest and penalties of rows due first, principal of those due last. */
function writtenOff(command: RestructuringCommand, valueDate: LocalDate): Step {
  const { principal = zero, interest = zero, fee = zero, penalty = zero } = command.writeOffAmounts;
  return (loan, context) => {
    if (sum([principal, interest, fee, penalty]).isZero()) return null;
    const accrued = accrueTo(loan, loan.position, valueDate);
    const ledger = openLedger(loan, accrued, valueDate);
    reduceRows(ledger, 'INTEREST', interest);
    reduceRows(ledger, 'PENALTY', penalty);
    reduceCharges(ledger, fee, () => true);
    writeOffPrincipal(ledger, principal);
    const { affected, taxes } = ledger;
    const amount = sum(Object.values(affected) as Decimal[]);
    const position = closeOut(loan, ledger, accrued.periodicPayment, command.receivedAt);
    return post(loan, command, context, 'WRITE_OFF', position, { amount, valueDate, affected, taxes });
  };
}

function refusalOfAmounts(
  { product }: Loan,
  { principal, interest, fees, penalty, nonScheduledFees, total }: Figures,
  { topUpAmount, writeOffAmounts }: RestructuringCommand,
): Refusal | null {
  const { digits } = product.currency;
  if (topUpAmount.isNegative()) return refusal('NEGATIVE_TOP_UP_AMOUNT', 'topUpAmount');
  if (!topUpAmount.isZero() && !isPostable(topUpAmount, digits)) return refusal('INVALID_AMOUNT', 'topUpAmount');
  const owed: Readonly<Record<keyof WriteOffAmounts, Decimal>> = {
    principal: principal.balance,
    interest: interest.balance,
    fee: fees.balance.plus(nonScheduledFees.balance),
    penalty: penalty.balance,
  };
  let left = total.plus(nonScheduledFees.balance);
  for (const [name, amount] of Object.entries(writeOffAmounts) as [keyof WriteOffAmounts, Decimal][]) {
    const errorSource = `writeOffAmounts.${name}`;
    if (amount.isNegative()) return refusal('NEGATIVE_WRITE_OFF_AMOUNT', errorSource);
    if (amount.greaterThan(owed[name])) return refusal('WRITE_OFF_AMOUNT_MORE_THAN_BALANCE_AMOUNT', errorSource);
    if (!amount.isZero() && !isPostable(amount, digits)) return refusal('INVALID_AMOUNT', errorSource);
    left = left.minus(amount);
  }
  return left.isZero() ? refusal('INVALID_AMOUNT', 'writeOffAmounts') : null;
}

/**
 * Takes the replacement of an account back, on the side of the old account or of the new one: the old one is exactly as
 * it was before, and the new one as before it was paid out.
 *
 * Refused: INVALID_ACCOUNT_STATE, when the account was not replaced by such a command;
 * NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE, when something was posted to the new account since.
 */
export function decideUndoneRestructuring(
  loan: Loan,
  command: UndoRestructuringCommand,
  context: DecisionContext,
): Decision {
  return isReplaced(loan, command) ? undoneOfOld(loan, command, context) : undoneOfNew(loan, command, context);
}

/** Whether the account was closed by the command that this one undoes. */
export function isReplaced({ position }: Loan, { type }: UndoRestructuringCommand): boolean {
  return position.accountSubState === (type === 'UNDO_RESCHEDULE' ? 'RESCHEDULED' : 'REFINANCED');
}

/** The transactions of one command, the last one first. */
function undoneOfOld(loan: Loan, command: UndoRestructuringCommand, context: DecisionContext): Decision {
  const facts: TransactionAdjusted[] = [];
  const last = loan.adjustableTransactionKey;
  let original = last === null ? undefined : context.transactions.find(last);
  const commandId = original?.commandId;
  while (original?.commandId === commandId && original !== undefined) {
    const { previousAdjustableKey } = original;
    const next = previousAdjustableKey === null ? undefined : context.transactions.find(previousAdjustableKey);
    const isLast = next?.commandId !== commandId;
    const purpose = isLast ? 'transaction' : `${facts.length}/transaction`;
    facts.push(adjusted(loan, original, command, { newKey: () => context.newKey(purpose) }));
    original = next;
  }
  return { facts };
}

function undoneOfNew(loan: Loan, command: UndoRestructuringCommand, context: DecisionContext): Decision {
  const [disbursement] = loan.position.disbursements;
  if (loan.originalAccount === undefined || disbursement === undefined || !isActive(loan.position)) {
    return refuse('INVALID_ACCOUNT_STATE');
  }
  const facts: TransactionAdjusted[] = [];
  let last =
    loan.adjustableTransactionKey === null ? undefined : context.transactions.find(loan.adjustableTransactionKey);
  // Due dates that follow the calendar are taken back with it: they cannot be adjusted before.
  while (last?.type === 'DUE_DATE_CHANGED' && last.previousAdjustableKey !== null) {
    const purpose = `due dates ${facts.length}/transaction`;
    facts.push(adjusted(loan, last, command, { newKey: () => context.newKey(purpose) }));
    last = context.transactions.find(last.previousAdjustableKey);
  }
  if (last?.encodedKey !== disbursement.transactionKey) {
    return refuse('NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE', 'loanAccountId');
  }
  return { facts: [...facts, adjusted(loan, last, command, context)] };
}
