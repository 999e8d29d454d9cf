import { withArrears } from '../business-days/arrears.ts';
import { withArrearsLockEnded } from '../business-days/arrears-locks.ts';
import { withPaidSince } from '../business-days/dormancy.ts';
import { figuresOf } from '../balances.ts';
import type { LoanFact, PostedTransaction, TransactionAdjusted } from './facts.ts';
import type { Loan, LoanPosition, LoanTransaction, PositionUndo } from '../loan.ts';
import { findInstallment } from '../installments.ts';
import type { WorkingCalendar } from '../organization.ts';
import { laterDate } from '../ledger.ts';
import type { Decimal } from '../money.ts';
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
 * @param calendar The days on which the institution is closed, as they are known now.
 * @throws Error for a fact that no decision on this loan can have made: a bug, or a broken changelog.
 */
export function evolve(loan: Loan | null, fact: LoanFact, calendar: WorkingCalendar): Evolved {
  const { loan: evolved, transactions } = applied(loan, fact);
  return { loan: withArrears(evolved, calendar), transactions };
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
  if (fact.type === 'STATE_CHANGED') {
    return { loan: { ...loan, position: withPaidSince(loan, fact.position) }, transactions: [] };
  }
  if (fact.type === 'TRANSACTION_ADJUSTED') return reverseTransaction(loan, fact);
  const { transaction } = fact;
  const position = withPaidSince(loan, withValueDate(fact.position, transaction.valueDate));
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

function reverseTransaction(loan: Loan, { original, transaction, isFinal }: TransactionAdjusted): Evolved {
  if (original.undo === null) throw new Error(`nothing to undo in ${original.encodedKey}`);
  const restored = undone(loan.position, original.undo);
  const own =
    isFinal === true
      ? withArrearsLockEnded(loan.position, withLatenessOf(loan.position, restored, original))
      : restored;
  const position = withPaidSince(loan, own);
  const posted = numbered(loan, position, transaction, null, null);
  const adjusted = {
    ...original,
    adjustmentTransactionKey: posted.encodedKey,
    undo: null,
    previousAdjustableKey: null,
  };
  return { loan: after(loan, position, original.previousAdjustableKey), transactions: [adjusted, posted] };
}

/** The position in which the row of a transaction keeps what says that it was charged for being late. */
function withLatenessOf(
  before: LoanPosition,
  restored: LoanPosition,
  { installmentKey }: LoanTransaction,
): LoanPosition {
  const row = installmentKey === null ? undefined : findInstallment(before.installments, installmentKey);
  if (row === undefined) return restored;
  const { key, penaltyCalculatedTo, lateFeesDecidedOn } = row;
  const installments = restored.installments.map((own) =>
    own.key === key ? { ...own, penaltyCalculatedTo, lateFeesDecidedOn } : own,
  );
  return { ...restored, installments };
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
    advancePositionAfter: nullIfZero(figures.advance),
    arrearsPositionAfter: nullIfZero(figures.arrears),
    adjustmentTransactionKey: null,
    undo,
    previousAdjustableKey,
  };
}

function nullIfZero(amount: Decimal): Decimal | null {
  return amount.isZero() ? null : amount;
}
