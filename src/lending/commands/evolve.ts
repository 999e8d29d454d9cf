import { withArrears } from '../business-days/arrears.ts';
import { figuresOf } from '../balances.ts';
import type { LoanFact, PostedTransaction, TransactionAdjusted } from './facts.ts';
import type { Loan, LoanPosition, LoanTransaction, PositionUndo } from '../loan.ts';
import { laterDate } from '../ledger.ts';
import { transactionId } from '../identifiers.ts';
import type { LocalDate } from '../terms.ts';
import { undoOf, undone } from './undo.ts';

/** The account after a fact, and the transactions that are new or changed. The last one was posted by the fact. */
export interface Evolved {
  readonly loan: Loan;
  readonly transactions: readonly LoanTransaction[];
}

/**
 * The loan after a fact.
 * @throws Error for a fact that no decision on this loan can have made: a bug, or a broken changelog.
 */
export function evolve(loan: Loan | null, fact: LoanFact): Evolved {
  const { loan: evolved, transactions } = applied(loan, fact);
  return { loan: withArrears(evolved), transactions };
}

function applied(loan: Loan | null, fact: LoanFact): Evolved {
  if (fact.type === 'LOAN_CREATED') return { loan: fact.loan, transactions: [] };
  if (loan === null) throw new Error(`${fact.type} without a loan`);
  if (fact.type === 'BUSINESS_DAY_STARTED') {
    return { loan: { ...loan, businessDate: fact.businessDate }, transactions: [] };
  }
  if (fact.type === 'LOAN_CHANGED') return { loan: fact.loan, transactions: [] };
  // The caller removes it after its last event.
  if (fact.type === 'LOAN_DELETED') return { loan, transactions: [] };
  if (fact.type === 'STATE_CHANGED') return { loan: { ...loan, position: fact.position }, transactions: [] };
  if (fact.type === 'TRANSACTION_ADJUSTED') return reverseTransaction(loan, fact);
  const { transaction } = fact;
  const position = withValueDate(fact.position, transaction.valueDate);
  const posted = numbered(
    loan,
    position,
    transaction,
    undoOf(loan.position, { ...loan, position }),
    loan.adjustableTransactionKey,
  );
  return { loan: after(loan, position, posted.encodedKey), transactions: [posted] };
}

/** The same position when the command has noted the value date itself. */
function withValueDate(position: LoanPosition, valueDate: LocalDate): LoanPosition {
  const lastValueDate = laterDate(position.lastValueDate, valueDate);
  return lastValueDate === position.lastValueDate ? position : { ...position, lastValueDate };
}

function reverseTransaction(loan: Loan, { original, transaction }: TransactionAdjusted): Evolved {
  if (original.undo === null) throw new Error(`nothing to undo in ${original.encodedKey}`);
  const position = undone(loan.position, original.undo);
  const posted = numbered(loan, position, transaction, null, null);
  const adjusted = {
    ...original,
    adjustmentTransactionKey: posted.encodedKey,
    undo: null,
    previousAdjustableKey: null,
  };
  return { loan: after(loan, position, original.previousAdjustableKey), transactions: [adjusted, posted] };
}

function after(loan: Loan, position: LoanPosition, adjustableTransactionKey: string | null): Loan {
  return { ...loan, position, transactionCount: loan.transactionCount + 1, adjustableTransactionKey };
}

function numbered(
  loan: Loan,
  position: LoanPosition,
  posted: PostedTransaction,
  undo: PositionUndo | null,
  previousAdjustableKey: string | null,
): LoanTransaction {
  const figures = figuresOf(loan, position);
  return {
    ...posted,
    id: transactionId(loan.id, loan.transactionCount + 1),
    principalBalanceAfter: figures.principal.balance,
    totalBalanceAfter: figures.total,
    adjustmentTransactionKey: null,
    undo,
    previousAdjustableKey,
  };
}
