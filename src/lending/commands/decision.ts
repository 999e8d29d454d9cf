import type { CommandHeader, TransactionDetails } from '../commands.ts';
import type { LoanFact, PostedTransaction } from '../facts.ts';
import { type Loan, type LoanPosition, type LoanTransactionType, dayOf } from '../loan.ts';
import type { LocalDate } from '../terms.ts';
import { type Refusal, type RefusalReason, refusal } from '../refusals.ts';
import type { Toggles } from '../toggles.ts';

/** What a decision needs besides the loan and the command. */
export interface DecisionContext {
  /** As they are when the command is decided. */
  readonly toggles: Toggles;
  /** A fresh key of 32 hex characters; the same for the same command and purpose, whenever it is asked for. */
  readonly newKey: (purpose: string) => string;
}

/** What a command comes to: one fact, or the rules that say no. */
export type Decision = { readonly fact: LoanFact } | { readonly refusals: readonly Refusal[] };

export function refuse(errorReason: RefusalReason, errorSource: string | null = null): Decision {
  return { refusals: [refusal(errorReason, errorSource)] };
}

type OwnFields = Pick<PostedTransaction, 'amount' | 'valueDate' | 'affected' | 'taxes'> &
  Partial<
    Pick<
      PostedTransaction,
      | 'encodedKey'
      | 'bookingDate'
      | 'fees'
      | 'customPaymentAmounts'
      | 'prepaymentRecalculationMethod'
      | 'installmentNumber'
      | 'originalTransactionKey'
    >
  >;

/**
 * A transaction from its command: what is its own, and what all have. Its terms are those in force when it is posted:
 * the rate, and the level payment of the position it leads to.
 */
export function transactionOf(
  loan: Loan,
  command: CommandHeader & Pick<TransactionDetails, 'bookingDate' | 'externalId' | 'notes' | 'transactionDetails'>,
  { newKey }: Pick<DecisionContext, 'newKey'>,
  type: LoanTransactionType,
  own: OwnFields,
  position: LoanPosition = loan.position,
): PostedTransaction {
  return {
    encodedKey: newKey('transaction'),
    bookingDate: command.bookingDate ?? own.valueDate,
    fees: [],
    customPaymentAmounts: [],
    prepaymentRecalculationMethod: null,
    installmentNumber: null,
    originalTransactionKey: null,
    ...own,
    type,
    commandId: command.commandId,
    commandDigest: command.digest,
    createdAt: command.receivedAt,
    externalId: command.externalId ?? null,
    notes: command.notes ?? null,
    transactionDetails: command.transactionDetails ?? null,
    terms: { interestRate: loan.terms.interest.interestRate, periodicPayment: position.periodicPayment },
  };
}

/** The first and the last day that is computed with: beyond them no schedule could be counted. */
const firstValueDate: LocalDate = '1900-01-01';
const lastValueDate: LocalDate = '2999-12-31';

export function isUsableDate(date: LocalDate): boolean {
  return date >= firstValueDate && date <= lastValueDate;
}

/**
 * The days of a transaction: neither lies after the day (UTC) on which the command entered the log. What is dated ahead
 * would stand in the way of all that happens until then. A command is decided alike whenever it is decided.
 * @param outside What a value date is refused for that lies out of the years that are computed.
 * @param inFuture What it is refused for when it lies ahead.
 * @returns null when both days are right; INVALID_DATE for the booking date
 */
export function refusalOfDays(
  command: Pick<CommandHeader & TransactionDetails, 'receivedAt' | 'valueDate' | 'bookingDate'>,
  outside: RefusalReason = 'INVALID_DATE',
  inFuture: RefusalReason = outside,
): Refusal | null {
  const today = dayOf(command.receivedAt);
  const { valueDate = today, bookingDate = today } = command;
  if (!isUsableDate(valueDate)) return refusal(outside, 'valueDate');
  if (valueDate > today) return refusal(inFuture, 'valueDate');
  return isUsableDate(bookingDate) && bookingDate <= today ? null : refusal('INVALID_DATE', 'bookingDate');
}
