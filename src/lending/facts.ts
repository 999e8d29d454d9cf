import type { StateAction } from './commands.ts';
import type { Loan, LoanPosition, LoanTransaction } from './loan.ts';

/** What a decision found to be so. Evolving a loan by its facts gives its next state. */
export type LoanFact = LoanCreated | AccountStateChanged | TransactionPosted | TransactionAdjusted;

export interface LoanCreated {
  readonly type: 'LOAN_CREATED';
  readonly loan: Loan;
}

export interface AccountStateChanged {
  readonly type: 'STATE_CHANGED';
  readonly action: StateAction;
  readonly position: LoanPosition;
}

/** A transaction and the position it leads to. How to undo it follows from the position before. */
export interface TransactionPosted {
  readonly type: 'TRANSACTION_POSTED';
  readonly transaction: PostedTransaction;
  readonly position: LoanPosition;
}

/** Takes back `originalKey`: the position before it returns, exactly. */
export interface TransactionAdjusted {
  readonly type: 'TRANSACTION_ADJUSTED';
  readonly originalKey: string;
  readonly transaction: PostedTransaction;
}

export type PostedTransaction = Omit<
  LoanTransaction,
  'undo' | 'id' | 'principalBalanceAfter' | 'totalBalanceAfter' | 'adjustmentTransactionKey'
>;
