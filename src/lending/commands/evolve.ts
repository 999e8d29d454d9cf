import { figuresOf } from '../balances.ts';
import type { LoanFact, PostedTransaction, TransactionAdjusted } from '../facts.ts';
import { type Loan, type LoanPosition, type LoanTransaction, type PositionUndo, transactionId } from '../loan.ts';
import { undoOf, undone } from '../undo.ts';

/**
 * The loan after a fact.
 * @throws Error for a fact that no decision on this loan can have made: a bug, or a broken changelog.
 */
export function evolve(loan: Loan | null, fact: LoanFact): Loan {
  if (fact.type === 'LOAN_CREATED') return fact.loan;
  if (loan === null) throw new Error(`${fact.type} without a loan`);
  if (fact.type === 'STATE_CHANGED') return { ...loan, position: fact.position };
  if (fact.type === 'TRANSACTION_ADJUSTED') return reverseTransaction(loan, fact);
  return append(loan, fact.position, fact.transaction, undoOf(loan.position, fact.position));
}

function reverseTransaction(loan: Loan, { originalKey, transaction }: TransactionAdjusted): Loan {
  const original = loan.transactions.find(({ encodedKey }) => encodedKey === originalKey);
  if (original === undefined || original.undo === null) throw new Error(`nothing to undo in ${originalKey}`);
  const adjusted = { ...original, adjustmentTransactionKey: transaction.encodedKey, undo: null };
  const transactions = loan.transactions.map((candidate) => (candidate === original ? adjusted : candidate));
  return append({ ...loan, transactions }, undone(loan.position, original.undo), transaction, null);
}

function append(loan: Loan, position: LoanPosition, posted: PostedTransaction, undo: PositionUndo | null): Loan {
  const figures = figuresOf(loan, position);
  const transaction: LoanTransaction = {
    ...posted,
    id: transactionId(loan.id, loan.transactions.length + 1),
    principalBalanceAfter: figures.principal.balance,
    totalBalanceAfter: figures.total,
    adjustmentTransactionKey: null,
    undo,
  };
  return { ...loan, position, transactions: loan.transactions.concat(transaction) };
}
