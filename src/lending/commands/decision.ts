import type { CommandHeader, TransactionDetails } from '../commands.ts';
import type { LoanFact, PostedTransaction } from '../facts.ts';
import { type Loan, type LoanPosition, type PostedTransactions, dayOf } from '../loan.ts';
import { type LocalDate, rateAfter } from '../terms.ts';
import { type Refusal, type RefusalReason, refusal } from '../refusals.ts';
import type { LoanTransactionType } from '../transaction-types.ts';
import type { Toggles } from '../toggle-names.ts';

/** The inputs of a decision other than the loan and the command. */
export interface DecisionContext {
  /** The values in force when the command is decided. */
  readonly toggles: Toggles;
  /** A fresh key of 32 hex characters. The same command and purpose always give the same key. */
  readonly newKey: (purpose: string) => string;
  /** The transactions of the account that the command is about. */
  readonly transactions: PostedTransactions;
}

/** The result of a command: one fact, or the refusals of the rules it breaks. */
export type Decision = { readonly fact: LoanFact } | { readonly refusals: readonly Refusal[] };

/** A decision with this one refusal. */
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
      | 'installmentKey'
      | 'originalTransactionKey'
    >
  >;

/**
 * A transaction of a command: the fields of its own type, and those that all transactions have. Its terms are those in
 * force when it is posted: the rate, and the level payment of the position it leads to.
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
    installmentKey: null,
    originalTransactionKey: null,
    ...own,
    type,
    commandId: command.commandId,
    commandDigest: command.digest,
    createdAt: command.receivedAt,
    externalId: command.externalId ?? null,
    notes: command.notes ?? null,
    transactionDetails: command.transactionDetails ?? null,
    terms: {
      interestRate: rateAfter(position.rateSegments, own.valueDate),
      periodicPayment: position.periodicPayment,
    },
  };
}

/** The first and the last day used in computations: beyond them no schedule could be counted. */
const firstValueDate: LocalDate = '1900-01-01';
const lastValueDate: LocalDate = '2999-12-31';

/** Whether the date is from 1900-01-01 to 2999-12-31, both included. */
export function isUsableDate(date: LocalDate): boolean {
  return date >= firstValueDate && date <= lastValueDate;
}

/**
 * Checks the days of a transaction: neither may be after the day (UTC) on which the command entered the log. A
 * transaction dated ahead would block everything that happens until then. The result does not depend on when the
 * command is decided.
 * @param outside The refusal of a value date outside the years that are computed.
 * @param inFuture The refusal of a value date in the future.
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
