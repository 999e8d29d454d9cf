import type { ChangeState, StateAction } from '../commands.ts';
import { type Decision, refuse } from './decision.ts';
import { owesNothing } from './closing.ts';
import type { StateEventName } from './facts.ts';
import { dayOfCommand } from '../instants.ts';
import type { AccountState, AccountSubState, Loan, LoanPosition } from '../loan.ts';
import { dormancyPeriodDays } from '../products/product.ts';

interface Transition {
  readonly from: readonly AccountState[];
  readonly to: (position: LoanPosition, now: number) => Partial<LoanPosition>;
}

const reopened = ({ stateBeforeClosure }: LoanPosition): Partial<LoanPosition> => ({
  accountState: stateBeforeClosure ?? 'PENDING_APPROVAL',
  accountSubState: null,
  stateBeforeClosure: null,
  closedAt: null,
});

/** The states each action may start from, and the result. The other conditions are below. */
const transitions: Readonly<Record<StateAction, Transition>> = {
  REQUEST_APPROVAL: { from: ['PARTIAL_APPLICATION'], to: () => ({ accountState: 'PENDING_APPROVAL' }) },
  SET_INCOMPLETE: { from: ['PENDING_APPROVAL'], to: () => ({ accountState: 'PARTIAL_APPLICATION' }) },
  APPROVE: { from: ['PENDING_APPROVAL'], to: (_, now) => ({ accountState: 'APPROVED', approvedAt: now }) },
  UNDO_APPROVE: { from: ['APPROVED'], to: () => ({ accountState: 'PENDING_APPROVAL', approvedAt: null }) },
  REJECT: {
    from: ['PARTIAL_APPLICATION', 'PENDING_APPROVAL'],
    to: (position, now) => ({
      accountState: 'CLOSED',
      accountSubState: 'REJECTED',
      stateBeforeClosure: position.accountState,
      closedAt: now,
    }),
  },
  WITHDRAW: {
    from: ['PARTIAL_APPLICATION', 'PENDING_APPROVAL', 'APPROVED'],
    to: (position, now) => ({
      accountState: 'CLOSED',
      accountSubState: 'WITHDRAWN',
      stateBeforeClosure: position.accountState,
      closedAt: now,
    }),
  },
  CLOSE: {
    from: ['ACTIVE', 'ACTIVE_IN_ARREARS'],
    to: (position, now) => ({
      accountState: 'CLOSED',
      accountSubState: 'REPAID',
      stateBeforeClosure: position.accountState,
      closedAt: now,
    }),
  },
  UNDO_REJECT: { from: ['CLOSED'], to: reopened },
  UNDO_WITHDRAW: { from: ['CLOSED'], to: reopened },
  // A loan that its last repayment closed has no former state: it was active.
  UNDO_CLOSE: {
    from: ['CLOSED'],
    to: (position) => ({ ...reopened(position), accountState: position.stateBeforeClosure ?? 'ACTIVE' }),
  },
};

/** The event that tells of each action. */
const stateEventNames: Readonly<Record<StateAction, StateEventName>> = {
  REQUEST_APPROVAL: 'loan_approval_requested',
  SET_INCOMPLETE: 'loan_set_incomplete',
  APPROVE: 'loan_approved',
  UNDO_APPROVE: 'loan_approval_undone',
  REJECT: 'loan_rejected',
  UNDO_REJECT: 'loan_rejection_undone',
  WITHDRAW: 'loan_withdrawn',
  UNDO_WITHDRAW: 'loan_withdrawal_undone',
  CLOSE: 'loan_closed',
  UNDO_CLOSE: 'loan_reopened',
};

/** The sub-state that an action undoes. */
const undoneSubStates: Readonly<Partial<Record<StateAction, AccountSubState>>> = {
  UNDO_REJECT: 'REJECTED',
  UNDO_WITHDRAW: 'WITHDRAWN',
  UNDO_CLOSE: 'REPAID',
};

/**
 * Moves an account between its states before it is paid out, closes one that owes nothing, and opens a repaid one
 * again.
 *
 * Refused: INVALID_STATE_TRANSITION, when the action cannot start from the account's state; when an account that is to
 * be closed owes something or is locked; and when the undo of a replacement withdrew it, because another account then
 * owes again what it was to take over.
 */
export function decideStateChange(loan: Loan, command: ChangeState): Decision {
  const { position } = loan;
  const { action, receivedAt } = command;
  const { from, to } = transitions[action];
  const undoneSubState = undoneSubStates[action];
  const isFromSubState = undoneSubState === undefined || position.accountSubState === undoneSubState;
  if (!from.includes(position.accountState) || !isFromSubState || !isPossible(loan, action)) {
    return refuse('INVALID_STATE_TRANSITION', 'action');
  }
  const changed = { ...position, ...to(position, receivedAt) };
  // A person who opens an account again has its days once more.
  const isKept = action === 'UNDO_CLOSE' && dormancyPeriodDays(loan.product) > 0;
  return {
    fact: {
      type: 'STATE_CHANGED',
      eventName: stateEventNames[action],
      position: isKept ? { ...changed, paidSince: dayOfCommand(command) } : changed,
    },
  };
}

function isPossible(loan: Loan, action: StateAction): boolean {
  if (action === 'UNDO_WITHDRAW') return loan.originalAccount === undefined;
  return action !== 'CLOSE' || (loan.position.accountSubState === null && owesNothing(loan));
}
