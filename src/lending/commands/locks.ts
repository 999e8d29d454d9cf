import { accrueTo } from '../accrual.ts';
import { arrearsOn } from '../business-days/arrears.ts';
import { hasArrearsLock, lockReasonOn } from '../business-days/arrears-locks.ts';
import { firstLateFeeDay, lateFeesOf } from '../business-days/late-fees.ts';
import { type Lock, type LockedOperation, type Unlock, lockedOperations } from '../commands.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { refusalOfDays } from './transaction-days.ts';
import { noAmounts } from '../ledger.ts';
import { type AccountSubState, type ArrearsLock, type Loan, type LoanPosition, isActive } from '../loan.ts';
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
 * operation that was not locked before. The lock of the end of a day is for arrears, and is decided again on its date.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE (also when all of it is locked already);
 * INVALID_DATE (in the future too); ENTRY_DATE_BEFORE_OTHER_TRANSACTION; INVALID_ACCOUNT_STATE (of the end of a day:
 * the arrears do not lock the account).
 */
export function decideLock(loan: Loan, command: Lock, context: DecisionContext): Decision {
  const fault = refusalOfLock(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const lock = command.isSystemPosted === true ? arrearsLockOn(loan, command, context) : null;
  if (command.isSystemPosted === true && lock === null) return refuse('INVALID_ACCOUNT_STATE');
  const asked = command.lockedOperations.length === 0 ? lockedOperations : command.lockedOperations;
  const added = asked.filter((operation) => !loan.position.lockedOperations.includes(operation));
  const steps = added.map((operation) =>
    lockStep(command, types[operation].locked, ({ lockedOperations: locked, arrearsLock }) => ({
      lockedOperations: [...locked, operation],
      lastLockedOn: command.valueDate ?? dayOfCommand(command),
      arrearsLock:
        lock === null ? arrearsLock : { ...lock, operations: [...(arrearsLock?.operations ?? []), operation] },
    })),
  );
  return inSteps(loan, context, steps) ?? refuse('INVALID_ACCOUNT_STATE');
}

/**
 * Ends locks of an account on the value date: every one by a person, and by the end of a day the one that it began.
 * Nothing is earned or charged for the time of the lock.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE; INVALID_DATE (in the future too);
 * ENTRY_DATE_BEFORE_OTHER_TRANSACTION; ACCOUNT_ALREADY_UNLOCKED; INVALID_ACCOUNT_STATE (of the end of a day: the
 * account is in arrears).
 */
export function decideUnlock(loan: Loan, command: Unlock, context: DecisionContext): Decision {
  const fault = refusalOfLock(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const { position } = loan;
  const isBySystem = command.isSystemPosted === true;
  const ended = isBySystem ? (position.arrearsLock?.operations ?? []) : position.lockedOperations;
  if (isBySystem && ended.length > 0) {
    const valueDate = command.valueDate ?? dayOfCommand(command);
    if (arrearsOn(loan, valueDate, context.calendar) !== null) return refuse('INVALID_ACCOUNT_STATE');
  }
  const steps = ended.map((operation) =>
    lockStep(command, types[operation].unlocked, ({ lockedOperations: locked, arrearsLock, arrearsSince }) => {
      const operations = arrearsLock?.operations.filter((other) => other !== operation) ?? [];
      // A person who ends it while the account is in arrears ends it for these arrears.
      const since = isBySystem ? null : arrearsSince;
      const isKept = arrearsLock !== null && (operations.length > 0 || since !== null);
      return {
        lockedOperations: locked.filter((other) => other !== operation),
        arrearsLock: isKept ? { ...arrearsLock, since: since ?? arrearsLock.since, operations } : null,
      };
    }),
  );
  return inSteps(loan, context, steps) ?? refuse('ACCOUNT_ALREADY_UNLOCKED');
}

/** The lock of arrears on its date; null when they do not lock the account. One that has begun goes on. */
function arrearsLockOn(
  loan: Loan,
  command: Lock,
  { calendar }: DecisionContext,
): Omit<ArrearsLock, 'operations'> | null {
  if (hasArrearsLock(loan)) return loan.position.arrearsLock;
  const valueDate = command.valueDate ?? dayOfCommand(command);
  const since = arrearsOn(loan, valueDate, calendar)?.since;
  const reason = lockReasonOn(loan, valueDate, calendar);
  return reason === null || since === undefined ? null : { reason, since };
}

type LockTransactionType = (typeof types)[LockedOperation]['locked' | 'unlocked'];
type Locks = Pick<LoanPosition, 'lockedOperations' | 'arrearsLock' | 'lastLockedOn'>;

/** The transaction that changes which operations are locked. The interest of the day is earned before it. */
function lockStep(command: Lock | Unlock, type: LockTransactionType, change: (position: LoanPosition) => Locks): Step {
  const valueDate = command.valueDate ?? dayOfCommand(command);
  return (loan, context) => {
    const changed = change(loan.position);
    const moved = accrueTo(loan, loan.position, valueDate);
    const position: LoanPosition = {
      ...afterLock(loan, moved, type, valueDate),
      ...changed,
      accountSubState: subStateOf(moved, changed),
      lockedOperations: lockedOperations.filter((operation) => changed.lockedOperations.includes(operation)),
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
function subStateOf(
  { accountSubState }: LoanPosition,
  { lockedOperations: locked, arrearsLock }: Locks,
): AccountSubState | null {
  if (accountSubState === 'TERMINATED') return 'TERMINATED';
  if (locked.length === 0) return null;
  const isCapped = arrearsLock?.reason === 'CAPPING' && arrearsLock.operations.length > 0;
  return isCapped ? 'LOCKED_CAPPING' : 'LOCKED';
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
