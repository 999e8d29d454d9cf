import { accrueTo } from '../accrual.ts';
import { firstLateFeeDay, lateFeesOf } from '../business-days/late-fees.ts';
import type { Lock, Unlock } from '../commands.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { refusalOfDays } from './transaction-days.ts';
import { noAmounts } from '../ledger.ts';
import {
  type AccountSubState,
  type Loan,
  type LoanPosition,
  type LockedOperation,
  isActive,
  lockedOperations,
} from '../loan.ts';
import { rowDue } from '../installments.ts';
import { dayOfCommand } from '../instants.ts';
import { zero } from '../money.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { type Step, inSteps } from './transactions-in-steps.ts';
import type { LocalDate } from '../terms.ts';

/** The transactions that begin and end each lock. */
const types = {
  APPLY_INTEREST: { locked: 'INTEREST_LOCKED', unlocked: 'INTEREST_UNLOCKED' },
  APPLY_FEES: { locked: 'FEE_LOCKED', unlocked: 'FEE_UNLOCKED' },
  APPLY_PENALTIES: { locked: 'PENALTY_LOCKED', unlocked: 'PENALTY_UNLOCKED' },
} as const satisfies Readonly<Record<LockedOperation, object>>;

/**
 * Locks operations of an account, all of them when none is named: no interest is earned, no fees or no penalties are
 * charged from the value date on. What was earned and charged stays owed and can be paid. One transaction for each
 * operation that was not locked before.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE (also when all of it is locked already);
 * INVALID_DATE (in the future too); ENTRY_DATE_BEFORE_OTHER_TRANSACTION.
 */
export function decideLock(loan: Loan, command: Lock, context: DecisionContext): Decision {
  const fault = refusalOfLock(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const asked = command.lockedOperations.length === 0 ? lockedOperations : command.lockedOperations;
  const added = asked.filter((operation) => !loan.position.lockedOperations.includes(operation));
  const steps = added.map((operation) =>
    lockStep(command, types[operation].locked, (locked) => [...locked, operation]),
  );
  return inSteps(loan, context, steps) ?? refuse('INVALID_ACCOUNT_STATE');
}

/**
 * Ends every lock of an account on the value date. Nothing is earned or charged for the time of the lock.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE; INVALID_DATE (in the future too);
 * ENTRY_DATE_BEFORE_OTHER_TRANSACTION; ACCOUNT_ALREADY_UNLOCKED.
 */
export function decideUnlock(loan: Loan, command: Unlock, context: DecisionContext): Decision {
  const fault = refusalOfLock(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const steps = loan.position.lockedOperations.map((operation) =>
    lockStep(command, types[operation].unlocked, (locked) => locked.filter((other) => other !== operation)),
  );
  return inSteps(loan, context, steps) ?? refuse('ACCOUNT_ALREADY_UNLOCKED');
}

type LockTransactionType = (typeof types)[LockedOperation]['locked' | 'unlocked'];

/** The transaction that changes which operations are locked. The interest of the day is earned before it. */
function lockStep(
  command: Lock | Unlock,
  type: LockTransactionType,
  change: (locked: readonly LockedOperation[]) => readonly LockedOperation[],
): Step {
  const valueDate = command.valueDate ?? dayOfCommand(command);
  return (loan, context) => {
    const changed = change(loan.position.lockedOperations);
    const moved = accrueTo(loan, loan.position, valueDate);
    const position: LoanPosition = {
      ...afterLock(loan, moved, type, valueDate),
      accountSubState: subStateOf(moved, changed),
      lockedOperations: lockedOperations.filter((operation) => changed.includes(operation)),
    };
    return post(loan, command, context, type, position, {
      amount: zero,
      valueDate,
      affected: noAmounts,
      taxes: noAmounts,
    });
  };
}

/** A terminated account stays one, locked or not. */
function subStateOf({ accountSubState }: LoanPosition, locked: readonly LockedOperation[]): AccountSubState | null {
  if (accountSubState === 'TERMINATED') return 'TERMINATED';
  return locked.length === 0 ? null : 'LOCKED';
}

/** Late rows have penalties for the days after this one, and none of the fees that the lock kept them from. */
function afterLock(loan: Loan, position: LoanPosition, type: LockTransactionType, date: LocalDate): LoanPosition {
  if (type !== 'PENALTY_UNLOCKED' && type !== 'FEE_UNLOCKED') return position;
  const installments = position.installments.map((row) => {
    if (row.dueDate >= date || rowDue(row).isZero()) return row;
    if (type === 'PENALTY_UNLOCKED') return { ...row, penaltyCalculatedTo: date };
    const isMissed = row.lateFeesDecidedOn === null && firstLateFeeDay(loan, row) <= date;
    return isMissed && lateFeesOf(loan.product).length > 0 ? { ...row, lateFeesDecidedOn: date } : row;
  });
  return { ...position, installments };
}

function refusalOfLock({ position }: Loan, command: Lock | Unlock): Refusal | null {
  if (!isActive(position) || position.asOf === null) return refusal('INVALID_ACCOUNT_STATE');
  const fault = refusalOfDays(command);
  if (fault !== null) return fault;
  const valueDate = command.valueDate ?? dayOfCommand(command);
  return valueDate < position.asOf ? refusal('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', 'valueDate') : null;
}
