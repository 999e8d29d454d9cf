import { withArrears } from '../business-days/arrears.ts';
import { withArrearsLockEnded } from '../business-days/arrears-locks.ts';
import { withPaidSince } from '../business-days/dormancy.ts';
import { withFuturePayment, withoutFuturePayment } from '../business-days/future-payments.ts';
import { figuresOf } from '../balances.ts';
import type { FuturePaymentTakenBack, LoanFact, PostedTransaction, TransactionAdjusted } from './facts.ts';
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
  if (fact.type === 'LOAN_CHANGED' || fact.type === 'PERSONAL_DATA_ERASED')
    return { loan: fact.loan, transactions: [] };
  // The caller removes it after its last event.
  if (fact.type === 'LOAN_DELETED') return { loan, transactions: [] };
  if (fact.type === 'STATE_CHANGED') {
    return { loan: { ...loan, position: withPaidSince(loan, fact.position) }, transactions: [] };
  }
  if (fact.type === 'TRANSACTION_ADJUSTED') return reverseTransaction(loan, fact);
  if (fact.type === 'FUTURE_PAYMENT_RECORDED') return recordPayment(loan, fact.transaction);
  if (fact.type === 'FUTURE_PAYMENT_TAKEN_BACK') return takeBackPayment(loan, fact);
  const { transaction } = fact;
  const position = withPaidSince(loan, withValueDate(fact.position, transaction.valueDate));
  const posted = numbered(
    loan,
    position,
    transaction,
    undoOf(loan.position, { ...loan, position }),
    loan.adjustableTransactionKey,
  );
  const { waited } = fact;
  if (waited === undefined) return { loan: after(loan, position, posted.encodedKey), transactions: [posted] };
  // It has had its number since it came.
  const left = { ...withoutFuturePayment(loan, waited.encodedKey), transactionCount: loan.transactionCount - 1 };
  return { loan: after(left, position, posted.encodedKey), transactions: [{ ...posted, id: waited.id }] };
}

function recordPayment(loan: Loan, asked: PostedTransaction): Evolved {
  const { encodedKey: transactionKey, valueDate, amount } = asked;
  const recorded: LoanTransaction = { ...numbered(loan, loan.position, asked, null, null), isWaiting: true };
  const waiting = withFuturePayment(loan, { transactionKey, valueDate, amount });
  return { loan: after(waiting, loan.position, loan.adjustableTransactionKey), transactions: [recorded] };
}

function takeBackPayment(loan: Loan, { original, transaction }: FuturePaymentTakenBack): Evolved {
  const posted = numbered(loan, loan.position, transaction, null, null);
  const { isWaiting: _, ...others } = original;
  const left = withoutFuturePayment(loan, original.encodedKey);
  return {
    loan: after(left, loan.position, loan.adjustableTransactionKey),
    transactions: [{ ...others, adjustmentTransactionKey: posted.encodedKey }, posted],
  };
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
