import type { Loan, LoanPosition, LoanTransaction } from '../loan.ts';
import type { LocalDate } from '../terms.ts';

/** The result of a decision that refused nothing. Applying facts to a loan (`evolve`) gives its next state. */
export type LoanFact =
  | LoanCreated
  | AccountStateChanged
  | TransactionPosted
  | TransactionAdjusted
  | FuturePaymentRecorded
  | FuturePaymentTakenBack
  | BusinessDayStarted
  | LoanChanged
  | LoanDeleted
  | PersonalDataErased;

export interface LoanCreated {
  readonly type: 'LOAN_CREATED';
  readonly loan: Loan;
}

/** What the account says of itself changed; its money did not. */
export interface LoanChanged {
  readonly type: 'LOAN_CHANGED';
  readonly loan: Loan;
}

/** The account is gone. */
export interface LoanDeleted {
  readonly type: 'LOAN_DELETED';
}

/** What the account kept of persons is gone; its money did not change. */
export interface PersonalDataErased {
  readonly type: 'PERSONAL_DATA_ERASED';
  readonly loan: Loan;
}

/** How the event is named that tells of the next state of an account. */
export type StateEventName =
  | 'loan_created'
  | 'loan_deleted'
  | 'loan_approval_requested'
  | 'loan_set_incomplete'
  | 'loan_approved'
  | 'loan_approval_undone'
  | 'loan_rejected'
  | 'loan_rejection_undone'
  | 'loan_withdrawn'
  | 'loan_withdrawal_undone'
  | 'loan_activated'
  | 'loan_deactivated'
  | 'loan_closed'
  | 'loan_reopened'
  | 'loan_in_arrears'
  | 'loan_out_of_arrears'
  | 'loan_written_off'
  | 'loan_locked'
  | 'loan_unlocked'
  | 'loan_rescheduled'
  | 'loan_refinanced'
  | 'loan_terminated'
  | 'loan_termination_undone';

export interface AccountStateChanged {
  readonly type: 'STATE_CHANGED';
  /** The event that tells of it. */
  readonly eventName: StateEventName;
  readonly position: LoanPosition;
}

/** The account has reached the start of a business day. */
export interface BusinessDayStarted {
  readonly type: 'BUSINESS_DAY_STARTED';
  readonly businessDate: LocalDate;
}

/** A transaction and the position it leads to. How to undo it is computed from the position before it. */
export interface TransactionPosted {
  readonly type: 'TRANSACTION_POSTED';
  readonly transaction: PostedTransaction;
  readonly position: LoanPosition;
  /** The same transaction as it waited for its day; absent when it did not. */
  readonly waited?: LoanTransaction;
}

/** Takes back `original`: restores exactly the position before it. */
export interface TransactionAdjusted {
  readonly type: 'TRANSACTION_ADJUSTED';
  readonly original: LoanTransaction;
  readonly transaction: PostedTransaction;
  /** Whether it stays taken back: a penalty or fee for being late is then not charged again. */
  readonly isFinal?: boolean;
}

/** A repayment dated ahead waits for its day. Nothing that is owed or shown as owed changes. */
export interface FuturePaymentRecorded {
  readonly type: 'FUTURE_PAYMENT_RECORDED';
  readonly transaction: PostedTransaction;
}

/** `original` waits no longer, and was never posted. */
export interface FuturePaymentTakenBack {
  readonly type: 'FUTURE_PAYMENT_TAKEN_BACK';
  readonly original: LoanTransaction;
  readonly transaction: PostedTransaction;
}

export type PostedTransaction = Omit<
  LoanTransaction,
  | 'undo'
  | 'isWaiting'
  | 'previousAdjustableKey'
  | 'id'
  | 'principalBalanceAfter'
  | 'totalBalanceAfter'
  | 'advancePositionAfter'
  | 'arrearsPositionAfter'
  | 'adjustmentTransactionKey'
>;
