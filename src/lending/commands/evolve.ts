import { figuresOf } from '../balances.ts';
import { loanWith } from '../with-changes.ts';
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
  if (fact.type === 'STATE_CHANGED') return loanWith(loan, { position: fact.position });
  if (fact.type === 'TRANSACTION_ADJUSTED') return reverseTransaction(loan, fact);
  return append(loan, fact.position, fact.transaction, undoOf(loan.position, fact.position));
}

function reverseTransaction(loan: Loan, { originalKey, transaction }: TransactionAdjusted): Loan {
  const original = loan.transactions.find(({ encodedKey }) => encodedKey === originalKey);
  if (original === undefined || original.undo === null) throw new Error(`nothing to undo in ${originalKey}`);
  const adjusted = { ...original, adjustmentTransactionKey: transaction.encodedKey, undo: null };
  const transactions = loan.transactions.map((candidate) => (candidate === original ? adjusted : candidate));
  return append(loanWith(loan, { transactions }), undone(loan.position, original.undo), transaction, null);
}

function append(loan: Loan, position: LoanPosition, posted: PostedTransaction, undo: PositionUndo | null): Loan {
  const figures = figuresOf(loan, position);
  // Field by field, in the order of the stored line: adding fields to a spread takes far longer, for the reason given
  // for events in derive-events.ts.
  const transaction: LoanTransaction = {
    encodedKey: posted.encodedKey,
    commandId: posted.commandId,
    commandDigest: posted.commandDigest,
    bookingDate: posted.bookingDate,
    fees: posted.fees,
    customPaymentAmounts: posted.customPaymentAmounts,
    prepaymentRecalculationMethod: posted.prepaymentRecalculationMethod,
    installmentNumber: posted.installmentNumber,
    originalTransactionKey: posted.originalTransactionKey,
    amount: posted.amount,
    valueDate: posted.valueDate,
    affected: posted.affected,
    taxes: posted.taxes,
    type: posted.type,
    createdAt: posted.createdAt,
    externalId: posted.externalId,
    notes: posted.notes,
    transactionDetails: posted.transactionDetails,
    terms: posted.terms,
    id: transactionId(loan.id, loan.transactions.length + 1),
    principalBalanceAfter: figures.principal.balance,
    totalBalanceAfter: figures.total,
    adjustmentTransactionKey: null,
    undo,
  };
  return loanWith(loan, { position, transactions: loan.transactions.concat(transaction) });
}
